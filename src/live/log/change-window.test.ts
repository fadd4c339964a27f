import { expect, test } from 'vitest';
import { loggedChange } from '../../../test/kit/logged-change.ts';
import { ChangeWindow } from './change-window.ts';
import { FeedChange } from './feed-change.ts';

const unbounded = { maxChanges: 1000, maxBytes: 1e9 };

function change(seq: number, body = ''): FeedChange {
  return new FeedChange(loggedChange({ seq, before: body, after: body }));
}

function seqs(window: ChangeWindow, position: number, limit = 100): readonly number[] {
  return window.after(position, limit).changes.map(({ logged }) => logged.seq);
}

test('finds the changes after a position, and how far they reach', () => {
  const window = new ChangeWindow(1, 'e', 10, unbounded);
  window.append([change(11), change(13), change(15)], 16);
  expect(seqs(window, 10)).toEqual([11, 13, 15]);
  expect(seqs(window, 11)).toEqual([13, 15]);
  expect(seqs(window, 14)).toEqual([15]);
  expect(seqs(window, 15)).toEqual([]);
  expect(window.after(10, 100).upTo).toBe(16);
  expect(window.after(10, 2)).toMatchObject({ upTo: 13 });
  expect(window.after(15, 2)).toEqual({ changes: [], upTo: 16 });
  expect(window.after(20, 2)).toEqual({ changes: [], upTo: 20 });
});

test('its end moves without changes, and never back', () => {
  const window = new ChangeWindow(1, 'e', 10, unbounded);
  window.append([], 15);
  expect([window.floor, window.end, window.size]).toEqual([10, 15, 0]);
  window.append([], 12);
  expect(window.end).toBe(15);
  expect(window.after(10, 2)).toEqual({ changes: [], upTo: 15 });
});

test('drops the oldest when there are too many, and says up to where', () => {
  const window = new ChangeWindow(1, 'e', 0, { maxChanges: 3, maxBytes: 1e9 });
  window.append([change(1), change(2), change(3)], 3);
  expect(window.floor).toBe(0);
  window.append([change(4), change(5)], 5);
  expect(window.floor).toBe(2);
  expect(window.size).toBe(3);
  expect(seqs(window, 2)).toEqual([3, 4, 5]);
});

test('drops the oldest when their bodies are too long, all of them if need be', () => {
  const window = new ChangeWindow(1, 'e', 0, { maxChanges: 100, maxBytes: 1000 });
  window.append([change(1, 'x'.repeat(200)), change(2, 'x')], 2);
  expect(window.floor).toBe(0);
  window.append([change(3, 'x'.repeat(200))], 3);
  expect(window.floor).toBe(1);
  window.append([change(4, 'x'.repeat(2000))], 4);
  expect([window.size, window.bytes, window.floor]).toEqual([0, 0, 4]);
  window.append([change(5)], 5);
  expect(seqs(window, 4)).toEqual([5]);
});

test('stays right over many appends and drops', () => {
  const window = new ChangeWindow(1, 'e', 0, { maxChanges: 50, maxBytes: 1e9 });
  for (let seq = 1; seq <= 1000; seq += 1) window.append([change(seq)], seq);
  expect(window.floor).toBe(950);
  expect(seqs(window, 950)).toEqual(Array.from({ length: 50 }, (_, index) => 951 + index));
  expect(seqs(window, 990, 4)).toEqual([991, 992, 993, 994]);
});

test('only the newest changes keep their parsed bodies, and an append always keeps its own', () => {
  const window = new ChangeWindow(1, 'e', 0, unbounded);
  const large = JSON.stringify({ text: 'x'.repeat(300_000) });
  const keeps = (change: FeedChange): boolean => {
    const first = change.after();
    return change.after() === first;
  };
  const [first, second, third, fourth] = [1, 2, 3, 4].map((seq) => change(seq, large)) as [
    FeedChange,
    FeedChange,
    FeedChange,
    FeedChange,
  ];
  window.append([first, second, third], 3);
  expect([first, second, third].map(keeps)).toEqual([true, true, true]);
  window.append([fourth], 4);
  expect([first, second, third, fourth].map(keeps)).toEqual([false, false, false, true]);
  expect(first.after()).toEqual({ text: 'x'.repeat(300_000) });
  const small = change(5, '{}');
  window.append([small], 5);
  expect([fourth, small].map(keeps)).toEqual([true, true]);
  while (window.dropOldest());
  expect(keeps(small)).toBe(false);
});
