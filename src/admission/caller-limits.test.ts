import { expect, test } from 'vitest';
import { callerOf } from '../../test/kit/user.ts';
import { localUser } from '../access/caller.ts';
import { CallerLimits } from './caller-limits.ts';

const caller = callerOf;
const bounds = { requests: 2, costPerMinute: 100, subscriptions: 1, connections: 1, logs: 200, logBytes: 1000 };
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

test('the objects that a caller writes are counted by the minute, and none more than the bound at once', () => {
  const { clock, limits: of } = limits();
  of.chargeWrites(caller('alice'), 6, 10);
  expect(() => of.chargeWrites(caller('alice'), 5, 10)).toThrow(/in 60 s/);
  of.chargeWrites(caller('alice'), 4, 10);
  expect(() => of.chargeWrites(caller('bob'), 11, 10)).toThrow(tooMany);
  of.chargeWrites(localUser, 1000, 10);
  clock.now = 60_000;
  of.chargeWrites(caller('alice'), 10, 10);
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

test('what the subscriptions of logs hold counts for their caller, and for all', () => {
  const { limits: of } = limits();
  const [first, second] = [of.holdLogs(caller('alice')), of.holdLogs(caller('alice'))];
  first.add(600);
  expect([first.isFull, second.isFull]).toEqual([false, false]);
  second.add(400);
  expect([first.isFull, second.isFull]).toEqual([true, true]);
  expect(() => of.holdLogs(caller('alice')).requireRoom()).toThrow(
    expect.objectContaining({ code: 'TOO_MANY_REQUESTS', message: expect.stringContaining('end some of them') }),
  );
  of.holdLogs(caller('bob')).requireRoom();
  second.add(-1);
  first.requireRoom();
  of.holdLogs(localUser).add(2001);
  expect(() => of.holdLogs(localUser).requireRoom()).toThrow(/of all callers hold 3000 bytes/);
  expect(() => second.requireRoom()).toThrow(/of all callers hold 3000 bytes/);
  first.release();
  first.release();
  first.add(5000);
  of.holdLogs(localUser).requireRoom();
  second.requireRoom();
});

test('while all callers together hold the most, one who holds little goes on', () => {
  const { limits: of } = limits();
  for (const user of ['alice', 'carol', 'dave']) of.holdLogs(caller(user)).add(1000);
  const held = of.holdLogs(caller('bob'));
  held.requireRoom();
  held.add(124);
  expect(held.isFull).toBe(false);
  held.add(1);
  expect(held.isFull).toBe(true);
  expect(() => of.holdLogs(caller('bob')).requireRoom()).toThrow(/of all callers hold 3125 bytes/);
});

test('all callers of one name together hold at most half of the logs of all', () => {
  const { limits: of } = limits();
  const restricted = ['a', 'b', 'c', 'd'].map((scope) =>
    callerOf('alice', [], { extra: { 'example.com/scopes': [scope] } }),
  );
  for (const each of [caller('alice'), ...restricted]) {
    const held = of.holdLogs(each);
    for (let part = 0; part < 10 && !held.isFull; part += 1) held.add(100);
  }
  const other = callerOf('alice', [], { extra: { 'example.com/scopes': ['e'] } });
  expect(() => of.holdLogs(other).requireRoom()).toThrow(/hold 1500 bytes that wait for you/);
  const held = of.holdLogs(caller('bob'));
  held.add(999);
  held.requireRoom();
});

test('a caller who holds logs is not forgotten', () => {
  const { clock, limits: of } = limits();
  const held = of.holdLogs(caller('alice'));
  held.add(1000);
  clock.now = 120_000;
  of.charge(caller('bob'), 1);
  clock.now = 240_000;
  of.charge(caller('bob'), 1);
  expect(() => of.holdLogs(caller('alice')).requireRoom()).toThrow(tooMany);
});
