/**
 * What the tests of the fault catalogue share: a simulated cluster over real HTTP, ingest with its whole supervision in this thread,
 * and a real store file.
 *
 * `settled` waits for the invariants: I1, the tables equal the server's set by namespace, name, uid and resourceVersion; I2, the
 * entries of the change log after the first sync, each fitting what is held, lead to the table. While anything waits here, I3 is
 * held too: a stored resourceVersion goes back only where a test says that the server's did.
 */

import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { SimCluster, SimOptions } from '../../sim/sim-cluster.ts';
import { type Random, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { compareResourceVersions } from '../../src/catalog/resources/resource-version.ts';
import { IngestHost } from '../../src/ingest/thread/ingest-host.ts';
import type { IngestOptions } from '../../src/ingest/thread/ingest-options.ts';
import { type Connection, connect } from '../../src/kube/client/connection.ts';
import { resourcePath } from '../../src/kube/http/resource-path.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import type { ResourceState } from '../../src/store/types/progress.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { eventually } from '../kit/eventually.ts';
import { type FaultyCluster, startFaultyCluster } from '../kit/faults/faulty-cluster.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { storedObjects } from '../kit/reflector-bench.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

export const configMaps = '/api/v1/namespaces/default/configmaps';

/** Waits that a test can afford. Silence is believed after `idleMs` and a second look. */
export const quick = {
  backoff: { firstMs: 10, capMs: 80, resetMs: 600_000 },
  parked: { firstMs: 20, capMs: 80, resetMs: 600_000 },
} as const;

/** Lists come in pages: the faults of lists are what most of these tests are about. */
const paged = { streamingLists: false };

export interface FaultBenchOptions {
  readonly sim?: SimOptions;
  /** Default: ConfigMaps and Namespaces. */
  readonly include?: readonly string[];
  readonly reflector?: IngestOptions['reflector'];
  readonly supervisor?: IngestOptions['supervisor'];
  readonly random?: Random;
  /** How the server's versions look from outside, where a fault changes them. */
  readonly shown?: (version: string) => string;
  /** ConfigMaps `c0`, `c1`, … that are there from the start. */
  readonly objects?: number;
}

export interface FaultBench {
  readonly sim: FaultyCluster;
  readonly host: IngestHost;
  readonly writer: StoreWriter;
  readonly file: string;
  /** Lists and watches of ConfigMaps as they were asked for, oldest first. */
  readonly asked: URLSearchParams[];
  create(name: string, data?: Record<string, string>): void;
  change(name: string, data: Record<string, string>): void;
  remove(name: string): void;
  state(key?: string): ResourceState;
  /** Published objects as `cluster/kind/namespace/name uid@version`. */
  table(): string[];
  /** Entries of the log after the first sync, as `TYPE name`. */
  changes(): string[];
  restarts(reason: string): number;
  /** Lists (first pages) of ConfigMaps that were asked for. */
  lists(): URLSearchParams[];
  watches(): URLSearchParams[];
  /** Waits until `check` passes, holding I3. */
  until(check: () => void): Promise<void>;
  /** Waits until everything is synced and I1 and I2 hold. */
  settled(): Promise<void>;
  /** From here on the stored version may be lower than before: the server's is. */
  allowRewind(): void;
}

/** Starts all of it; resolves when the first sync is done and the ConfigMaps are watched. */
export async function faultBench(options: FaultBenchOptions = {}): Promise<FaultBench> {
  const bench = await startFaultBench(options);
  await bench.settled();
  await bench.until(() => expect(bench.watches()).not.toEqual([]));
  return bench;
}

/** Starts all of it, and waits for nothing: for what goes wrong at the first list. */
export async function startFaultBench(
  options: FaultBenchOptions = {},
  before: (sim: FaultyCluster) => void = () => {},
): Promise<FaultBench> {
  const sim = await startFaultyCluster({ ...options.sim, features: { bookmarkMs: 20, ...options.sim?.features } });
  onTestFinished(() => sim.close());
  for (let index = 0; index < (options.objects ?? 3); index += 1) sim.create(configMap(`c${index}`));
  before(sim);
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const file = join(temporaryDirectory('ingest'), 'store.db');
  const writer = openWriter(file, { checkpoints: 'inline' });
  const asked: URLSearchParams[] = [];
  const host = new IngestHost({
    options: {
      file,
      clusters: [{ name: 'east', kubeconfig: folder.file('config', sim.kubeconfig()) }],
      include: options.include ?? ['configmaps', 'namespaces'],
      supervisor: { debounceMs: 20, settleMs: [20, 50, 100, 500], rediscoverMs: 60_000, ...options.supervisor },
      reflector: { ...quick, ...paged, ...options.reflector },
    },
    writer,
    open: async (cluster) => recorded(await connect({ ...cluster, env: {} }), asked),
    post: () => {},
    clock: systemClock,
    random: options.random ?? Math.random,
    log: silentLogger,
  });
  onTestFinished(() => host.close());
  host.start();
  return benchOf(sim, host, writer, file, asked, options.shown ?? ((version) => version));
}

function benchOf(
  sim: FaultyCluster,
  host: IngestHost,
  writer: StoreWriter,
  file: string,
  asked: URLSearchParams[],
  shown: (version: string) => string,
): FaultBench {
  const versions = new Map<string, string>();
  let rewinds = false;
  let base: { readonly seq: number; readonly held: ReadonlyMap<string, string> } | null = null;
  const table = (): string[] => storedObjects(file).sort();
  const guard = (): void => {
    for (const { handle, lastResourceVersion } of writer.states()) {
      if (lastResourceVersion === null) continue;
      const known = versions.get(handle.key);
      if (!rewinds && known !== undefined && (compareResourceVersions(lastResourceVersion, known) ?? 0) < 0) {
        throw new Error(`I3: ${handle.key} went back from ${known} to ${lastResourceVersion}`);
      }
      versions.set(handle.key, lastResourceVersion);
    }
  };
  const check = (): void => {
    expect(host.progress()).toMatchObject({ ready: true, failing: [] });
    expect(table()).toEqual(served(sim, writer, shown));
    expect(writer.states().map(({ status }) => status.error)).toEqual(writer.states().map(() => null));
  };
  const until = (passes: () => void): Promise<void> =>
    eventually(() => {
      guard();
      passes();
    });
  return {
    sim,
    host,
    writer,
    file,
    asked,
    create: (name, data) => void sim.create(configMap(name, data)),
    change: (name, data) => void sim.patch(`${configMaps}/${name}`, { data }),
    remove: (name) => void sim.delete(`${configMaps}/${name}`),
    state: (key = 'configmaps') =>
      must(
        writer.states().find(({ handle }) => handle.key === key),
        `${key} are declared`,
      ),
    table,
    changes: () => (base === null ? [] : entriesAfter(file, base.seq).map(({ type, name }) => `${type} ${name}`)),
    restarts: (reason) =>
      writer.states().find(({ handle }) => handle.key === 'configmaps')?.status.restarts[reason] ?? 0,
    lists: () => asked.filter((query) => query.get('watch') === null && query.get('continue') === null),
    watches: () => asked.filter((query) => query.get('watch') !== null),
    until,
    settled: async () => {
      await until(check);
      const held = heldOf(table());
      if (base === null) base = { seq: writer.revision(), held };
      else expect(fold(base.held, entriesAfter(file, base.seq))).toEqual(held);
    },
    allowRewind: () => {
      rewinds = true;
    },
  };
}

export function configMap(name: string, data: Record<string, string> = {}): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

/** What the server has of everything that is declared, as `table` writes it. */
function served(sim: SimCluster, writer: StoreWriter, shown: (version: string) => string): string[] {
  return writer
    .states()
    .flatMap(({ handle, described: { resource } }) =>
      sim.list(resourcePath(resource)).map((object) => {
        const { namespace = '', name, uid, resourceVersion = '' } = object['metadata'] as Record<string, string>;
        return `${handle.cluster}/${handle.key}/${namespace}/${name} ${uid}@${shown(resourceVersion)}`;
      }),
    )
    .sort();
}

function recorded(connection: Connection, asked: URLSearchParams[]): Connection {
  return {
    cluster: connection.cluster,
    server: connection.server,
    context: connection.context,
    source: connection.source,
    proxy: connection.proxy,
    hasCredentials: true,
    isPrivate: true,
    close: () => connection.close(),
    connectAs: (identity) => connection.connectAs(identity),
    request: (request) => {
      const [path, query] = request.path.split('?');
      if (path === '/api/v1/configmaps') asked.push(new URLSearchParams(query));
      return connection.request(request);
    },
  };
}

interface Entry {
  readonly type: string;
  readonly key: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
}

function entriesAfter(file: string, seq: number): Entry[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .statement(
        `SELECT c.type, c.cluster || '/' || k.key || '/' || coalesce(c.namespace, '') || '/' || c.name, c.name, c.uid, c.rv
         FROM change c JOIN kind k ON k.id = c.kind WHERE c.seq > ? ORDER BY c.seq`,
      )
      .all(seq)
      .map(([type, key, name, uid, version]) => ({
        type: String(type),
        key: String(key),
        name: String(name),
        uid: String(uid),
        version: String(version),
      }));
  } finally {
    database.close();
  }
}

function heldOf(lines: readonly string[]): Map<string, string> {
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

/** I2 and I4: nothing is added twice, changed or deleted before it is there, or under another uid. A RESET fits nothing. */
function fold(base: ReadonlyMap<string, string>, entries: readonly Entry[]): Map<string, string> {
  const held = new Map(base);
  for (const { type, key, uid, version } of entries) {
    const known = held.get(key)?.split('@')[0];
    expect([type, key, known]).toEqual([type, key, type === 'ADDED' ? undefined : uid]);
    if (type === 'DELETED') held.delete(key);
    else held.set(key, `${uid}@${version}`);
  }
  return held;
}
