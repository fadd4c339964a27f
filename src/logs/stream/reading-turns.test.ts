/** Work that is given at once runs in as many turns of the event loop, in its order. */
import { expect, test } from 'vitest';
import { ReadingTurns } from './reading-turns.ts';

test('each turn of the event loop runs one work', async () => {
  const turns = new ReadingTurns();
  const ran: number[] = [];
  for (const each of [1, 2, 3]) turns.take(() => ran.push(each));
  expect(ran).toEqual([]);
  const seen: number[] = [];
  while (ran.length < 3) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(ran.length);
  }
  expect(ran).toEqual([1, 2, 3]);
  expect(seen).toEqual([1, 2, 3]);
});
