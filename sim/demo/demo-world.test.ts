import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { must } from '../../src/base/must.ts';
import { SimClient } from '../../test/kit/sim-client.ts';
import { builtinResources } from '../builtin/builtin-resources.ts';
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import { pruneUnknown } from '../schema/prune.ts';
import { validateValue } from '../schema/validate.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';
import { spawnSimCluster } from '../spawn-sim.ts';

/** A fast clock: every sleep ends in the next turn of the event loop and advances the clock. */
function fastClock(): Clock {
  let time = Date.UTC(2026, 0, 15, 12);
  return {
    now: () => time,
    monotonic: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        setImmediate(() => {
          if (signal?.aborted) return reject(signal.reason);
          time += ms;
          resolve();
        });
      }),
  };
}

const frozen: Clock = {
  now: () => Date.UTC(2026, 0, 15, 12),
  monotonic: () => 0,
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
};

let cluster: SimCluster | undefined;
afterEach(async () => {
  await cluster?.close();
});

const demo = async (clock: Clock, churn = false, pods = 300): Promise<SimCluster> => {
  cluster = await startSimCluster({ objects: 'demo', pods, nodes: 8, churn, clock });
  return cluster;
};
const uid = (object: JsonObject | undefined): string => asString(at(object, 'metadata', 'uid'));
const owned = (list: JsonObject[], owner: JsonObject | undefined): JsonObject[] =>
  list.filter((item) =>
    asArray(at(item, 'metadata', 'ownerReferences')).some((ref) => asObject(ref).uid === uid(owner)),
  );

/** Waits for a condition under the fast clock. */
async function eventually(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 5000; turns++) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('the condition was never met');
}

test('a Deployment that goes back to an earlier template has a new revision', async () => {
  const { create, patch, get, list } = await demo(fastClock(), false, 50);
  const path = '/apis/apps/v1/namespaces/default/deployments/turned';
  const containers = (image: string) => [{ name: 'app', image }];
  const labels = { app: 'turned' };
  create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'turned', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: containers('a') } },
    },
  });
  const revisionOf = (object: JsonObject | undefined) =>
    at(object, 'metadata', 'annotations', 'deployment.kubernetes.io/revision');
  const revisions = () =>
    owned(list('/apis/apps/v1/namespaces/default/replicasets'), get(path)).map((set) => [
      at(asObject(asArray(at(set, 'spec', 'template', 'spec', 'containers'))[0]), 'image'),
      revisionOf(set),
    ]);
  for (const [image, revision] of [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ] as const) {
    patch(path, { spec: { template: { spec: { containers: containers(image) } } } });
    await eventually(() => revisionOf(get(path)) === revision);
    expect(revisions()).toContainEqual([image, revision]);
  }
});

