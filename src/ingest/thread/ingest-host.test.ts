import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../../sim/sim-cluster.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { configMap, equal, quick, ready, run, simulated } from '../../../test/kit/ingest-bench.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { storedObjects } from '../../../test/kit/reflector-bench.ts';
import { must } from '../../base/must.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import type { ConnectionAnswer } from '../../kube/client/connection.ts';

const widgetsKey = 'widgets.shop.example.com';
function widgetCrd(properties: object = { size: { type: 'integer' } }, more: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: widgetsKey },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
          },
          ...more,
        },
      ],
    },
  };
}
function widget(name: string): Record<string, unknown> {
  return {
    apiVersion: 'shop.example.com/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'default' },
    spec: { size: 1 },
  };
}

test('lists and watches everything that is served, and says so', async () => {
  const { sim, options } = await simulated({ objects: 'demo', pods: 120, nodes: 3 });
  const running = run([options]);
  await ready(running);
  await equal(sim, running);
  expect(storedObjects(running.file).length).toBeGreaterThan(200);
  expect(running.writer.states().map(({ handle }) => handle.key)).not.toContain('leases.coordination.k8s.io');
  sim.create(configMap('fresh'));
  sim.create(configMap('second'));
  sim.delete('/api/v1/namespaces/default/configmaps/second');
  await equal(sim, running);
  const types = new Set(running.messages.map(({ type }) => type));
  expect(types).toEqual(new Set(['wake', 'progress', 'catalog']));
  await eventually(() => {
    const last = running.messages.findLast(({ type }) => type === 'progress');
    expect(last).toMatchObject({ progress: { ready: true, objects: storedObjects(running.file).length } });
  });
});

test('discovery and OpenAPI in their older forms do as well', async () => {
  const { sim, options } = await simulated({
    features: { aggregatedDiscovery: false, openapiV3: false },
    crds: [widgetCrd()],
  });
  sim.create(widget('a'));
  const running = run([options]);
  await ready(running);
  await equal(sim, running);
  const described = running.writer.states().map((state) => state.described);
  expect(
    described.flatMap(({ diagnostics }) => diagnostics.filter(({ message }) => message.includes('no schema'))),
  ).toEqual([]);
});

test('F5, F13: what happened while the watches were cut and the history was compacted is caught up', async () => {
  const { sim, options } = await simulated();
  for (let index = 0; index < 20; index += 1) sim.create(configMap(`c${index}`));
  const running = run([options], {
    include: ['configmaps', 'namespaces'],
    reflector: { backoff: { firstMs: 20, capMs: 100, resetMs: 1000 } },
  });
  await ready(running);
  for (let round = 0; round < 3; round += 1) {
    sim.setAvailable(false);
    sim.dropWatches();
    sim.delete(`/api/v1/namespaces/default/configmaps/c${round}`);
    sim.delete(`/api/v1/namespaces/default/configmaps/c${round + 10}`);
    sim.create(configMap(`c${round + 10}`, { again: 'yes' }));
    sim.create(configMap(`new${round}`));
    sim.patch(`/api/v1/namespaces/default/configmaps/c${round + 5}`, { data: { round: String(round) } });
    sim.compact();
    sim.setAvailable(true);
    await equal(sim, running);
  }
  const state = must(
    running.writer.states().find(({ handle }) => handle.key === 'configmaps'),
    'config maps',
  );
  expect(state.status.restarts['expired']).toBeGreaterThanOrEqual(1);
});

test('F24: a server that is away for a while is waited for, what is stored stays', async () => {
  const { sim, options } = await simulated();
  const running = run([options], {
    include: ['configmaps', 'namespaces'],
    reflector: { backoff: { firstMs: 20, capMs: 100, resetMs: 1000 } },
  });
  sim.create(configMap('kept'));
  await ready(running);
  await equal(sim, running);
  sim.setAvailable(false);
  sim.dropWatches();
  await eventually(() =>
    expect(running.host.progress().failing.map(({ resource }) => resource)).toContain('configmaps'),
  );
  expect(storedObjects(running.file).some((line) => line.includes('/kept '))).toBe(true);
  sim.create(configMap('later'));
  sim.setAvailable(true);
  await equal(sim, running);
  await ready(running);
});

test('a cluster that is down at the start is reported, harms no other, and is taken up when it comes', async () => {
  const east = await simulated();
  const west = await simulated();
  west.sim.setAvailable(false);
  const running = run(
    [
      { ...east.options, name: 'east' },
      { ...west.options, name: 'west' },
    ],
    { include: ['namespaces'] },
  );
  await eventually(() => {
    expect(running.host.progress()).toMatchObject({
      ready: true,
      failing: [{ cluster: 'west', resource: 'everything', error: expect.stringContaining('503') }],
    });
  });
  west.sim.setAvailable(true);
  await ready(running);
  expect(storedObjects(running.file).filter((line) => line.startsWith('west/'))).toHaveLength(4);
});

