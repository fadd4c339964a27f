import { expect, test } from 'vitest';
import { callerOf } from '../../test/kit/user.ts';
import { auditLines, type Denial } from './audit.ts';

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
  auditLines(
    (line) => lines.push(line),
    () => Date.UTC(2026, 0, 31, 12),
  ).denied(denial);
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

test('a flood of denials is counted', () => {
  const lines: string[] = [];
  let now = 1000;
  const audit = auditLines(
    (line) => lines.push(line),
    () => now,
  );
  for (let turn = 0; turn < 250; turn += 1) audit.denied({ ...denial, caller: null });
  expect(lines).toHaveLength(100);
  now = 2000;
  audit.denied(denial);
  expect(JSON.parse(lines[100] ?? '')).toMatchObject({ event: 'left out', denials: 150 });
  expect(JSON.parse(lines[101] ?? '')).toMatchObject({ event: 'denied', user: 'jane' });
});