describe('the demo world', () => {
  test('has what a cluster has, owned and placed as it should be', async () => {
    const sim = await demo(frozen);
    const pods = sim.list('/api/v1/pods');
    expect(pods.length).toBeGreaterThanOrEqual(300);
    expect(pods.length).toBeLessThan(320);
    expect(sim.list('/api/v1/nodes')).toHaveLength(8);
    const uids = new Set<string>();
    for (const path of ['apps/v1/replicasets', 'apps/v1/statefulsets', 'apps/v1/daemonsets', 'batch/v1/jobs']) {
      for (const item of sim.list(`/apis/${path}`)) uids.add(uid(item));
    }
    const nodes = new Set(sim.list('/api/v1/nodes').map((node) => at(node, 'metadata', 'name')));
    for (const pod of pods) {
      const [reference] = asArray(at(pod, 'metadata', 'ownerReferences')).filter(isObject);
      expect(uids.has(asString(reference?.uid))).toBe(true);
      const node = at(pod, 'spec', 'nodeName');
      if (node !== undefined) expect(nodes.has(node)).toBe(true);
    }
    const phases = new Set(pods.map((pod) => at(pod, 'status', 'phase')));
    expect(phases.size).toBeGreaterThanOrEqual(3);
    const foo = sim.get('/apis/samplecontroller.k8s.io/v1alpha1/namespaces/samples/foos/example-foo-1');
    expect(owned(sim.list('/apis/apps/v1/namespaces/samples/deployments'), foo)).toHaveLength(1);
    const [manager] = sim.list('/apis/cloud.portolan.example/v1/cloudmanagers');
    expect(owned(sim.list('/apis/apps/v1/namespaces/cloud/deployments'), manager)).toHaveLength(2);
    expect(owned(sim.list('/apis/apps/v1/namespaces/cloud/statefulsets'), manager)).toHaveLength(1);
    expect(owned(sim.list('/api/v1/namespaces/cloud/secrets'), manager)).toHaveLength(1);
    for (const path of ['cache.portolan.example/v1/redises', 'db.portolan.example/v1/mysqls']) {
      const instances = sim.list(`/apis/${path}`);
      expect(instances.length).toBeGreaterThan(5);
      for (const instance of instances) expect(owned(sim.list('/apis/apps/v1/statefulsets'), instance)).toHaveLength(1);
    }
    const projects = new Set(
      sim.list('/apis/platform.portolan.example/v1/projects').map((item) => at(item, 'metadata', 'name')),
    );
    const plugins = sim.list('/apis/platform.portolan.example/v1/plugins');
    expect(plugins.length).toBeGreaterThan(5);
    for (const plugin of plugins) expect(projects.has(at(plugin, 'spec', 'projectRef', 'name'))).toBe(true);
  });

  test('is the same for the same seed and clock', async () => {
    const first = await demo(frozen);
    const text = JSON.stringify(first.list('/api/v1/pods'));
    await first.close();
    const second = await demo(frozen);
    expect(JSON.stringify(second.list('/api/v1/pods'))).toBe(text);
  });

  test('holds only objects that their own schemas accept and keep whole', async () => {
    const sim = await demo(frozen);
    for (const resource of builtinResources()) {
      if (resource.bare || !resource.verbs.includes('watch')) continue;
      const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
      for (const object of sim.list(`${root}/${resource.version}/${resource.plural}`)) {
        const types = resource.schema;
        const causes = validateValue(object, types.root, types, '').filter(
          (cause) => cause.reason !== 'FieldValueRequired' && !cause.message.includes('"null"'),
        );
        expect(causes, `${resource.kind} ${asString(at(object, 'metadata', 'name'))}`).toEqual([]);
        expect(pruneUnknown(object, types.root, types)).toEqual(object);
      }
    }
    const client = new SimClient(sim.url);
    for (const path of [
      'samplecontroller.k8s.io/v1alpha1/foos',
      'cloud.portolan.example/v1/cloudmanagers',
      'cache.portolan.example/v1/redises',
      'db.portolan.example/v1/mysqls',
      'platform.portolan.example/v1/projects',
      'platform.portolan.example/v1/plugins',
      'platform.portolan.example/v1/templates',
    ]) {
      for (const object of sim.list(`/apis/${path}`)) {
        const [group, version, plural] = path.split('/');
        const namespace = at(object, 'metadata', 'namespace');
        const place = namespace === undefined ? '' : `/namespaces/${asString(namespace)}`;
        const answer = await client.put(
          `/apis/${group}/${version}${place}/${plural}/${asString(at(object, 'metadata', 'name'))}?dryRun=All`,
          object,
        );
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        expect(answer.body.spec).toEqual(object.spec);
      }
    }
  });

  test('answers to a scaled Deployment with Pods that come to run, and to fewer with less', async () => {
    const sim = await demo(fastClock());
    const path = '/apis/apps/v1/namespaces/samples/deployments/example-foo-1';
    const foo = '/apis/samplecontroller.k8s.io/v1alpha1/namespaces/samples/foos/example-foo-1';
    const pods = (): JsonObject[] =>
      sim
        .list('/api/v1/namespaces/samples/pods')
        .filter((pod) => at(pod, 'metadata', 'labels', 'controller') === 'example-foo-1');
    const settledAt = (count: number): boolean =>
      pods().length === count && at(sim.get(path), 'status', 'replicas') === count;
    sim.patch(foo, { spec: { replicas: 6 } });
    await eventually(
      () =>
        settledAt(6) &&
        pods().every((pod) => at(pod, 'spec', 'nodeName') !== undefined && at(pod, 'status', 'podIP') !== undefined),
    );
    sim.patch(foo, { spec: { replicas: 1 } });
    await eventually(() => settledAt(1));
    sim.delete(foo);
    await eventually(() => pods().length === 0 && sim.get(path) === undefined);
  });

  test('rolls a new template out', async () => {
    const sim = await demo(fastClock());
    const path = '/apis/apps/v1/namespaces/samples/deployments/example-foo-2';
    const containers = asArray(at(sim.get(path), 'spec', 'template', 'spec', 'containers')).filter(isObject);
    const image = 'registry.example/library/nginx:1.28.0';
    sim.patch(path, {
      spec: { template: { spec: { containers: containers.map((item, i) => (i === 0 ? { ...item, image } : item)) } } },
    });
    const images = (): unknown[] =>
      sim
        .list('/api/v1/namespaces/samples/pods')
        .filter((pod) => at(pod, 'metadata', 'labels', 'controller') === 'example-foo-2')
        .map((pod) => asObject(asArray(at(pod, 'spec', 'containers'))[0]).image);
    const wanted = Number(at(sim.get(path), 'spec', 'replicas'));
    await eventually(() => images().length === wanted && images().every((item) => item === image));
  });

  const phaseOf = (sim: SimCluster, name: string): unknown =>
    at(sim.get(`/apis/cloud.portolan.example/v1/namespaces/cloud/cloudmanagers/${name}`), 'status', 'phase');

  test('builds a new CloudManager with the names of its spec, and reports its phase', async () => {
    const sim = await demo(fastClock());
    const part = (name: string) => ({ deployment: { name, image: `registry.example/cloud/${name}:1.0.0` } });
    sim.create({
      apiVersion: 'cloud.portolan.example/v1',
      kind: 'CloudManager',
      metadata: { name: 'new', namespace: 'cloud' },
      spec: {
        front: part('door'),
        identity: part('people'),
        db: { statefulSet: { name: 'data', image: 'postgres:17', storage: { class: 'fast', size: '2Gi' } } },
      },
    });
    await eventually(() => typeof phaseOf(sim, 'new') === 'string');
    expect(sim.get('/api/v1/namespaces/cloud/secrets/new-credentials')).toBeDefined();
    for (const path of ['deployments/door', 'deployments/people', 'statefulsets/data'])
      expect(sim.get(`/apis/apps/v1/namespaces/cloud/${path}`)).toBeDefined();
    await eventually(() =>
      sim.list('/api/v1/namespaces/cloud/pods').some((pod) => at(pod, 'metadata', 'name') === 'data-0'),
    );
    const claim = sim.get('/api/v1/namespaces/cloud/persistentvolumeclaims/data-data-0');
    expect(at(claim, 'spec')).toMatchObject({ storageClassName: 'fast', resources: { requests: { storage: '2Gi' } } });
  });

  test('has one broken CloudManager, and another image mends it', async () => {
    const sim = await demo(fastClock());
    const path = '/apis/cloud.portolan.example/v1/namespaces/cloud/cloudmanagers/us-east';
    const phases = sim.list('/apis/cloud.portolan.example/v1/cloudmanagers').map((item) => at(item, 'status', 'phase'));
    expect(phases.toSorted()).toEqual(['Provisioning', 'Running', 'Running', 'Running', 'Running', 'Running']);
    expect(phaseOf(sim, 'us-east')).toBe('Provisioning');
    expect(at(sim.get(path), 'status', 'message')).toBe('0 of 2 Pods of Deployment us-east-identity are ready');
    const identity = { deployment: { name: 'us-east-identity', image: 'registry.example/cloud/identity:1.10.1' } };
    sim.patch(path, { spec: { identity } });
    const images = (): unknown[] =>
      sim
        .list('/api/v1/namespaces/cloud/pods')
        .filter((pod) => asString(at(pod, 'metadata', 'name')).startsWith('us-east-identity'))
        .map((pod) => asObject(asArray(at(pod, 'spec', 'containers'))[0]).image);
    await eventually(() => images().length === 2 && images().every((image) => image === identity.deployment.image));
  });

  test('builds a new instance of the app store, and scales it', async () => {
    const sim = await demo(fastClock());
    const metadata = { namespace: 'staging', name: 'new' };
    sim.create({
      apiVersion: 'cache.portolan.example/v1',
      kind: 'Redis',
      metadata,
      spec: { version: '8.0.2', memory: '1Gi' },
    });
    const redis = '/apis/cache.portolan.example/v1/namespaces/staging/redises/new';
    const servers = (): unknown => at(sim.get('/apis/apps/v1/namespaces/staging/statefulsets/new'), 'spec', 'replicas');
    await eventually(() => servers() === 1);
    sim.patch(redis, { spec: { replicas: 0 } });
    await eventually(() => servers() === 0 && at(sim.get(redis), 'status', 'phase') === 'Stopped');
  });

  test('keeps moving under churn without growing out of bounds', async () => {
    const sim = await demo(fastClock(), true);
    const version = (): number =>
      Math.max(...sim.list('/api/v1/events').map((event) => Number(at(event, 'metadata', 'resourceVersion'))));
    const before = version();
    const pods = sim.list('/api/v1/pods').length;
    await eventually(() => version() > before + 1500);
    expect(sim.list('/api/v1/events').length).toBeLessThanOrEqual(2000);
    expect(sim.list('/api/v1/pods').length).toBeLessThan(pods * 1.5);
  });
});

