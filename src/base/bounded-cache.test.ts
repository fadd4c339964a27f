import { expect, test } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

test('forgets what was not asked for the longest', () => {
  const cache = new BoundedCache<number>({ entries: 2, weight: 100 });
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 1);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
});

test('is bounded by weight too, also where an entry gets another', () => {
  const cache = new BoundedCache<number>({ entries: 10, weight: 10 });
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);
  cache.set('a', 3, 6);
  expect([cache.get('a'), cache.get('b')]).toEqual([3, 2]);
  cache.set('c', 4, 5);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 2, 4]);
  cache.set('d', 5, 11);
  expect([cache.get('d'), cache.size]).toEqual([undefined, 2]);
  cache.clear();
  cache.set('e', 6, 10);
  expect(cache.get('e')).toBe(6);
});
