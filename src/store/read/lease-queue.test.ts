import { expect, test } from 'vitest';
import { LeaseQueue } from './lease-queue.ts';
import type { ReaderThread } from './reader-thread.ts';

test('waiting clients take turns', async () => {
  let free = 0;
  const thread = {} as ReaderThread;
  const queue = new LeaseQueue({
    waitMs: 10_000,
    grantable: () => {
      if (free === 0) return null;
      free -= 1;
      return thread;
    },
    isThreadFree: () => false,
  });
  const served: string[] = [];
  const want = (name: string): Promise<void> =>
    queue.wait(undefined, name.slice(0, 1)).then(() => {
      served.push(name);
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(want);
  for (let turn = 0; turn < all.length; turn += 1) {
    free += 1;
    queue.grant();
    await Promise.resolve();
    await Promise.resolve();
  }
  await Promise.all(all);
  expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});
