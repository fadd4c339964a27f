/** F21, F23 and F26 to F31: what servers and proxies refuse. */
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { configMap, faultBench, startFaultBench } from './fault-bench.ts';
import { widget, widgetCrd, widgets } from './widgets.ts';

const aim = { resource: 'configmaps' } as const;
test('F21: another cluster behind the same address: the store is emptied, and subscribers are told by RESET', async () => {
  const bench = await faultBench({ supervisor: { rediscoverMs: 50 } });
  const port = Number(new URL(bench.sim.url).port);
  await bench.sim.close();
  const other = await startSimCluster({ port, random: () => 0.123 });
  onTestFinished(() => other.close());
  other.create(configMap('of-the-other'));
  bench.allowRewind();
  await bench.until(() => {
    const names = bench.table().filter((line) => line.includes('/configmaps/'));
    expect(names.map((line) => line.split(' ')[0])).toEqual(['east/configmaps/default/of-the-other']);
    // A list may come before the round that looks who answers: then the tables are right first, and RESET follows.
    expect(bench.changes().map((line) => line.trim())).toContain('RESET');
  });
});

test.each(['list', 'watch'] as const)(
  'F23: 429 with Retry-After on a %s is asked again, and no list is made for it',
  async (on) => {
    const bench = await startFaultBench({}, (sim) => {
      sim.faults.set({ F23: { ...aim, on, retryAfterSeconds: 1, times: 1 } });
    });
    await bench.until(() => expect(bench.sim.faults.struck('F23')).toBe(1));
    await bench.settled();
    await bench.until(() => expect(bench.watches().length).toBe(on === 'watch' ? 2 : 1));
    expect(bench.lists()).toHaveLength(on === 'list' ? 2 : 1);
  },
);

test('F26: 401 everywhere for a while costs nothing but time', async () => {
  const bench = await faultBench({ supervisor: { rediscoverMs: 50 } });
  const lists = bench.lists().length;
  bench.sim.faults.set({ F26: {} });
  bench.sim.dropWatches();
  bench.create('meanwhile');
  await bench.until(() => expect(bench.state().status).toMatchObject({ phase: 'PARKED' }));
  await bench.until(() => expect(bench.sim.faults.struck('F26')).toBeGreaterThan(6));
  expect(bench.table()).toHaveLength(3 + 4);
  bench.sim.faults.clear();
  await bench.settled();
  expect(bench.lists()).toHaveLength(lists);
  expect(bench.changes()).toEqual(['ADDED meanwhile']);
});

test('F27: a right that is taken away parks this resource alone, what is stored stays, and it resumes when it is given back', async () => {
  const bench = await faultBench();
  bench.sim.faults.set({ F27: aim });
  bench.sim.dropWatches();
  await bench.until(() => {
    expect(bench.host.progress().failing).toMatchObject([
      { resource: 'configmaps', error: expect.stringContaining('403') },
    ]);
  });
  expect(bench.state()).toMatchObject({ status: { phase: 'PARKED' }, objects: 3 });
  bench.change('c0', { later: 'yes' });
  bench.sim.faults.clear();
  await bench.settled();
  // A watch is tried before a list.
  expect(bench.asked.at(-1)?.has('watch')).toBe(true);
});

test('F28: a definition that is made again with another schema, scope and version leaves nothing of the former', async () => {
  const bench = await startFaultBench({ include: ['customresourcedefinitions', 'widgets', 'configmaps'] }, (sim) =>
    sim.create(widgetCrd('Namespaced', 'v1', 'size')),
  );
  bench.sim.create(widget('a'));
  await bench.settled();
  const former = bench.state(widgets).described;
  bench.sim.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgets}`);
  await bench.until(() => expect(bench.writer.states().map(({ handle }) => handle.key)).not.toContain(widgets));
  bench.sim.create(widgetCrd('Cluster', 'v1beta1', 'color'));
  bench.sim.create(widget('a', 'v1beta1', {}));
  await bench.until(() => expect(bench.state(widgets)).toMatchObject({ synced: true, objects: 1 }));
  const { resource, shapeHash } = bench.state(widgets).described;
  expect(resource).toMatchObject({ version: 'v1beta1', namespaced: false });
  expect(shapeHash).not.toBe(former.shapeHash);
  expect(bench.table().filter((line) => line.includes(widgets) && !line.includes('customresource'))).toEqual([
    expect.stringContaining(`east/${widgets}//a `),
  ]);
  expect(bench.host.progress().failing).toEqual([]);
});

test('F29: lists of one resource that fail with 500 degrade this resource alone', async () => {
  const bench = await startFaultBench({}, (sim) => sim.faults.set({ F29: aim }));
  await bench.until(() => {
    expect(bench.host.progress()).toMatchObject({ ready: true, failing: [{ resource: 'configmaps' }] });
  });
  expect(bench.state('namespaces')).toMatchObject({ synced: true, objects: 4, status: { phase: 'WATCHING' } });
  expect(bench.state()).toMatchObject({ synced: false });
  bench.sim.faults.clear();
  await bench.settled();
});

test('F30: a group whose server is away, with stale discovery, is kept as it is', async () => {
  const bench = await startFaultBench({ include: ['configmaps', 'widgets'], supervisor: { rediscoverMs: 30 } }, (sim) =>
    sim.create(widgetCrd('Namespaced', 'v1', 'size')),
  );
  bench.sim.create(widget('a'));
  await bench.settled();
  bench.sim.faults.set({ F30: { group: 'shop.example.com' } });
  bench.sim.dropWatches();
  const asked = bench.sim.requests;
  await bench.until(() => expect(bench.sim.requests - asked).toBeGreaterThan(60));
  expect(bench.sim.faults.struck('F30')).toBeGreaterThan(3);
  expect(bench.state(widgets)).toMatchObject({ synced: true, objects: 1 });
  expect(bench.table().filter((line) => line.includes('/widgets.'))).toHaveLength(1);
  expect(bench.state().status).toMatchObject({ phase: 'WATCHING', error: null });
  bench.sim.faults.clear();
  bench.sim.create(widget('b'));
  await bench.settled();
});

test.each([502, 504, 200] as const)(
  'F31: a page of a proxy with status %i is an error with its words, never an object',
  async (status) => {
    const bench = await faultBench();
    const table = bench.table();
    bench.sim.faults.set({ F31: { ...aim, status } });
    bench.sim.dropWatches();
    await bench.until(() => expect(bench.sim.faults.struck('F31')).toBeGreaterThan(6));
    expect(bench.state().status.error).toMatch(status === 200 ? /json|html/i : new RegExp(`${status}`));
    expect(bench.table()).toEqual(table);
    bench.change('c0', { later: 'yes' });
    bench.sim.faults.clear();
    await bench.settled();
    expect(bench.changes()).toEqual(['MODIFIED c0']);
  },
);
