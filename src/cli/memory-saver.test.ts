import { expect, test } from 'vitest';
import { MemorySaver } from './memory-saver.ts';

const mebibyte = 2 ** 20;

/** For each size in megabytes, whether the mode is on. */
function looks(sizes: readonly number[]): readonly boolean[] {
  const saver = new MemorySaver();
  return sizes.map((size) => saver.look(size * mebibyte));
}

test('saves memory while the process is much larger than usual, and no longer', () => {
  expect(looks([400, 490, 520, 700, 480, 400])).toEqual([false, false, true, true, false, false]);
});

test('learns the usual size from the smallest one', () => {
  expect(looks([400, 300, 399, 410])).toEqual([false, false, true, true]);
});

test('takes a size that stays for the usual one', () => {
  const grown = looks([400, ...Array.from({ length: 200 }, () => 550)]);
  expect(grown.indexOf(true)).toBe(1);
  expect(grown.lastIndexOf(true)).toBe(53);
});
