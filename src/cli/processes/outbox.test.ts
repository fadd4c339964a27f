import { expect, test } from 'vitest';
import { sumProgress } from '../../ingest/context/progress.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import { Outbox } from './outbox.ts';
import type { ToProcess } from './process-messages.ts';

const committed = (epoch: string, after: number, revision: number, kind: number): CommittedChanges => ({
  epoch,
  after,
  revision,
  kindIds: [kind],
});

function outbox() {
  const sent: ToProcess[] = [];
  const takes: (() => void)[] = [];
  const box = new Outbox((message, taken) => {
    sent.push(message);
    takes.push(taken);
  });
  return { box, sent, take: () => takes.shift()?.() };
}

test('what waits for a busy process is one message of each type, commits first', () => {
  const { box, sent, take } = outbox();
  const wake = (at: number) => box.tell({ type: 'wake', committed: committed('a', at, at + 1, at) });
  wake(0);
  for (let at = 1; at <= 10_000; at += 1) {
    box.tell({ type: 'progress', progress: { ...sumProgress([]), objects: at } });
    box.tell({ type: 'catalog' });
    wake(at);
  }
  expect(sent).toHaveLength(1);
  for (let turn = 0; turn < 10; turn += 1) take();
  expect(sent.slice(1)).toMatchObject([
    { type: 'wake', committed: { epoch: 'a', after: 1, revision: 10_001 } },
    { type: 'progress', progress: { objects: 10_000 } },
    { type: 'catalog' },
  ]);
  wake(10_001);
  expect(sent).toHaveLength(5);
});

test('commits of another epoch are told apart, in order', () => {
  const { box, sent, take } = outbox();
  for (const [epoch, at] of [
    ['a', 0],
    ['a', 1],
    ['b', 0],
    ['b', 1],
  ] as const) {
    box.tell({ type: 'wake', committed: committed(epoch, at, at + 1, 1) });
  }
  for (let turn = 0; turn < 5; turn += 1) take();
  expect(sent).toMatchObject([
    { committed: { epoch: 'a', revision: 1 } },
    { committed: { epoch: 'a', after: 1, revision: 2 } },
    { committed: { epoch: 'b', after: 0, revision: 2 } },
  ]);
});
