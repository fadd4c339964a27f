/** F16 to F19: lists that are the beginning of a watch. */
import { expect, test } from 'vitest';
import { type FaultBench, type FaultBenchOptions, startFaultBench } from './fault-bench.ts';

const aim = { resource: 'configmaps' } as const;
/** ConfigMaps alone, so that nothing else is the first to try a stream. */
const streamed: FaultBenchOptions = {
  include: ['configmaps'],
  objects: 10,
  reflector: { streamingLists: true, streamSilenceMs: 200 },
};

const streams = (bench: FaultBench): URLSearchParams[] =>
  bench.watches().filter((query) => query.has('sendInitialEvents'));

test('F16: initial events in any order of versions, and a reset half-way: no version is kept, it begins anew', async () => {
  const bench = await startFaultBench(streamed, (sim) => {
    // The order of names is not the order of versions.
    for (const index of [7, 2, 9, 0]) {
      sim.patch(`/api/v1/namespaces/default/configmaps/c${index}`, { data: { changed: 'yes' } });
    }
    sim.faults.set({ F1: { ...aim, event: 6, times: 1 } });
  });
  await bench.until(() => expect(bench.sim.faults.struck('F1')).toBe(1));
  await bench.settled();
  expect(streams(bench).map((query) => query.get('resourceVersion') ?? '')).toEqual(['', '']);
  expect(bench.lists()).toEqual([]);
  bench.change('c3', { later: 'yes' });
  await bench.settled();
  expect(bench.watches()).toHaveLength(2);
  expect(bench.changes()).toEqual(['MODIFIED c3']);
});

test('F17: a stream whose end mark does not come is given up, then listed at once, and remembered', async () => {
  const bench = await startFaultBench(streamed, (sim) => sim.faults.set({ F47: { ...aim, form: 'absent' } }));
  await bench.settled();
  expect(streams(bench)).toHaveLength(1);
  expect(bench.lists()).toHaveLength(1);
  bench.sim.faults.set({ F5: { ...aim, times: 1 } });
  bench.sim.dropWatches();
  bench.remove('c1');
  await bench.settled();
  expect(streams(bench)).toHaveLength(1);
  expect(bench.lists()).toHaveLength(2);
  expect(bench.changes()).toEqual(['DELETED c1']);
});

test('F18: a server that knows no streaming lists is asked once, and listed at once', async () => {
  const bench = await startFaultBench({ ...streamed, sim: { features: { watchList: false } } });
  await bench.settled();
  expect(streams(bench)).toHaveLength(1);
  expect(bench.lists()).toHaveLength(1);
});

test('F19: a stream that breaks off near its end publishes nothing of it, and the old table stays', async () => {
  const bench = await startFaultBench(streamed);
  await bench.settled();
  const table = bench.table();
  bench.sim.faults.set({ F5: { ...aim, times: 1 }, F2: { ...aim, event: 9 }, F29: aim });
  bench.sim.compact();
  bench.sim.dropWatches();
  bench.remove('c9');
  await bench.until(() => expect(bench.sim.faults.struck('F29')).toBeGreaterThan(0));
  expect(bench.sim.faults.struck('F2')).toBe(2);
  expect(bench.table()).toEqual(table);
  expect(bench.changes()).toEqual([]);
  bench.sim.faults.clear();
  await bench.settled();
  expect(bench.changes()).toEqual(['DELETED c9']);
});
