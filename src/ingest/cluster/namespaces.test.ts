/** Ingest by namespaces, for credentials that may read only some namespaces. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimCluster } from '../../../sim/sim-cluster.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { configMap, equal, type RunningHost, ready, run, simulated } from '../../../test/kit/ingest-bench.ts';
import { storedObjects } from '../../../test/kit/reflector-bench.ts';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { must } from '../../base/must.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { openReader } from '../../store/read/reader.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { ResourceState } from '../../store/types/progress.ts';

const only = { include: ['configmaps', 'nodes'] };

/** A cluster with a ConfigMap `one` in each of these namespaces. */
async function cluster(...namespaces: readonly string[]) {
  const { sim, options } = await simulated();
  for (const name of namespaces) {
    sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    create(sim, name, 'one');
  }
  return { sim, options };
}

function create(sim: SimCluster, namespace: string, name: string): void {
  sim.create({ ...configMap(name), metadata: { name, namespace } });
}

/** `namespace/name` of the stored ConfigMaps. */
function stored({ file }: RunningHost): string[] {
  return storedObjects(file).flatMap((line) => /^east\/configmaps\/(\S+)/.exec(line)?.[1] ?? []);
}

function state({ writer }: RunningHost, namespace: string): ResourceState {
  return must(
    writer.states().find(({ handle }) => handle.key === 'configmaps' && handle.namespace === namespace),
    `the ConfigMaps of ${namespace}`,
  );
}

async function inLease<T>(running: RunningHost, work: (lease: Lease) => Promise<T>): Promise<T> {
  const reader = await openReader(running.file, { readers: 1 });
  try {
    return await reader.lease(work);
  } finally {
    await reader.close();
  }
}

test('each namespace is listed and watched by itself, with a version of its own; cluster-scoped kinds as ever', async () => {
  const { sim, options } = await cluster('a', 'b', 'c');
  const running = run([options], { ...only, namespaces: ['a', 'b'] });
  await ready(running);
  expect(stored(running)).toEqual(['a/one', 'b/one']);
  create(sim, 'a', 'two');
  create(sim, 'c', 'two');
  sim.delete('/api/v1/namespaces/b/configmaps/one');
  await eventually(() => expect(stored(running)).toEqual(['a/one', 'a/two']));
  expect(running.asked.filter((each) => /^GET \/api\/v1\/configmaps/.test(each))).toEqual([]);
  expect(running.asked.some((each) => each.startsWith('GET /api/v1/nodes'))).toBe(true);
  expect(running.host.progress()).toMatchObject({ resourcesDone: 2, resourcesTotal: 2 });
});

test('a list of one namespace is a difference to its own objects and touches no other', async () => {
  const { sim, options } = await cluster('a', 'b');
  const running = run([options], { ...only, namespaces: ['a', 'b'] });
  await ready(running);
  const before = state(running, 'b');
  sim.faults.set({ F6: { resource: 'configmaps', times: 1 } });
  sim.dropWatches();
  create(sim, 'a', 'two');
  create(sim, 'b', 'two');
  await eventually(() => expect(stored(running)).toEqual(['a/one', 'a/two', 'b/one', 'b/two']));
  const expired = ['a', 'b'].map((namespace) => state(running, namespace).status.restarts['expired'] ?? 0);
  expect(expired.sort()).toEqual([0, 1]);
  expect(state(running, 'b').handle).toEqual(before.handle);
});

