/** The merge by hand: which lines leave when, what is paused, and what is left out. */
import { expect, test } from 'vitest';
import { LogMerge } from './log-merge.ts';
import type { LogLine } from './log-message.ts';

const bounds = { windowMs: 200, openingMs: 1000, patienceMs: 15_000, mostWeight: 8000 };

function world(isExact = false) {
  const held = {
    bytes: 0,
    others: 0,
    get isFull() {
      return held.bytes + held.others > 4000;
    },
    add(bytes: number): void {
      held.bytes += bytes;
    },
  };
  const clock = { now: 0 };
  const merge = new LogMerge(isExact, () => clock.now, held, bounds);
  const container = (pod: string) => {
    const place = { cluster: 'east', namespace: 'shop', pod, container: 'app' };
    const source = {
      isPaused: false,
      pause(): void {
        source.isPaused = true;
      },
      resume(): void {
        source.isPaused = false;
      },
    };
    const queue = merge.open(place);
    merge.opening(queue);
    merge.opened(queue, source);
    const push = (key: string): void => {
      merge.push(queue, key, { ...place, time: key, text: key, leftOut: 0 });
      merge.pushed(queue);
    };
    return { queue, source, push };
  };
  const take = (most = 100): readonly string[] => {
    const lines: LogLine[] = [];
    merge.take(lines, most);
    return lines.map(({ pod, text }) => `${pod} ${text}`);
  };
  return { clock, held, merge, container, take };
}

test('lines leave by their times, and wait for a container that may send an earlier one', () => {
  const { clock, container, take } = world();
  const [a, b] = [container('a'), container('b')];
  a.push('2');
  a.push('4');
  expect(take()).toEqual([]);
  b.push('1');
  b.push('3');
  expect(take()).toEqual(['b 1', 'a 2', 'b 3']);
  clock.now = 199;
  expect(take()).toEqual([]);
  clock.now = 200;
  expect(take()).toEqual(['a 4']);
});

test('the lines of one container keep their order, whatever their times', () => {
  const { clock, container, take } = world();
  const a = container('a');
  const b = container('b');
  for (const key of ['5', '3', '4']) a.push(key);
  b.push('4');
  clock.now = 500;
  expect(take()).toEqual(['b 4', 'a 5', 'a 3', 'a 4']);
});

test('without follow, a line waits for every container that is still read', () => {
  const { clock, merge, container, take } = world(true);
  const [a, b] = [container('a'), container('b')];
  a.push('2');
  clock.now = 60_000;
  expect(take()).toEqual([]);
  b.push('1');
  merge.end(b.queue);
  expect(take()).toEqual(['b 1', 'a 2']);
});

test('a full container is paused until its lines have left', () => {
  const { clock, merge, container, take } = world();
  const a = container('a');
  for (let at = 0; at < 10; at += 1) a.push(String(at));
  expect(a.source.isPaused).toBe(true);
  clock.now = 1000;
  expect(take(8)).toHaveLength(8);
  expect(a.source.isPaused).toBe(false);
  expect(take()).toEqual(['a 8', 'a 9']);
  expect(merge.weight).toBe(0);
});

test('a subscriber who takes nothing loses the older half, and is told', () => {
  const { clock, merge, container, take } = world();
  const a = container('a');
  for (let at = 0; at < 8; at += 1) a.push(String(at));
  clock.now = 14_999;
  merge.relieve();
  expect(merge.leftOut()).toEqual([]);
  clock.now = 15_000;
  merge.relieve();
  expect(merge.leftOut()).toEqual([[expect.objectContaining({ pod: 'a' }), 4]]);
  expect(take()).toEqual(['a 4', 'a 5', 'a 6', 'a 7']);
});

test('who takes nothing while the caller holds too much elsewhere loses the older half of a full container alone', () => {
  const { clock, held, merge, container, take } = world();
  held.others = 5000;
  const [a, b, full] = [container('a'), container('b'), container('full')];
  a.push('1');
  b.push('2');
  for (let at = 2; at < 10; at += 1) full.push(String(at));
  clock.now = 15_000;
  merge.relieve();
  expect(merge.leftOut()).toEqual([[expect.objectContaining({ pod: 'full' }), 4]]);
  merge.relieve();
  expect(merge.leftOut()).toEqual([[expect.objectContaining({ pod: 'full' }), 2]]);
  merge.relieve();
  expect(merge.leftOut()).toEqual([]);
  expect(take()).toEqual(['a 1', 'b 2', 'full 8', 'full 9']);
});

test('the waiting lines of a container that is discarded are not sent', () => {
  const { clock, merge, container, take } = world();
  const [a, b] = [container('a'), container('b')];
  a.push('1');
  b.push('2');
  merge.discard(a.queue);
  clock.now = 300;
  a.push('3');
  expect(take()).toEqual(['b 2']);
  expect(merge.weight).toBe(0);
});

test('while the caller holds too much elsewhere, a container that is read goes on line by line, and then as before', () => {
  const { clock, held, merge, container, take } = world();
  const [a, b] = [container('a'), container('b')];
  held.others = 5000;
  a.push('1');
  b.push('2');
  expect([a.source.isPaused, b.source.isPaused]).toEqual([true, true]);
  clock.now = 200;
  expect(take(1)).toEqual(['a 1']);
  expect([a.source.isPaused, b.source.isPaused]).toEqual([false, true]);
  held.others = 0;
  merge.relieve();
  expect(b.source.isPaused).toBe(false);
  expect(held.bytes).toBe(merge.weight);
  merge.discard(b.queue);
  expect(held.bytes).toBe(0);
});
