import { expect, test } from 'vitest';
import { callerOf } from '../../test/kit/user.ts';
import { auditLines, type Denial, writeLine } from './audit.ts';

const denial: Denial = {
  caller: callerOf('jane', ['devs']),
  code: 'FORBIDDEN',
  message: 'You may not list secrets.',
  address: '127.0.0.1',
  operation: 'Overview',
  path: ['secrets', 0, 'nodes'],
  resources: ['secrets'],
};

test('a denial is one line of JSON', () => {
  const lines: string[] = [];
  auditLines({
    write: (line) => lines.push(line),
    now: () => Date.UTC(2026, 0, 31, 12),
    later: () => expect.unreachable('nothing is left out'),
  }).denied(denial);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: '2026-01-31T12:00:00.000Z',
    event: 'denied',
    code: 'FORBIDDEN',
    user: 'jane',
    groups: ['devs'],
    address: '127.0.0.1',
    operation: 'Overview',
    path: 'secrets.0.nodes',
    resources: ['secrets'],
    message: 'You may not list secrets.',
  });
});

test('the line of a write has the caller whole, and no value', () => {
  const extra = { 'example.com/scopes': ['write'] };
  const line = writeLine(
    {
      ...{ stage: 'outcome', caller: callerOf('jane', ['devs'], { uid: '42', extra }), operation: 'Restart' },
      ...{ verb: 'patch', dryRun: false, planId: 'p'.repeat(400), requestId: 'r-1' },
      ...{ cluster: 'east', resource: 'deployments.apps', namespace: 'shop', name: 'web', subresource: 'scale' },
      ...{ outcome: 'Conflict', changedPaths: Array.from({ length: 120 }, (_, index) => `spec.a${index}`) },
    },
    Date.UTC(2026, 0, 31, 12),
  );
  expect(line).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(line)).toEqual({
    ...{ time: '2026-01-31T12:00:00.000Z', event: 'write', stage: 'outcome' },
    ...{ user: 'jane', groups: ['devs'], uid: '42', extra, operation: 'Restart', verb: 'patch', dryRun: false },
    ...{ planId: `${'p'.repeat(300)}…`, requestId: 'r-1', cluster: 'east', resource: 'deployments.apps' },
    ...{ namespace: 'shop', name: 'web', subresource: 'scale', outcome: 'Conflict' },
    ...{ changedPaths: Array.from({ length: 100 }, (_, index) => `spec.a${index}`), morePaths: 20 },
  });
});

/** An audit with a clock of the test, and its lines. */
function world() {
  const lines: Record<string, unknown>[] = [];
  const state = { now: 1000 };
  const waiting: (() => void)[] = [];
  const audit = auditLines({
    write: (line) => lines.push(JSON.parse(line)),
    now: () => state.now,
    later: (_ms, callback) => waiting.push(callback),
  });
  const pass = (ms: number): void => {
    state.now += ms;
    for (const callback of waiting.splice(0)) callback();
  };
  const denied = (more: Partial<Denial>, times = 1): void => {
    for (let turn = 0; turn < times; turn += 1) audit.denied({ ...denial, ...more });
  };
  const count = (event: string, user: string | null): number =>
    lines.filter((line) => line['event'] === event && line['user'] === user).length;
  return { lines, denied, pass, count };
}

test('a flood of unknown callers takes no line from a user', () => {
  const { lines, denied, pass, count } = world();
  for (let turn = 0; turn < 20; turn += 1) {
    denied({ caller: null, code: 'UNAUTHENTICATED', address: `10.0.${turn}.1` }, 1000);
    denied({ operation: `Named${turn}` });
  }
  expect(count('denied', 'jane')).toBe(20);
  expect(count('denied', null)).toBe(100);
  pass(1000);
  expect(lines.at(-1)).toEqual({
    time: '1970-01-01T00:00:02.000Z',
    event: 'left out',
    since: '1970-01-01T00:00:01.000Z',
    code: 'UNAUTHENTICATED',
    user: null,
    denials: 19_900,
  });
});

test('one address leaves lines for others, and one user for others', () => {
  const { denied, count, lines } = world();
  denied({ caller: null }, 500);
  denied({ caller: null, address: '10.0.0.9' });
  denied({}, 500);
  denied({ caller: callerOf('olga') });
  expect(lines.filter((line) => line['address'] === '10.0.0.9')).toHaveLength(1);
  expect([count('denied', 'jane'), count('denied', 'olga'), count('denied', null)]).toEqual([100, 1, 21]);
});

test.each([
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::9', 20],
  ['2001:db8::1', '2001:db8:0:0:5::', 20],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', 21],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2', 21],
])('%s and %s have %d lines', (one, other, expected) => {
  const { denied, count } = world();
  denied({ caller: null, address: one }, 20);
  denied({ caller: null, address: other });
  expect(count('denied', null)).toBe(expected);
});

test('what is left out is told by code and user, with a bound, and then lines go on', () => {
  const { lines, denied, pass } = world();
  for (let user = 0; user < 5000; user += 1) denied({ caller: callerOf(`user-${user}`) });
  denied({}, 3);
  // Users that are counted apart stay so, and unknown callers are not taken for users.
  denied({ caller: callerOf('user-1500') }, 50);
  denied({ caller: null }, 70);
  pass(1000);
  const left = lines.filter((line) => line['event'] === 'left out');
  expect(left).toHaveLength(1002);
  expect(left.reduce((sum, line) => sum + Number(line['denials']), 0)).toBe(4000 + 3 + 50 + 50);
  expect(left.find(({ user }) => user === 'user-1500')).toMatchObject({ denials: 51 });
  expect(left.slice(-2)).toMatchObject([
    { code: 'FORBIDDEN', user: null, users: 'others', denials: 3003 },
    { code: 'FORBIDDEN', user: null, denials: 50 },
  ]);
  expect(left.at(-1)).not.toHaveProperty('users');
  denied({});
  expect(lines.at(-1)).toMatchObject({ event: 'denied', user: 'jane' });
});

test('what a request chose does not make a line long', () => {
  const { lines, denied } = world();
  const long = 'x'.repeat(900_000);
  denied({
    operation: long,
    path: [long, long],
    message: `You may not list ${long}.`,
    resources: Array(5000).fill(long),
  });
  expect(JSON.stringify(lines).length).toBeLessThan(20_000);
  expect(lines).toMatchObject([{ operation: `${long.slice(0, 300)}…` }]);
});

test('a line has the extra of a restricted caller', () => {
  const { lines, denied } = world();
  denied({ caller: callerOf('jane', [], { extra: { 'example.com/scopes': ['read'] } }) });
  expect(lines).toMatchObject([{ user: 'jane', extra: { 'example.com/scopes': ['read'] } }]);
});
