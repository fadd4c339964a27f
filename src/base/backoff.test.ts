import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';

function clockAt(time: { ms: number }): Clock {
  return { now: () => time.ms, monotonic: () => time.ms, sleep: () => Promise.resolve() };
}

test('R13: the bound doubles from 0.8 s to 30 s', () => {
  const backoff = new Backoff(clockAt({ ms: 0 }), () => 1);
  expect(Array.from({ length: 8 }, () => backoff.next())).toEqual([
    800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000,
  ]);
});

test('R13: full jitter, so no two sequences are alike', () => {
  let seed = 0.1;
  const random = (): number => {
    seed = (seed * 7.13) % 1;
    return seed;
  };
  const [a, b] = [new Backoff(clockAt({ ms: 0 }), random), new Backoff(clockAt({ ms: 0 }), random)];
  const [first, second] = [a, b].map((each) => Array.from({ length: 6 }, () => each.next()));
  expect(first).not.toEqual(second);
  expect(new Backoff(clockAt({ ms: 0 }), () => 0).next()).toBe(0);
});

test('two healthy minutes start it over, a wait of its own does not count', () => {
  const time = { ms: 0 };
  const backoff = new Backoff(clockAt(time), () => 1);
  for (let failures = 0; failures < 9; failures += 1) time.ms += backoff.next() + 100;
  time.ms += 119_000;
  expect(backoff.next()).toBe(30_000);
  time.ms += 30_000 + 120_000;
  expect(backoff.next()).toBe(800);
});

test('F23: Retry-After is the least that is waited, with a spread behind it', () => {
  const at = (random: number): number => new Backoff(clockAt({ ms: 0 }), () => random).next(5);
  expect(at(0)).toBe(5000);
  expect(at(0.5)).toBe(5500);
  const late = new Backoff(clockAt({ ms: 0 }), () => 1);
  for (let failures = 0; failures < 6; failures += 1) late.next();
  expect(late.next(1)).toBe(30_000);
});
