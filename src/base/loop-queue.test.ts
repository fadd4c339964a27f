import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopQueue } from './loop-queue.ts';

/** Pieces that each take so many milliseconds of a clock that nothing else moves. */
function pieces(milliseconds: number) {
  let now = 0;
  const queue = new LoopQueue({ monotonic: () => now });
  const begun: string[] = [];
  const enter = (client: string): void =>
    queue.enter(client, () => {
      now += milliseconds;
      begun.push(client);
    });
  return { queue, begun, enter };
}

test('short pieces begin at once, in one turn', () => {
  const { begun, enter, queue } = pieces(0.01);
  for (let count = 0; count < 400; count += 1) enter('a');
  expect([begun.length, queue.length]).toEqual([400, 0]);
});

test('of long pieces one begins in each turn, and clients take turns', async () => {
  const { begun, enter, queue } = pieces(10);
  for (const client of ['a', 'a', 'a', 'a', 'b', 'c']) enter(client);
  const seen = [begun.length];
  while (queue.length > 0) {
    await nextTurn();
    seen.push(begun.length);
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'a']);
});

test('nothing overtakes what waits, and a quiet queue forgets the turn', async () => {
  const { begun, enter } = pieces(10);
  enter('a');
  enter('a');
  await nextTurn();
  enter('b');
  expect(begun).toEqual(['a', 'a']);
  await nextTurn();
  await nextTurn();
  enter('c');
  expect(begun).toEqual(['a', 'a', 'b', 'c']);
});

test('a turn is promised', async () => {
  const { enter, begun, queue } = pieces(10);
  enter('a');
  const turn = queue.turn('b').then(() => begun.push('b'));
  expect(queue.length).toBe(1);
  await turn;
  expect(begun).toEqual(['a', 'b']);
});
