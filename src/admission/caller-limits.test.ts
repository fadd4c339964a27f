import { expect, test } from 'vitest';
import { callerOf } from '../../test/kit/user.ts';
import { localUser } from '../access/caller.ts';
import { CallerLimits } from './caller-limits.ts';

const caller = callerOf;
const bounds = { requests: 2, costPerMinute: 100, subscriptions: 1, connections: 1 };
const tooMany = expect.objectContaining({ code: 'TOO_MANY_REQUESTS' });

function limits() {
  const clock = { now: 0 };
  return { clock, limits: new CallerLimits(bounds, () => clock.now) };
}

test('a caller has at most so many of each at a time, whatever others have', () => {
  const { limits: of } = limits();
  const first = of.enter(caller('alice'), 'requests');
  of.enter(caller('alice'), 'requests');
  expect(() => of.enter(caller('alice'), 'requests')).toThrow(tooMany);
  of.enter(caller('bob'), 'requests');
  of.enter(caller('alice'), 'subscriptions');
  first();
  first();
  of.enter(caller('alice'), 'requests');
  expect(() => of.enter(caller('alice'), 'requests')).toThrow(tooMany);
});

test('the values that a caller asks for are counted by the minute', () => {
  const { clock, limits: of } = limits();
  of.charge(caller('alice'), 60);
  expect(() => of.charge(caller('alice'), 60)).toThrow(/in 60 s/);
  of.charge(caller('alice'), 40);
  of.charge(caller('bob'), 100);
  clock.now = 60_000;
  of.charge(caller('alice'), 60);
});

test('one query alone is never refused for the minute', () => {
  const { limits: of } = limits();
  of.charge(caller('alice'), 500);
  expect(() => of.charge(caller('alice'), 1)).toThrow(tooMany);
});

test('callers without anything in flight are forgotten after a minute', () => {
  const { clock, limits: of } = limits();
  const leave = of.enter(caller('alice'), 'connections');
  of.charge(caller('bob'), 1);
  clock.now = 120_000;
  of.charge(caller('carol'), 1);
  expect(of.size).toBe(2);
  leave();
  clock.now = 240_000;
  of.charge(caller('carol'), 1);
  expect(of.size).toBe(1);
});

test('a gateway without authentication does not limit its one caller', () => {
  const { limits: of } = limits();
  for (let turn = 0; turn < 10; turn += 1) of.enter(localUser, 'requests');
  of.charge(localUser, 1_000_000);
  of.charge(localUser, 1_000_000);
});

test('a restricted caller has bounds of its own, and all of one name together have a bound', () => {
  const { limits: of } = limits();
  const restricted = (scope: string) => callerOf('alice', [], { extra: { 'example.com/scopes': [scope] } });
  of.enter(restricted('a'), 'subscriptions');
  expect(() => of.enter(restricted('a'), 'subscriptions')).toThrow(tooMany);
  const leave = of.enter(restricted('b'), 'subscriptions');
  of.enter(restricted('c'), 'subscriptions');
  of.enter(restricted('d'), 'subscriptions');
  expect(() => of.enter(restricted('e'), 'subscriptions')).toThrow(tooMany);
  leave();
  of.enter(restricted('e'), 'subscriptions');
  of.enter(caller('alice'), 'subscriptions');
});

test('other tokens of a user count as the same caller', () => {
  const { limits: of } = limits();
  const withToken = (id: string) =>
    callerOf('robot', [], { extra: { 'authentication.kubernetes.io/credential-id': [id] } });
  of.enter(withToken('1'), 'subscriptions');
  expect(() => of.enter(withToken('2'), 'subscriptions')).toThrow(tooMany);
});