test('a cluster that does not answer at all keeps nobody waiting for the catalog of the others', async () => {
  const east = await simulated();
  const silent = await startLoopbackServer(() => {});
  onTestFinished(() => silent.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const west = { name: 'west', kubeconfig: folder.write({ server: silent.url }) };
  const running = run([east.options, west], { include: ['namespaces'], supervisor: { ...quick, patienceMs: 300 } });
  await eventually(() =>
    expect(running.host.progress()).toMatchObject({ catalogKnown: true, ready: true, resourcesTotal: 1 }),
  );
  expect(silent.requests.length).toBeGreaterThan(0);
});

test('two clusters of one name: the second is refused, the first goes on', async () => {
  const { options } = await simulated();
  const running = run([options, options], { include: ['namespaces'] });
  await eventually(() => {
    expect(running.host.progress()).toMatchObject({
      ready: true,
      resourcesTotal: 1,
      failing: [{ resource: 'everything', error: 'Two clusters are called east: give each a name of its own.' }],
    });
  });
});

test('R22, F28: a CRD that is added, changed, removed and made again', async () => {
  const { sim, options } = await simulated();
  const running = run([options]);
  await ready(running);
  const state = () => running.writer.states().find(({ handle }) => handle.key === widgetsKey);
  running.messages.length = 0;

  sim.create(widgetCrd());
  await eventually(() => expect(state()).toMatchObject({ synced: true, objects: 0 }));
  await eventually(() => expect(running.messages.map(({ type }) => type)).toContain('catalog'));
  sim.create(widget('a'));
  await equal(sim, running);
  const before = must(state(), 'widgets').described;

  const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgetsKey}`;
  const change = (next: Record<string, unknown>): void => {
    sim.patch(crdPath, { spec: next['spec'] });
  };
  change(
    widgetCrd(
      { size: { type: 'integer' }, color: { type: 'string' } },
      { additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }] },
    ),
  );
  await eventually(() => {
    const { described } = must(state(), 'widgets');
    expect(described.shapeHash).not.toBe(before.shapeHash);
    expect(described.printerColumns.map(({ name }) => name)).toContain('Color');
  });
  sim.create(widget('b'));
  await equal(sim, running);

  sim.delete(crdPath);
  await eventually(() => expect(state()).toBeUndefined());
  await eventually(() =>
    expect(storedObjects(running.file).filter((line) => line.includes(`${widgetsKey}/default`))).toEqual([]),
  );
  // A round during the removal may report a problem of the document; a later round must end it.
  await eventually(() => expect(running.host.progress().failing).toEqual([]));

  sim.create(widgetCrd({ other: { type: 'boolean' } }));
  await eventually(() => expect(state()).toMatchObject({ synced: true }));
  sim.create(widget('a'));
  await equal(sim, running);
});

test('a problem of an OpenAPI document ends with the kinds that it concerned', async () => {
  const { sim, options } = await simulated();
  const running = run([options]);
  await ready(running);
  // The definition is read as it is a moment before the server knows the new kind, and the document is not served yet.
  running.between = (path) => {
    if (path.endsWith(`/customresourcedefinitions/${widgetsKey}`)) {
      return Promise.resolve(answer(404, '{"kind":"Status","code":404,"reason":"NotFound"}'));
    }
    return path.startsWith('/openapi/v3/apis/shop.example.com/') ? Promise.resolve(answer(503, '{}')) : undefined;
  };
  sim.create(widgetCrd());
  await eventually(() =>
    expect(running.host.progress().failing).toMatchObject([{ cluster: 'east', resource: 'shop.example.com/v1' }]),
  );
  sim.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgetsKey}`);
  await eventually(() => expect(running.host.progress().failing).toEqual([]));
});

test('a group that is away from the start is named in the progress, and its kinds come with it', async () => {
  const { sim, options } = await simulated({ crds: [widgetCrd()] });
  sim.create(widget('a'));
  sim.faults.set({ F30: { group: 'shop.example.com' } });
  const running = run([options], { supervisor: { ...quick, rediscoverMs: 100 } });
  await eventually(() =>
    expect(running.host.progress()).toMatchObject({
      ready: true,
      failing: [
        { cluster: 'east', resource: 'shop.example.com/v1', error: expect.stringContaining('v1.shop.example.com') },
      ],
    }),
  );
  sim.faults.clear();
  await eventually(() => expect(running.host.progress().failing).toEqual([]));
  await eventually(() => expect(running.writer.states().map(({ handle }) => handle.key)).toContain(widgetsKey));
  await equal(sim, running);
});