test('the time of the world passes as much faster as it is told', async () => {
  const clock = fastClock();
  cluster = await startSimCluster({ objects: 'demo', pods: 60, nodes: 4, churn: true, clock, worldSpeed: 60 });
  const begin = clock.now();
  const renewed = (): number =>
    Math.max(
      ...must(cluster, 'a cluster')
        .list('/apis/coordination.k8s.io/v1/leases')
        .map((lease) => Date.parse(asString(at(lease, 'spec', 'renewTime')))),
    );
  await eventually(() => renewed() > begin + 60_000);
  expect(renewed() - begin).toBeLessThanOrEqual((clock.now() - begin) * 60);
});

describe('a spawned cluster', () => {
  test('serves from its own thread and ends with it', async () => {
    const spawned = await spawnSimCluster({ objects: 'demo', pods: 60, nodes: 4 });
    try {
      const { body } = await new SimClient(spawned.url).get('/api/v1/pods?limit=5');
      expect(asArray(body.items)).toHaveLength(5);
      expect(spawned.kubeconfig).toContain(spawned.url);
    } finally {
      await spawned.close();
      await spawned.close();
    }
    await expect(fetch(spawned.url)).rejects.toThrow();
  });

  test('says so when it cannot listen', async () => {
    const sim = await startSimCluster();
    cluster = sim;
    const port = Number(new URL(sim.url).port);
    await expect(spawnSimCluster({ port })).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});
