/** F1 to F4, F24, F25 and F47: how a watch ends, or does not, over real sockets. */
import { expect, test } from 'vitest';
import { seededRandom } from '../kit/seeded-random.ts';
import { faultBench } from './fault-bench.ts';

test('F1: a connection that is reset in the middle of a line drops the half line and resumes', async () => {
  const bench = await faultBench();
  const { sim } = bench;
  const lists = bench.lists().length;
  bench.change('c0', { a: '1' });
  await bench.settled();
  const reached = bench.state().lastResourceVersion;
  sim.faults.set({ F1: { resource: 'configmaps', times: 2 } });
  bench.change('c1', { a: '1' });
  bench.remove('c2');
  await bench.settled();
  expect(sim.faults.struck('F1')).toBe(2);
  expect(bench.restarts('network')).toBe(2);
  expect(bench.lists()).toHaveLength(lists);
  expect(Number(bench.watches().at(-1)?.get('resourceVersion'))).toBeGreaterThanOrEqual(Number(reached));
  expect(bench.changes()).toEqual(['MODIFIED c0', 'MODIFIED c1', 'DELETED c2']);
});

test('F2: a clean end behind a whole line is followed by a watch from there, without a list', async () => {
  const bench = await faultBench();
  const lists = bench.lists().length;
  bench.sim.faults.set({ F2: { resource: 'configmaps', times: 1 } });
  bench.change('c0', { a: '1' });
  bench.change('c1', { a: '1' });
  await bench.settled();
  expect(bench.sim.faults.struck('F2')).toBe(1);
  expect(bench.lists()).toHaveLength(lists);
  expect(bench.state().status.restarts).toEqual({});
  expect(bench.changes()).toEqual(['MODIFIED c0', 'MODIFIED c1']);
});

test('F3: a hundred watches that end as soon as they are opened cause one list, because their version may be lost', async () => {
  const bench = await faultBench({ reflector: { backoff: { firstMs: 1, capMs: 4, resetMs: 600_000 } } });
  const lists = bench.lists().length;
  bench.sim.faults.set({ F3: { resource: 'configmaps', times: 100 } });
  bench.sim.dropWatches();
  bench.change('c0', { a: '1' });
  await bench.settled();
  expect(bench.sim.faults.struck('F3')).toBe(100);
  expect(bench.restarts('short watch')).toBe(100);
  expect(bench.lists()).toHaveLength(lists + 1);
});

test('F4: a connection that is dead without an end is left in bounded time, a silent one with bookmarks is not', async () => {
  const bench = await faultBench({ reflector: { idleMs: 300 } });
  bench.sim.faults.set({ F47: { resource: 'configmaps', form: 'equal' } });
  await bench.until(() => expect(bench.sim.faults.struck('F47')).toBeGreaterThan(20));
  expect(bench.restarts('idle')).toBe(0);
  bench.sim.faults.clear();
  bench.sim.faults.set({ F4: { resource: 'configmaps', times: 1 } });
  bench.change('c0', { a: '1' });
  await bench.settled();
  expect(bench.sim.faults.struck('F4')).toBe(1);
  expect(bench.restarts('idle')).toBe(1);
  expect(bench.state('namespaces').status.restarts).toEqual({});
});

test('F24: while an API server is away the old table stays, and one list at the most is made for it', async () => {
  const bench = await faultBench();
  const before = bench.asked.length;
  const table = bench.table();
  bench.sim.setAvailable(false);
  bench.create('later');
  await bench.until(() => expect(bench.asked.length - before).toBeGreaterThan(10));
  expect(bench.table()).toEqual(table);
  expect(bench.state()).toMatchObject({ synced: true, status: { phase: 'BACKOFF' } });
  bench.sim.setAvailable(true);
  await bench.settled();
  // Five watches that fail, of which the open one that is torn may be the first, are followed by a list; after it the watch is tried again.
  const kinds = bench.asked.slice(before).map((query) => (query.has('watch') ? 'watch' : 'list'));
  expect(kinds.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => 'watch'));
  expect(kinds.at(-1)).toBe('watch');
  expect(bench.changes()).toEqual(['ADDED later']);
});

test('F25: watches that are all closed at once are opened again without a list', async () => {
  const bench = await faultBench({ include: ['*'], random: seededRandom(7) });
  const { sim } = bench;
  const open = sim.openWatches;
  expect(open).toBeGreaterThan(20);
  const before = bench.lists().length;
  sim.dropWatches();
  bench.create('meanwhile');
  bench.remove('c0');
  await bench.until(() => expect(sim.openWatches).toBe(open));
  await bench.settled();
  expect(bench.lists()).toHaveLength(before);
  expect(bench.changes()).toEqual(['ADDED meanwhile', 'DELETED c0']);
});

test('F47: without bookmarks there is no alarm, and equal ones are not written', async () => {
  const bench = await faultBench({ reflector: { idleMs: 100 }, sim: { features: { bookmarkMs: 60_000 } } });
  const { sim } = bench;
  sim.faults.set({ F47: { form: 'absent' } });
  bench.change('c0', { a: '1' });
  await bench.settled();
  expect(bench.state().status.restarts).toEqual({});

  const busy = await faultBench({ sim: { features: { bookmarkMs: 5 } } });
  busy.sim.faults.set({ F47: { form: 'equal' } });
  const written = busy.writer.revision();
  await busy.until(() => expect(busy.sim.faults.struck('F47')).toBeGreaterThan(60));
  expect(busy.writer.revision()).toBe(written);
  expect(busy.state().status.restarts).toEqual({});
  busy.change('c0', { a: '1' });
  await busy.settled();
});
