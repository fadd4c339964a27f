import { expect, test } from 'vitest';
import { processCount } from './process-count.ts';

test('auto is one less than there are processors, at least one and at most what the option takes', () => {
  const plenty = 256 * 2 ** 30;
  expect([1, 2, 3, 8, 65, 128].map((processors) => processCount('auto', processors, plenty))).toEqual([
    1, 1, 2, 7, 64, 64,
  ]);
  expect(processCount(5, 2, plenty)).toBe(5);
});

test('auto takes no more processes than the memory suffices for; a number is taken as it is', () => {
  const mebibytes = [256, 1024, 1323, 1324, 2048, 4096];
  expect(mebibytes.map((each) => processCount('auto', 64, each * 2 ** 20))).toEqual([1, 1, 1, 2, 4, 11]);
  expect(processCount(5, 64, 2 ** 20)).toBe(5);
});
