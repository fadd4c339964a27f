/**
 * The demo world makes sense, at the start and after half an hour of churn: see test/kit/world-invariants.ts. `PORTOLAN_WORLD_SEEDS=20` plays
 * that many seeds, and `PORTOLAN_SEED=17` one of them.
 */
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { randomRuns } from '../../test/kit/random-runs.ts';
import { type WorldObject, worldProblems } from '../../test/kit/world-invariants.ts';
import { GarbageCollector } from '../api/garbage-collector.ts';
import { ObjectApi } from '../api/object-api.ts';
import { builtinResources } from '../builtin/builtin-resources.ts';
import { CrdManager } from '../crd/crd-manager.ts';
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import { ObjectStore } from '../objects/object-store.ts';
import { seededRandom } from '../objects/seeded-random.ts';
import { ResourceRegistry } from '../resources/resource-registry.ts';
import { danglingTargets } from './demo-sandbox.ts';
import { type AssembledWorld, assembleDemoWorld } from './demo-world.ts';

const turnMs = 100;
const minute = 60_000;

interface Playing extends AssembledWorld {
  /** Lets time pass, with churn or without. */
  pass(milliseconds: number, churn: boolean): Promise<void>;
  objects(): WorldObject[];
}

function play(seed: number, pods: number): Playing {
  let time = Date.UTC(2026, 0, 15, 12);
  const clock: Clock = { now: () => time, monotonic: () => time, sleep: () => Promise.reject(new Error('not used')) };
  const random = seededRandom(seed);
  const store = new ObjectStore({ historyEvents: 100 });
  const registry = new ResourceRegistry();
  registry.replace([], builtinResources());
  const api = new ObjectApi({ store, clock, random, gracefulPods: true });
  new CrdManager(api, registry);
  new GarbageCollector(api, registry);
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    const resource = registry.findPlural('', 'namespaces');
    if (resource) api.create(resource, '', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  const failures: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void failures.push(fields) };
  const assembled = assembleDemoWorld({ api, registry, clock, random, log, pods, nodes: 12 });
  return {
    ...assembled,
    pass: async (milliseconds, churn) => {
      for (const end = time + milliseconds; time < end; ) {
        time += turnMs;
        if (churn) for (const step of assembled.churn) step.step();
        assembled.loop.turn();
        // The garbage collector works in microtasks.
        await null;
      }
      expect(failures).toEqual([]);
    },
    objects: () =>
      store
        .storages()
        .flatMap((storage) =>
          store.list(storage).map(({ namespace, name, uid, object }) => ({ storage, namespace, name, uid, object })),
        ),
  };
}

const given = process.env['PORTOLAN_SEED'];
const count = Number(process.env['PORTOLAN_WORLD_SEEDS'] ?? randomRuns(1, 2));
const seeds = given === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(given)];

describe.each(seeds)('the demo world of seed %i', (seed) => {
  test('makes sense at the start and after half an hour of churn', { timeout: 120_000 }, async () => {
    const world = play(seed, 400);
    expect(worldProblems(world.objects(), danglingTargets)).toEqual([]);
    const uids = new Set(world.objects().map(({ uid }) => uid));
    const events = world.objects().filter(({ storage }) => storage === 'events');
    expect(events.length).toBeGreaterThan(20);
    for (const { object } of events) expect(uids).toContain(asString(at(object, 'involvedObject', 'uid')));
    for (const minutes of [5, 25]) {
      await world.pass(minutes * minute, true);
      await world.pass(5 * minute, false);
      expect(worldProblems(world.objects(), danglingTargets)).toEqual([]);
    }
    await world.stop();
  });
});

test('a wrong object is found', async () => {
  const world = play(1, 200);
  const pod = world.world.list('pods').find(({ object }) => at(object, 'status', 'podIP') !== undefined);
  if (!pod) throw new Error('there is a pod');
  const change = (fields: JsonObject): void => {
    const changed = world
      .objects()
      .map((item) => (item.uid === pod.uid ? { ...item, object: { ...item.object, ...fields } } : item));
    expect(worldProblems(changed, danglingTargets)).not.toEqual([]);
  };
  const { spec, metadata, status } = pod.object;
  change({ spec: { ...asObject(spec), nodeName: 'nowhere' } });
  change({ spec: { ...asObject(spec), serviceAccountName: 'nobody' } });
  change({ metadata: { ...asObject(metadata), labels: {} } });
  change({ metadata: { ...asObject(metadata), ownerReferences: [{ kind: 'ReplicaSet', name: 'gone', uid: 'gone' }] } });
  change({ status: { ...asObject(status), conditions: [] } });
  expect(worldProblems(world.objects(), [])).not.toEqual([]);
  await world.stop();
});
