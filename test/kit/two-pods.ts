/**
 * A reflector of two Pods, and its expected requests.
 * Random is always 0.5, so the first delays of a backoff are 400, 800 and 1600 ms, and a watch requests a timeout of 450 s.
 */
import { expect } from 'vitest';
import { settle } from './manual-clock.ts';
import { listText, open, type ReflectorBench, whole } from './reflector-bench.ts';

export const [a, b] = [
  { name: 'a', rv: 1 },
  { name: 'b', rv: 2 },
];

/** A reflector that has listed `a` and `b` at version 10 and watches. */
export async function watching(bench: ReflectorBench, more: Parameters<ReflectorBench['reflector']>[0] = {}) {
  bench.client.answer(whole(listText(10, [a, b])), open());
  const reflector = bench.reflector(more);
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, error: null });
  expect(bench.client.asked).toHaveLength(2);
  return reflector;
}

export const asWatch = (resourceVersion: string) => ({ query: { watch: true, resourceVersion } });
export const asRelist = (resourceVersion: string) => ({
  query: { limit: 500, resourceVersion, resourceVersionMatch: 'NotOlderThan' },
});

/** A list of one object that must not be older: it tests whether the server has reached this version. */
export const asDoubt = (resourceVersion: string) => ({
  query: { limit: 1, resourceVersion, resourceVersionMatch: 'NotOlderThan' },
});