test('a kind that the server serves without an OpenAPI document is not failing', async () => {
  const { sim, options } = await simulated();
  const running = run([options], { include: ['configmaps'] });
  running.between = (path) => (path === '/openapi/v3' ? Promise.resolve(answer(200, '{"paths":{}}')) : undefined);
  sim.create(configMap('a'));
  await eventually(() =>
    expect(running.host.progress()).toMatchObject({ ready: true, failing: [], resourcesSynced: 1 }),
  );
});

test('a problem of an OpenAPI document ends when its kinds are described from it', async () => {
  const { options } = await simulated();
  const running = run([options], { include: ['configmaps'], supervisor: { ...quick, rediscoverMs: 100 } });
  running.between = (path) => (path === '/openapi/v3' ? Promise.resolve(answer(503, '{}')) : undefined);
  await eventually(() => expect(running.host.progress().failing).toMatchObject([{ resource: 'OpenAPI' }]));
  running.between = null;
  await eventually(() => expect(running.host.progress()).toMatchObject({ ready: true, failing: [] }));
});

function answer(status: number, body: string): ConnectionAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: Readable.from([Buffer.from(body)]) };
}

test('F30: a group that discovery does not show is kept until its server says 404 itself', async () => {
  const { sim, options } = await simulated({ crds: [widgetCrd()] });
  sim.create(widget('a'));
  const running = run([options], { supervisor: { ...quick, rediscoverMs: 20 } });
  await ready(running);
  let status = 503;
  let probes = 0;
  running.between = (path, ask) => {
    if (path.startsWith('/apis/shop.example.com/v1/widgets?limit=1')) {
      probes += 1;
      return Promise.resolve(answer(status, '{"kind":"Status","code":503}'));
    }
    if (path !== '/apis') return undefined;
    return ask().then(async ({ body }) => {
      const found = (await json(body)) as { items: { metadata: { name: string } }[] };
      const items = found.items.filter(({ metadata }) => metadata.name !== 'shop.example.com');
      return answer(200, JSON.stringify({ ...found, items }));
    });
  };
  await eventually(() => expect(probes).toBeGreaterThan(3));
  expect(running.writer.states().find(({ handle }) => handle.key === widgetsKey)).toMatchObject({ objects: 1 });
  status = 404;
  await eventually(() => {
    expect(running.writer.states().find(({ handle }) => handle.key === widgetsKey)).toBeUndefined();
  });
});

test('F27: what is forbidden is parked and reported; a change of access rules lets it in at once', async () => {
  const { sim, options } = await simulated();
  const running = run([options], {
    include: ['configmaps', 'clusterroles'],
    reflector: { parked: { firstMs: 1e9, capMs: 1e9, resetMs: 1e9 } },
  });
  let forbidden = true;
  running.between = (path) => {
    if (!forbidden || !path.startsWith('/api/v1/configmaps')) return undefined;
    return Promise.resolve(answer(403, '{"kind":"Status","code":403,"reason":"Forbidden"}'));
  };
  await eventually(() => {
    expect(running.host.progress()).toMatchObject({ ready: true, failing: [{ resource: 'configmaps' }] });
  });
  expect(running.writer.states().find(({ handle }) => handle.key === 'configmaps')?.status.phase).toBe('PARKED');
  forbidden = false;
  sim.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'more' },
    rules: [],
  });
  await ready(running);
});

test('F21: another cluster behind the same address makes what is stored go', async () => {
  const first = await simulated();
  first.sim.create(configMap('of-the-first'));
  const running = run([first.options], { include: ['configmaps'] });
  await ready(running);
  const port = Number(new URL(first.sim.url).port);
  await running.close();
  await first.sim.close();
  const sim = await startSimCluster({ port, random: () => 0.123 });
  onTestFinished(() => sim.close());
  const again = run([first.options], { file: running.file, include: ['configmaps'] });
  await ready(again);
  await equal(sim, again);
  expect(storedObjects(again.file).filter((line) => line.includes('of-the-first'))).toEqual([]);
});

test('F21: the same while it runs', async () => {
  const first = await simulated();
  first.sim.create(configMap('of-the-first'));
  const running = run([first.options], {
    include: ['configmaps'],
    supervisor: { ...quick, rediscoverMs: 50 },
    reflector: { backoff: { firstMs: 20, capMs: 100, resetMs: 1000 } },
  });
  await ready(running);
  const port = Number(new URL(first.sim.url).port);
  await first.sim.close();
  const sim = await startSimCluster({ port, random: () => 0.123 });
  onTestFinished(() => sim.close());
  await eventually(() =>
    expect(storedObjects(running.file).filter((line) => line.includes('of-the-first'))).toEqual([]),
  );
  await equal(sim, running);
});

