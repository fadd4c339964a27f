import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import { MemorySaver, saveMemory } from './memory-saver.ts';

const mebibyte = 2 ** 20;

/** For each size in megabytes, whether the mode is on. */
function looks(sizes: readonly number[]): readonly boolean[] {
  const saver = new MemorySaver();
  return sizes.map((size) => saver.look(size * mebibyte));
}

test('saves memory while the process is much larger than usual, and no longer', () => {
  expect(looks([400, 430, 450, 700, 425, 415])).toEqual([false, false, true, true, true, false]);
});

test('learns the usual size from the smallest one', () => {
  expect(looks([400, 300, 330, 350])).toEqual([false, false, false, true]);
});

test('takes a size that stays for the usual one', () => {
  const grown = looks([400, ...Array.from({ length: 200 }, () => 450)]);
  expect(grown.indexOf(true)).toBe(1);
  expect(grown.lastIndexOf(true)).toBe(33);
});

test('saves memory during the first sync, and leaves the key of the compile cache as it was', async () => {
  // V8's tag of its compiled code depends on its flags. As in src/portolan.js, the mode was on before.
  for (const mode of ['--memory-saver-mode', '--no-memory-saver-mode']) setFlagsFromString(mode);
  const before = cachedDataVersionTag();
  const stop = new AbortController();
  const synced = Promise.withResolvers<void>();
  const tags: boolean[] = [];
  const clock = {
    async sleep(): Promise<void> {
      tags.push(cachedDataVersionTag() === before);
      if (tags.length === 3) synced.resolve();
      if (tags.length === 6) stop.abort();
      await Promise.resolve();
    },
  };
  await saveMemory(clock, stop.signal, silentLogger, synced.promise);
  expect(tags.slice(0, 3)).toEqual([true, false, false]);
  expect(tags.slice(4)).toEqual([true, true]);
  expect(cachedDataVersionTag()).toBe(before);
});