test('R17, F27: a forbidden namespace parks itself alone; the others are served, and it is told of', async () => {
  const { sim, options } = await cluster('a', 'b');
  sim.faults.set({ F27: { except: ['a'] } });
  const running = run([options], { ...only, namespaces: ['a', 'b'] });
  await eventually(() => expect(running.host.progress()).toMatchObject({ ready: true, resourcesDone: 2 }));
  const { failing } = running.host.progress();
  expect(failing.toSorted((one, other) => one.resource.localeCompare(other.resource))).toMatchObject([
    { resource: 'configmaps', namespaces: ['b'], error: expect.stringContaining('forbidden') },
    { resource: 'nodes', error: expect.stringContaining('forbidden') },
  ]);
  expect(stored(running)).toEqual(['a/one']);
  expect(state(running, 'b')).toMatchObject({ synced: false, status: { phase: 'PARKED', refused: true } });
  await inLease(running, async (lease) => {
    expect(await requireReady([lease], ['configmaps'])).toEqual([{ key: 'configmaps', cluster: 'east' }]);
    await expect(requireReady([lease], ['nodes'])).rejects.toThrow('The API server refuses nodes to Portolan');
    expect((await readResourceProgress(lease)).find(({ key }) => key === 'configmaps')).toMatchObject({
      synced: false,
      objects: 1,
      status: { phase: 'PARKED', error: expect.stringMatching(/^b: .*forbidden/) },
      collections: [{ synced: true }, { synced: false }],
    });
  });

  sim.faults.clear('F27');
  sim.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  await eventually(() => expect(running.host.progress().failing).toEqual([]), 30_000);
  expect(stored(running)).toEqual(['a/one', 'b/one']);
});

test('a kind is not ready while a namespace is being listed for the first time', async () => {
  const { options } = await cluster('a', 'b');
  const held = Promise.withResolvers<void>();
  const running = run([options], { ...only, namespaces: ['a', 'b'], reflector: { streamingLists: false } });
  running.between = (path, ask) =>
    path.startsWith('/api/v1/namespaces/b/configmaps') ? held.promise.then(ask) : undefined;
  await eventually(() => expect(state(running, 'a').synced).toBe(true));
  await inLease(running, (lease) =>
    expect(requireReady([lease], ['configmaps'])).rejects.toThrow('has not been synced'),
  );
  held.resolve();
  await ready(running);
  await inLease(running, async (lease) => expect(await requireReady([lease], ['configmaps'])).toEqual([]));
});

test('other namespaces after a restart drop and add just those', async () => {
  const { sim, options } = await cluster('a', 'b', 'c');
  const file = join(temporaryDirectory('ingest'), 'store.db');
  const first = run([options], { ...only, file, namespaces: ['a', 'b'] });
  await ready(first);
  await first.close();
  const second = run([options], { ...only, file, namespaces: ['b', 'c'] });
  await ready(second);
  expect(stored(second)).toEqual(['b/one', 'c/one']);
  const lists = second.asked.filter((each) => /configmaps\?(limit|.*sendInitialEvents)/.test(each));
  expect(lists.every((each) => each.startsWith('GET /api/v1/namespaces/c/'))).toBe(true);
  await second.close();
  const all = run([options], { ...only, file });
  await ready(all);
  expect(stored(all).sort()).toEqual(['a/one', 'b/one', 'c/one']);
  await equal(sim, all);
  await all.close();
  const again = run([options], { ...only, file, namespaces: ['a'] });
  await ready(again);
  expect(stored(again)).toEqual(['a/one']);
});

test('a warm start serves what the allowed namespaces hold before anything is asked', async () => {
  const { sim, options } = await cluster('a', 'b');
  const file = join(temporaryDirectory('ingest'), 'store.db');
  sim.faults.set({ F27: { except: ['a'] } });
  const first = run([options], { ...only, file, namespaces: ['a', 'b'] });
  await eventually(() => expect(first.host.progress().ready).toBe(true));
  await first.close();
  await inLease(first, async (lease) => {
    expect(await requireReady([lease], ['configmaps'])).toEqual([{ key: 'configmaps', cluster: 'east' }]);
  });
});

test('F27: who may not list all of a resource is told of --namespaces', async () => {
  const { sim, options } = await cluster('a');
  sim.faults.set({ F27: {} });
  const running = run([options], only);
  await eventually(() => expect(running.host.progress().failing).toHaveLength(2));
  const errors = new Map(running.host.progress().failing.map(({ resource, error }) => [resource, error]));
  expect(errors.get('configmaps')).toContain('name them with --namespaces');
  expect(errors.get('nodes')).not.toContain('--namespaces');
});
