import { expect, test } from 'vitest';
import { fairShares } from './shared-bound.ts';

test('what is small keeps all, what is large shares the rest', () => {
  expect(fairShares([5, 100, 20], 1000)).toEqual([5, 100, 20]);
  expect(fairShares([5, 100, 200], 65)).toEqual([5, 30, 30]);
  expect(fairShares([100, 5, 200], 66)).toEqual([30, 5, 31]);
  expect(fairShares([10], 3)).toEqual([3]);
  expect(fairShares([], 3)).toEqual([]);
});
