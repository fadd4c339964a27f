/** A gateway behind a proxy in which twelve API groups are ill, each in its own way, and what it says of them. */
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { eventually } from './eventually.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { data as answer } from './graphql-client.ts';
import { kubeconfigFolder } from './kubeconfig-file.ts';
import type { ProxiedServer } from './recording-proxy.ts';
import { type SickWay, sickGroup, sickWays, startSickProxy } from './sick-proxy.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Milliseconds for a change of a sound kind to be served: normally less than a tenth of it. */
const freshMs = 2000;
/** Milliseconds for a sick kind to be right after its recovery. */
const recoveredMs = 10_000;

/** The ways in which the kind itself is served, late or by lists. */
const served: readonly SickWay[] = ['hangs-in-discovery', 'is-slow', 'loses-version', 'lacks-uids'];
/** The ways that only the discovery of the group shows; from the start also `is-away`, because its kinds are not known. */
const shownByGroup: readonly SickWay[] = ['hangs-in-discovery'];

interface Row {
  readonly key: string;
  readonly objects: number;
  readonly synced: boolean;
  readonly error: string | null;
}

/** The cluster behind the proxy. */
export interface SickCluster {
  readonly target: ProxiedServer;
  /** Creates objects; of definitions when their kinds are served. */
  create(manifests: readonly Record<string, unknown>[]): Promise<void>;
}

interface SickGateway {
  fallIll(): void;
  recover(): void;
  row(way: SickWay): Promise<Row | undefined>;
  /** A change of a sound kind is served at once. */
  soundIsFresh(): Promise<void>;
  /** The text of /readyz. */
  failing(): Promise<string>;
  /** All that was logged, as one text. */
  log(): string;
}

function definition(group: string): Record<string, unknown> {
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

/** Begins with one object of each sick kind. */
async function sickGateway(cluster: SickCluster, illFromTheStart: boolean): Promise<SickGateway> {
  await cluster.create(sickWays.map((way) => definition(sickGroup(way))));
  await cluster.create(sickWays.map((way) => thing(way, 'before')));
  const proxy = await startSickProxy(cluster.target);
  onTestFinished(() => proxy.server.close());
  if (illFromTheStart) proxy.fallIll();
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const context = { cluster: 'east', user: 'proxy' };
  const kubeconfig = folder.file(
    'config',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'east',
      clusters: [{ name: 'east', cluster: { server: proxy.server.url } }],
      users: [{ name: 'proxy', user: {} }],
      contexts: [{ name: 'east', context }],
    }),
  );
  // A process of its own, because the ingest thread writes its log itself.
  const data = join(temporaryDirectory('sick'), 'store.db');
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--data', data]);
  onTestFinished(() => gateway.close());
  const rows = async (): Promise<ReadonlyMap<string, Row>> => {
    const found = await answer<{ resources: readonly Row[] }>(
      gateway.url,
      '{ resources { key objects synced error } }',
    );
    return new Map(found.resources.map((row) => [row.key, row]));
  };
  await eventually(async () => expect((await rows()).get('configmaps')?.synced).toBe(true), 30_000);
  let made = 0;
  return {
    fallIll: () => proxy.fallIll(),
    recover: () => proxy.recover(),
    row: async (way) => (await rows()).get(`things.${sickGroup(way)}`),
    async soundIsFresh() {
      const before = (await rows()).get('configmaps')?.objects ?? 0;
      made += 1;
      await cluster.create([configMap(`c${made}`)]);
      await eventually(async () => expect((await rows()).get('configmaps')?.objects).toBe(before + 1), freshMs);
    },
    failing: async () => (await fetch(new URL('/readyz', gateway.url))).text(),
    log: () => gateway.log.map((entry) => JSON.stringify(entry)).join('\n'),
  };
}

/** Whoever is ill says so in `resources`, /readyz and the log, while the sound kinds stay fresh. */
async function illnessIsTold(
  { row, soundIsFresh, failing, log }: SickGateway,
  byGroup: readonly SickWay[] = shownByGroup,
): Promise<void> {
  for (const way of sickWays) {
    if (served.includes(way) && !byGroup.includes(way)) continue;
    await eventually(
      async () => {
        await soundIsFresh();
        const group = sickGroup(way);
        expect(await failing()).toContain(group);
        expect(log()).toContain(group);
        if (!byGroup.includes(way)) expect((await row(way))?.error).toContain(group);
      },
      60_000,
      500,
    );
  }
}

async function recovers({ recover, row }: SickGateway, objects: number): Promise<void> {
  recover();
  await eventually(async () => {
    const wrong: unknown[] = [];
    for (const way of sickWays) {
      const found = await row(way);
      if (found?.objects !== objects || found.error !== null) wrong.push([way, found]);
    }
    expect(wrong).toEqual([]);
  }, recoveredMs);
}

/** All groups fall ill one and all, and recover. */
export async function fallsIllAndRecovers(cluster: SickCluster): Promise<void> {
  const gateway = await sickGateway(cluster, false);
  gateway.fallIll();
  await cluster.create(sickWays.map((way) => thing(way, 'meanwhile')));
  // A new definition causes discovery, while a group hangs in it.
  await cluster.create([definition('sound.example.com')]);
  await illnessIsTold(gateway);
  // Where lists or events still come, the kind is kept up to date.
  for (const way of served) await eventually(async () => expect((await gateway.row(way))?.objects).toBe(2));
  await recovers(gateway, 2);
}

/** All groups are ill when the gateway starts, and recover. */
export async function isIllFromTheStart(cluster: SickCluster): Promise<void> {
  const gateway = await sickGateway(cluster, true);
  await illnessIsTold(gateway, [...shownByGroup, 'is-away']);
  await recovers(gateway, 1);
}
