import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import {
  describedPods,
  endLine,
  eventLine,
  listText,
  open,
  podText,
  reflectorBench,
  whole,
} from '../../../test/kit/reflector-bench.ts';
import { BatchYield } from './batch-yield.ts';

/** Runs slices of the given milliseconds and objects. Counts the event-loop turns of other work meanwhile. */
async function turnsOfOthers(slices: number, ms: number, objects: number): Promise<number> {
  const clock = new ManualClock();
  const turns = new BatchYield(clock);
  let others = 0;
  const count = (): void => {
    others += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  for (let slice = 0; slice < slices; slice += 1) {
    void clock.advance(ms);
    await turns.after(objects);
  }
  clearImmediate(next);
  return others;
}

test('others get a turn after a few milliseconds of work, however few objects that was', async () => {
  expect(await turnsOfOthers(30, 3, 1)).toBeGreaterThanOrEqual(14);
});

test('others get a turn after some objects, however quick they were', async () => {
  expect(await turnsOfOthers(40, 0, 16)).toBeGreaterThanOrEqual(9);
});

test('quick work goes on without one', async () => {
  expect(await turnsOfOthers(3, 1, 1)).toBe(0);
});

test('it rejects when the signal is aborted', async () => {
  const turns = new BatchYield(new ManualClock());
  await expect(turns.after(100, AbortSignal.abort(new Error('stopped')))).rejects.toThrow();
});

const pods = Array.from({ length: 640 }, (_, index) => ({ name: `p${index}`, rv: index + 1 }));

test.each([
  ['in pages', false, [whole(listText(1000, pods)), open()]],
  ['as a stream', true, [open(pods.map((pod) => eventLine('ADDED', pod)).join('') + endLine(1000))]],
])('events of other resources are committed while a large list comes %s', async (_, streamingLists, answers) => {
  const bench = reflectorBench({ settings: { streamingLists } });
  const pod = describedPods();
  const other = bench.writer.declare({ ...pod, resource: { ...pod.resource, plural: 'others' } });
  const replace = bench.writer.replace(other);
  await replace.commit('1');
  bench.client.answer(...answers);
  bench.reflector().start();
  while (bench.client.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  let events = 0;
  while (bench.version() === null) {
    events += 1;
    const object = { text: podText({ name: 'x', rv: 10 + events }) };
    bench.writer.apply(other, [{ type: 'MODIFIED', object }], String(10 + events));
    expect(bench.writer.state(other).lastResourceVersion).toBe(String(10 + events));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(events).toBeGreaterThanOrEqual(9);
  expect(bench.pods().filter((line) => line.startsWith('p'))).toHaveLength(640);
});
