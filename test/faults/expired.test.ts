/** F5, F6, F7 and F13: a version that is too old. */
import { expect, test } from 'vitest';
import { faultBench } from './fault-bench.ts';

const aim = { resource: 'configmaps', times: 1 } as const;

test.each([
  ['F5', 'HTTP 410'],
  ['F6', 'an ERROR event of 410'],
] as const)('%s: %s on a watch is followed by a list that is not older, and deletes are found', async (fault, _) => {
  const bench = await faultBench();
  const before = bench.asked.length;
  const known = bench.state().lastResourceVersion;
  bench.sim.faults.set({ [fault]: aim });
  bench.sim.dropWatches();
  bench.remove('c1');
  bench.create('new');
  await bench.settled();
  expect(bench.sim.faults.struck(fault)).toBe(1);
  const list = bench.asked.slice(before).find((query) => query.get('watch') === null);
  expect(list?.get('resourceVersionMatch')).toBe('NotOlderThan');
  expect(Number(list?.get('resourceVersion'))).toBeGreaterThanOrEqual(Number(known));
  expect(bench.restarts('expired')).toBe(1);
  expect(bench.changes().sort()).toEqual(['ADDED new', 'DELETED c1']);
});

test('F7: the events before an ERROR of 410 are kept', async () => {
  const bench = await faultBench();
  bench.sim.faults.set({ F7: { ...aim, event: 20 }, F29: { resource: 'configmaps' } });
  for (let index = 0; index < 30; index += 1) bench.create(`many${index}`);
  await bench.until(() => expect(bench.sim.faults.struck('F29')).toBeGreaterThan(1));
  // Nothing could be listed since: what is there came with the watch.
  expect(bench.table()).toHaveLength(4 + 3 + 20);
  expect(bench.changes()).toHaveLength(20);
  bench.sim.faults.clear();
  await bench.settled();
  expect(bench.changes()).toHaveLength(30);
});

test('F13: what was deleted while nobody watched, and forgotten, is deleted', async () => {
  const bench = await faultBench({ objects: 10 });
  bench.sim.setAvailable(false);
  for (const name of ['c2', 'c5', 'c7']) bench.remove(name);
  bench.sim.compact();
  bench.sim.setAvailable(true);
  await bench.settled();
  expect(bench.restarts('expired')).toBe(1);
  expect(bench.changes().sort()).toEqual(['DELETED c2', 'DELETED c5', 'DELETED c7']);
});
