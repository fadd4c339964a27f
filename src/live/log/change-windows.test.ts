import { expect, test } from 'vitest';
import { loggedChange } from '../../../test/kit/logged-change.ts';
import { seededRandom } from '../../../test/kit/seeded-random.ts';
import { must } from '../../base/must.ts';
import { ChangeWindows } from './change-windows.ts';
import { FeedChange } from './feed-change.ts';

const unbounded = { maxChanges: 1e9, maxBytes: 1e9 };
const quiet = 1;
const busy = 2;

function changes(first: number, count: number, body = ''): readonly FeedChange[] {
  return Array.from({ length: count }, (_, at) => new FeedChange(loggedChange({ seq: first + at, after: body })));
}

test('a busy kind does not push the changes of a quiet one out', () => {
  const windows = new ChangeWindows(unbounded, { maxChanges: 10, maxBytes: 1e9 });
  const [few, many] = [windows.open(quiet, 'e', 0), windows.open(busy, 'e', 0)];
  windows.append(few, changes(1, 3), 3);
  for (let seq = 4; seq < 100; seq += 4) windows.append(many, changes(seq, 4), seq + 3);
  expect([few.size, few.floor, many.size, windows.size]).toEqual([3, 0, 7, 10]);
});

test('the bound in bytes cuts the window with the most bytes, not the one with the most changes', () => {
  const windows = new ChangeWindows(unbounded, { maxChanges: 1e9, maxBytes: 10_000 });
  const [small, large] = [windows.open(quiet, 'e', 0), windows.open(busy, 'e', 0)];
  windows.append(small, changes(1, 10), 10);
  windows.append(large, changes(11, 4, 'x'.repeat(1800)), 14);
  expect([small.size, large.size]).toEqual([10, 4]);
  windows.append(small, changes(15, 1), 15);
  expect([small.size, large.size, large.floor]).toEqual([11, 3, 11]);
});

test('each window has bounds of its own', () => {
  const windows = new ChangeWindows({ maxChanges: 5, maxBytes: 1e9 }, unbounded);
  const window = windows.open(busy, 'e', 0);
  windows.append(window, changes(1, 20), 20);
  expect([window.size, windows.size]).toEqual([5, 5]);
});

test('a closed window counts no more', () => {
  const windows = new ChangeWindows(unbounded, { maxChanges: 6, maxBytes: 1e9 });
  const [one, other] = [windows.open(quiet, 'e', 0), windows.open(busy, 'e', 0)];
  windows.append(one, changes(1, 4), 4);
  windows.close(one);
  expect([windows.size, windows.get(quiet), [...windows]]).toEqual([0, undefined, [other]]);
  windows.append(other, changes(5, 6), 10);
  expect(other.size).toBe(6);
});

test('whatever is appended and closed, no bound is exceeded and the sums are those of the windows', () => {
  const random = seededRandom(7);
  const all = { maxChanges: 40, maxBytes: 20_000 };
  const windows = new ChangeWindows({ maxChanges: 25, maxBytes: 12_000 }, all);
  let seq = 0;
  for (let step = 0; step < 2000; step += 1) {
    const kindId = Math.floor(random() * 5);
    const window = windows.get(kindId) ?? windows.open(kindId, 'e', seq);
    const count = Math.floor(random() * 8);
    windows.append(window, changes(seq + 1, count, 'x'.repeat(Math.floor(random() * 900))), seq + count);
    seq += count;
    if (random() < 0.05) windows.close(must(windows.get(kindId), 'it is open'));
    const open = [...windows];
    expect(windows.size).toBe(open.reduce((sum, { size }) => sum + size, 0));
    expect(windows.size).toBeLessThanOrEqual(all.maxChanges);
    expect(open.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(all.maxBytes);
    for (const each of open) expect(each.size).toBeLessThanOrEqual(25);
  }
});
