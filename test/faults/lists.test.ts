/** F8 to F12, F15, F22, F52 and F54: what goes wrong in a list. */
import { expect, test } from 'vitest';
import { configMap, configMaps, type FaultBench, faultBench, startFaultBench } from './fault-bench.ts';

const aim = { resource: 'configmaps' } as const;

/** Makes the next watch start from a version that is too old, so that a list follows, and changes things before it. */
function expire({ sim }: FaultBench): void {
  sim.faults.set({ F5: { ...aim, times: 1 } });
  sim.dropWatches();
}

test('F8: a list at the known version that is refused is asked for without one, once', async () => {
  const bench = await faultBench();
  const before = bench.lists().length;
  bench.sim.faults.set({ F8: aim });
  expire(bench);
  bench.remove('c1');
  await bench.settled();
  expect(bench.sim.faults.struck('F8')).toBe(1);
  const [known, free, ...more] = bench.lists().slice(before);
  expect(known?.get('resourceVersionMatch')).toBe('NotOlderThan');
  expect(free?.get('resourceVersion')).toBeNull();
  expect(more).toEqual([]);
  expect(bench.changes()).toEqual(['DELETED c1']);
});

test.each(['cause', 'words'] as const)(
  'F9: 504 for a version of the future, with the %s, ends in a list',
  async (form) => {
    const bench = await faultBench();
    const before = bench.lists().length;
    bench.sim.faults.set({ F9: { ...aim, form } });
    expire(bench);
    bench.create('new');
    await bench.settled();
    expect(bench.sim.faults.struck('F9')).toBe(1);
    expect(bench.lists().slice(before)).toHaveLength(2);
    expect(bench.changes()).toEqual(['ADDED new']);
  },
);

test.each(['F10', 'F11'] as const)(
  '%s: a token that expires at page 3 drops what is staged, and the whole comes in one piece',
  async (fault) => {
    const bench = await faultBench({ objects: 12, reflector: { pageSize: 3 } });
    const before = bench.asked.length;
    bench.sim.faults.set({ [fault]: { ...aim, page: 3, times: 1 } });
    expire(bench);
    bench.remove('c1');
    await bench.settled();
    expect(bench.sim.faults.struck(fault)).toBe(1);
    const asked = bench.asked.slice(before).filter((query) => query.get('watch') === null);
    expect(asked.map((query) => [query.get('limit'), query.has('continue')])).toEqual([
      ['3', false],
      ['3', true],
      ['3', true],
      [null, false],
    ]);
    expect(bench.changes()).toEqual(['DELETED c1']);
  },
);

test.each(['cut', 'length', 'chunk'] as const)(
  'F12: a list whose body is not whole (%s) is not committed, the table stays until one is',
  async (form) => {
    const bench = await faultBench({ objects: 40 });
    const table = bench.table();
    bench.sim.faults.set({ F12: { ...aim, form } });
    expire(bench);
    bench.remove('c1');
    await bench.until(() => expect(bench.sim.faults.struck('F12')).toBeGreaterThan(2));
    expect(bench.table()).toEqual(table);
    expect(bench.changes()).toEqual([]);
    bench.sim.faults.clear();
    await bench.settled();
    expect(bench.changes()).toEqual(['DELETED c1']);
  },
);

test('F15: an object that changes between two pages is right in the end', async () => {
  const bench = await startFaultBench({ objects: 12, reflector: { pageSize: 3 } }, (sim) => {
    sim.faults.set({ F23: { ...aim, on: 'page', retryAfterSeconds: 1, times: 1 } });
  });
  await bench.until(() => expect(bench.sim.faults.struck('F23')).toBe(1));
  bench.change('c0', { late: 'yes' });
  bench.remove('c1');
  bench.change('c9', { late: 'yes' });
  bench.create('c99');
  await bench.settled();
  // All pages are of one moment, and the watch goes on from it.
  expect(bench.lists()).toHaveLength(1);
  expect(bench.restarts('expired')).toBe(0);
});

test('F22: a server that is behind is asked again, never for any age, and the table does not go back', async () => {
  const bench = await faultBench();
  bench.sim.faults.set({ F9: { ...aim, form: 'cause', times: 1 }, F29: { ...aim, times: 1 } });
  expire(bench);
  bench.change('c0', { newest: 'yes' });
  await bench.settled();
  expect(bench.lists().every((query) => query.get('resourceVersion') !== '0')).toBe(true);
  expect(bench.restarts('rewind')).toBe(0);
});

test('F52: a collection without items is ready and empty, whether its items are a list or null', async () => {
  const bench = await startFaultBench({ objects: 0 }, (sim) => sim.faults.set({ F52: aim }));
  await bench.settled();
  expect(bench.sim.faults.struck('F52')).toBe(1);
  expect(bench.state()).toMatchObject({ synced: true, objects: 0 });
  bench.create('first');
  await bench.settled();
});

test.each(['redirect', 'gzip'] as const)(
  'F54: a %s that nobody asked for is refused with what is wrong',
  async (form) => {
    const bench = await startFaultBench({}, (sim) => sim.faults.set({ F54: { ...aim, form } }));
    await bench.until(() => expect(bench.sim.faults.struck('F54')).toBeGreaterThan(2));
    expect(bench.table().filter((line) => line.includes('/configmaps/'))).toEqual([]);
    expect(bench.state().status.error).toMatch(form === 'gzip' ? /compress|encod/i : /302|redirect/i);
    bench.sim.faults.clear();
    await bench.settled();
  },
);

test('F14: an object that is deleted and made again while nobody watches is another one', async () => {
  const bench = await faultBench();
  bench.sim.setAvailable(false);
  bench.remove('c1');
  bench.sim.create(configMap('c1', { again: 'yes' }));
  bench.sim.compact();
  bench.sim.setAvailable(true);
  await bench.settled();
  expect(bench.changes()).toEqual(['DELETED c1', 'ADDED c1']);
  expect(bench.sim.get(`${configMaps}/c1`)).toBeDefined();
});
