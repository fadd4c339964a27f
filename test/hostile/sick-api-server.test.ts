/**
 * An API server with twelve sick groups, each in its own way: the other kinds do not wait, each sick one says what is wrong, and is right
 * again soon after its recovery, although what hung is never answered.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/log.ts';
import { startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { type SimCluster, startSimCluster } from '../../src/sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { type SickWay, sickGroup, sickWays, startSickProxy } from '../kit/sick-proxy.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

/** Milliseconds for a change of a sound kind to be served: normally less than a tenth of it. */
const freshMs = 2000;
/** Milliseconds for a sick kind to be right after its recovery: normally less than half of it. */
const recoveredMs = 20_000;

/** The ways in which the kind itself is served, late or by lists. */
const served: readonly SickWay[] = ['hangs-in-discovery', 'is-slow', 'loses-version', 'lacks-uids'];
/** The ways that only the discovery of the group shows; from the start also `is-away`, because its kinds are not known. */
const shownByGroup: readonly SickWay[] = ['hangs-in-discovery'];

interface Row {
  readonly key: string;
  readonly objects: number;
  readonly error: string | null;
}

function crd(group: string): Record<string, unknown> {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
}

const thing = (way: SickWay, name: string): Record<string, unknown> => ({
  apiVersion: `${sickGroup(way)}/v1`,
  kind: 'Thing',
  metadata: { name },
});

const configMap = (name: string): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

async function serving(illFromTheStart: boolean) {
  const sim: SimCluster = await startSimCluster({ features: { aggregatedDiscovery: false, bookmarkMs: 500 } });
  onTestFinished(() => sim.close());
  for (const way of sickWays) {
    sim.create(crd(sickGroup(way)));
    sim.create(thing(way, 'before'));
  }
  const proxy = await startSickProxy(sim.url);
  onTestFinished(() => proxy.server.close());
  if (illFromTheStart) proxy.fallIll();
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const kubeconfig = folder.file('config', sim.kubeconfig().replaceAll(sim.url, proxy.server.url));
  const flags = { port: '0', logLevel: 'silent', data: join(temporaryDirectory('sick'), 'store.db') };
  const gateway = await startGateway(
    loadConfig({ flags, environment: {} }),
    [{ name: 'east', kubeconfig }],
    silentLogger,
  );
  onTestFinished(() => gateway.close());
  await gateway.synced;
  const rows = async (): Promise<ReadonlyMap<string, Row>> => {
    const found = await data<{ resources: readonly Row[] }>(gateway.url, '{ resources { key objects error } }');
    return new Map(found.resources.map((row) => [row.key, row]));
  };
  const row = async (way: SickWay): Promise<Row | undefined> => (await rows()).get(`things.${sickGroup(way)}`);
  let made = 0;
  /** A change of a sound kind is served at once. */
  const soundIsFresh = async (): Promise<void> => {
    const before = (await rows()).get('configmaps')?.objects ?? 0;
    made += 1;
    sim.create(configMap(`c${made}`));
    await eventually(async () => expect((await rows()).get('configmaps')?.objects).toBe(before + 1), freshMs);
  };
  const failing = async (): Promise<string> => (await fetch(new URL('/readyz', gateway.url))).text();
  return { sim, proxy, row, soundIsFresh, failing };
}

/** Whoever is ill says so, while the sound kinds stay fresh. */
async function illnessIsTold(
  { row, soundIsFresh, failing }: Awaited<ReturnType<typeof serving>>,
  byGroup = shownByGroup,
): Promise<void> {
  for (const way of sickWays) {
    if (served.includes(way) && !byGroup.includes(way)) continue;
    await eventually(
      async () => {
        await soundIsFresh();
        const group = sickGroup(way);
        expect(await failing()).toContain(group);
        if (!byGroup.includes(way)) expect((await row(way))?.error).toContain(group);
      },
      60_000,
      500,
    );
  }
}

async function recovers({ proxy, row }: Awaited<ReturnType<typeof serving>>, objects: number): Promise<void> {
  proxy.recover();
  await eventually(async () => {
    const wrong: unknown[] = [];
    for (const way of sickWays) {
      const found = await row(way);
      if (found?.objects !== objects || found.error !== null) wrong.push([way, found]);
    }
    expect(wrong).toEqual([]);
  }, recoveredMs);
}

test('groups that fall ill one and all: the others stay fresh, each says what is wrong, and is right soon after its recovery', {
  timeout: 180_000,
}, async () => {
  const bench = await serving(false);
  bench.proxy.fallIll();
  for (const way of sickWays) bench.sim.create(thing(way, 'meanwhile'));
  // A new definition causes discovery, while a group hangs in it.
  bench.sim.create(crd('sound.example.com'));
  await illnessIsTold(bench);
  // Where lists or events still come, the kind is kept up to date.
  for (const way of served) await eventually(async () => expect((await bench.row(way))?.objects).toBe(2));
  await recovers(bench, 2);
});

test('groups that are ill from the start: the others sync, each says what is wrong, and its kind comes with its recovery', {
  timeout: 180_000,
}, async () => {
  const bench = await serving(true);
  await illnessIsTold(bench, [...shownByGroup, 'is-away']);
  await recovers(bench, 1);
});