test('warm start: no collection that can be watched is listed again, and what happened meanwhile arrives', async () => {
  const { sim, options } = await simulated({ crds: [widgetCrd()] });
  sim.create(configMap('before'));
  sim.create(widget('a'));
  const first = run([options]);
  await ready(first);
  await equal(sim, first);
  await first.close();
  sim.create(configMap('meanwhile'));
  sim.delete('/api/v1/namespaces/default/configmaps/before');
  const second = run([options], { file: first.file });
  await equal(sim, second);
  await ready(second);
  const collections = new Set(
    second.writer
      .states()
      .map(({ described: { resource } }) =>
        resource.group === ''
          ? `/api/${apiVersionOf(resource)}/${resource.plural}`
          : `/apis/${apiVersionOf(resource)}/${resource.plural}`,
      ),
  );
  const polled = second.writer.states().filter(({ described }) => !described.resource.verbs.includes('watch'));
  // Lists of one object check whether the storage went back.
  const listed = second.asked
    .filter((line) => !line.includes('watch=true') && !line.endsWith('?limit=1'))
    .map((line) => line.replace('GET ', '').split('?')[0] ?? '')
    .filter((path) => collections.has(path));
  expect(listed.filter((path) => !polled.some(({ handle }) => path.endsWith(`/${handle.key}`)))).toEqual([]);
});

test('Events are held to their bound', async () => {
  const { sim, options } = await simulated();
  const event = (index: number): Record<string, unknown> => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `e${index}`, namespace: 'default' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
    reason: 'Test',
    message: 'x',
    type: 'Normal',
  });
  for (let index = 0; index < 12; index += 1) sim.create(event(index));
  const running = run([options], {
    include: ['events'],
    events: { maxObjects: 5, maxAgeMs: 3_600_000 },
    retainEveryMs: 50,
  });
  await ready(running);
  expect(running.writer.states().map(({ handle }) => handle.key)).toEqual(['events']);
  await eventually(() => expect(running.writer.states()[0]?.objects).toBe(5));
});

test('R19: a close leaves no watch behind, and can be called twice', async () => {
  const { sim, options } = await simulated();
  const running = run([options]);
  await ready(running);
  expect(sim.openWatches).toBeGreaterThan(20);
  await Promise.all([running.close(), running.close()]);
  await eventually(() => expect(sim.openWatches).toBe(0));
  const posted = running.messages.length;
  sim.create(configMap('late'));
  expect(running.messages).toHaveLength(posted);
});

test('R15: collections of a server with streaming lists come as streams that go on as watches', async () => {
  const { sim, options } = await simulated({ features: { watchList: true } });
  const running = run([options]);
  await ready(running);
  await equal(sim, running);
  sim.create(configMap('later'));
  await equal(sim, running);
  const streams = running.asked.filter((request) => request.includes('sendInitialEvents=true'));
  expect(streams.length).toBeGreaterThan(5);
  for (const stream of streams) {
    const [collection = ''] = stream.split('?');
    expect(running.asked.filter((request) => request.startsWith(`${collection}?`))).toEqual([stream]);
  }
});

test('F18: a server without streaming lists is asked for one once, and gives the same tables', async () => {
  const { sim, options } = await simulated({ features: { watchList: false } });
  const running = run([options]);
  await ready(running);
  await equal(sim, running);
  expect(running.asked.filter((request) => request.includes('sendInitialEvents=true'))).toHaveLength(1);
});

test('streaming lists can be switched off', async () => {
  const { sim, options } = await simulated({ features: { watchList: true } });
  const running = run([options], { reflector: { streamingLists: false } });
  await ready(running);
  await equal(sim, running);
  expect(running.asked.filter((request) => request.includes('sendInitialEvents=true'))).toEqual([]);
});

test('F20, R16: a storage that was restored from a backup is noticed at the next round, though watches say nothing', async () => {
  const { sim, options } = await simulated({ features: { bookmarkMs: 600_000 } });
  const running = run([options], {
    supervisor: { ...quick, rediscoverMs: 100 },
    reflector: { backoff: { firstMs: 20, capMs: 100, resetMs: 1000 } },
  });
  await ready(running);
  sim.create(configMap('kept'));
  const backup = sim.save();
  sim.delete('/api/v1/namespaces/default/configmaps/kept');
  for (let index = 0; index < 20; index += 1) sim.create(configMap(`lost${index}`));
  await equal(sim, running);
  sim.restore(backup);
  await equal(sim, running);
  expect(storedObjects(running.file).filter((line) => line.includes('/configmaps/default/kept '))).toHaveLength(1);
  const count = (): number =>
    running.asked.filter((line) => line.includes('/configmaps?') && !line.endsWith('limit=1')).length;
  const before = count();
  const rounds = (): number => running.asked.filter((line) => line.endsWith('/namespaces?limit=1')).length;
  const seen = rounds();
  await eventually(() => expect(rounds()).toBeGreaterThan(seen + 2));
  expect(count()).toBe(before);
});
