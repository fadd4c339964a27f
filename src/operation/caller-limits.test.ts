import { expect, test } from 'vitest';
import type { Caller } from '../access/caller.ts';
import { localUser } from '../access/caller.ts';
import { CallerLimits } from './caller-limits.ts';

const caller = (user: string): Caller => ({ name: user, user: { user, groups: [] }, validUntil: null });
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
