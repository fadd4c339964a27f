import { expect, test } from 'vitest';
import type { LoggedChange } from '../store/types/change.ts';
import { ChangeWindow } from './change-window.ts';
import { FeedChange } from './feed-change.ts';

function change(seq: number, kindId: number, body = ''): FeedChange {
  const logged: LoggedChange = {
    seq,
    type: 'MODIFIED',
    kindId,
    cluster: 'east',
    objectId: seq,
    namespace: null,
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
    at: 0,
    before: body,
    after: body,
  };
  return new FeedChange(logged);
}

const unbounded = { maxChanges: 1000, maxCharacters: 1e9 };

function seqs(window: ChangeWindow, kindId: number, position: number, limit = 100): readonly number[] {
  return window.after(kindId, position, limit).changes.map(({ logged }) => logged.seq);
}

test('finds the changes of a kind after a position, and how far that reaches', () => {
  const window = new ChangeWindow('e', 10, unbounded);
  window.append([change(11, 1), change(12, 2), change(13, 1), change(15, 1)], 16);
  expect(seqs(window, 1, 10)).toEqual([11, 13, 15]);
  expect(seqs(window, 1, 11)).toEqual([13, 15]);
  expect(seqs(window, 1, 14)).toEqual([15]);
  expect(seqs(window, 1, 15)).toEqual([]);
  expect(window.after(1, 10, 100).upTo).toBe(16);
  expect(window.after(1, 10, 2)).toMatchObject({ upTo: 13 });
  expect(window.after(3, 12, 2)).toEqual({ changes: [], upTo: 16 });
  expect(window.after(1, 20, 2)).toEqual({ changes: [], upTo: 20 });
});

test('drops the oldest when there are too many, whatever their kind, and says up to where', () => {
  const window = new ChangeWindow('e', 0, { maxChanges: 3, maxCharacters: 1e9 });
  window.append([change(1, 1), change(2, 2), change(3, 2)], 3);
  expect(window.floor).toBe(0);
  window.append([change(4, 1), change(5, 2)], 5);
  expect(window.floor).toBe(2);
  expect(window.size).toBe(3);
  expect(seqs(window, 1, 2)).toEqual([4]);
  expect(seqs(window, 2, 2)).toEqual([3, 5]);
});

test('drops the oldest when their bodies are too long, all of them if need be', () => {
  const window = new ChangeWindow('e', 0, { maxChanges: 100, maxCharacters: 1000 });
  window.append([change(1, 1, 'x'.repeat(200)), change(2, 1, 'x')], 2);
  expect(window.floor).toBe(0);
  window.append([change(3, 1, 'x'.repeat(200))], 3);
  expect(window.floor).toBe(1);
  window.append([change(4, 1, 'x'.repeat(2000))], 4);
  expect(window.size).toBe(0);
  expect(window.floor).toBe(4);
  window.append([change(5, 1)], 5);
  expect(seqs(window, 1, 4)).toEqual([5]);
});

test('stays right over many appends and drops', () => {
  const window = new ChangeWindow('e', 0, { maxChanges: 50, maxCharacters: 1e9 });
  for (let seq = 1; seq <= 1000; seq += 1) window.append([change(seq, seq % 7)], seq);
  expect(window.floor).toBe(950);
  for (let kind = 0; kind < 7; kind += 1) {
    const expected = Array.from({ length: 50 }, (_, index) => 951 + index).filter((seq) => seq % 7 === kind);
    expect(seqs(window, kind, 950)).toEqual(expected);
  }
});
