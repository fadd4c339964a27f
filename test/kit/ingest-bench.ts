/** Ingest in this thread against simulated clusters over real HTTP, with what was asked and said. */

import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { SimCluster, SimOptions } from '../../sim/sim-cluster.ts';
import { type Random, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { syntheticUid } from '../../src/catalog/resources/synthetic-identity.ts';
import { IngestHost } from '../../src/ingest/thread/ingest-host.ts';
import type { IngestMessage } from '../../src/ingest/thread/ingest-messages.ts';
import type { IngestOptions } from '../../src/ingest/thread/ingest-options.ts';
import {
  type ClusterOptions,
  type Connection,
  type ConnectionAnswer,
  connect,
} from '../../src/kube/client/connection.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { eventually } from './eventually.ts';
import { type FaultyCluster, startFaultyCluster } from './faults/faulty-cluster.ts';
import { kubeconfigFolder } from './kubeconfig-file.ts';
import { storedObjects } from './reflector-bench.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const quick = { debounceMs: 20, settleMs: [20, 50, 100, 500], rediscoverMs: 60_000 };

export async function simulated(options: SimOptions = {}): Promise<{ sim: FaultyCluster; options: ClusterOptions }> {
  const sim = await startFaultyCluster({ ...options, features: { bookmarkMs: 50, ...options.features } });
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  return { sim, options: { name: 'east', kubeconfig: folder.file('config', sim.kubeconfig()) } };
}

export interface RunningHost {
  readonly host: IngestHost;
  readonly writer: StoreWriter;
  readonly file: string;
  readonly messages: IngestMessage[];
  /** Method and path with query of all requests. */
  readonly asked: string[];
  /** Answers in place of the server where it gives something. */
  between: ((path: string, ask: () => Promise<ConnectionAnswer>) => Promise<ConnectionAnswer> | undefined) | null;
  close(): Promise<void>;
}

export function run(
  clusters: readonly ClusterOptions[],
  more: Partial<IngestOptions> & { random?: Random } = {},
): RunningHost {
  const file = more.file ?? join(temporaryDirectory('ingest'), 'store.db');
  const writer = openWriter(file, { checkpoints: 'inline' });
  const messages: IngestMessage[] = [];
  const asked: string[] = [];
  const running: { between: RunningHost['between'] } = { between: null };
  const host = new IngestHost({
    options: { clusters, supervisor: quick, ...more, file },
    writer,
    open: async (options) => recorded(await connect({ ...options, env: {} }), asked, () => running.between),
    post: (message) => messages.push(message),
    clock: systemClock,
    random: more.random ?? Math.random,
    log: silentLogger,
  });
  onTestFinished(() => host.close());
  host.start();
  return Object.assign(running, { host, writer, file, messages, asked, close: () => host.close() });
}

function recorded(connection: Connection, asked: string[], between: () => RunningHost['between']): Connection {
  return Object.create(connection, {
    cluster: { value: connection.cluster },
    server: { value: connection.server },
    context: { value: connection.context },
    source: { value: connection.source },
    close: { value: () => connection.close() },
    request: {
      value: (request: Parameters<Connection['request']>[0]) => {
        asked.push(`${request.method} ${request.path}`);
        const ask = (): Promise<ConnectionAnswer> => connection.request(request);
        return between()?.(request.path, ask) ?? ask();
      },
    },
  });
}

export async function ready({ host }: RunningHost): Promise<void> {
  await eventually(() => expect(host.progress()).toMatchObject({ ready: true, failing: [] }));
}

/** The objects of all synced tables; a version that was made up is written without its digest. */
function stored({ file }: RunningHost): string[] {
  return storedObjects(file).map((line) => line.replace(/@digest-\S+$/, '@digest'));
}

/** The server's objects of all resources that ingest has declared, as `stored` writes them. */
export function served(sim: SimCluster, { writer }: RunningHost): string[] {
  return writer
    .states()
    .flatMap(({ handle, described: { resource } }) => {
      const base = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
      return sim.list(`${base}/${resource.plural}`).map((object) => {
        const metadata = object['metadata'] as Record<string, string>;
        const { namespace = '', name = '', uid, resourceVersion } = metadata;
        const identity = uid === undefined ? `${syntheticUid(namespace, name)}@digest` : `${uid}@${resourceVersion}`;
        return `${handle.cluster}/${handle.key}/${namespace}/${name} ${identity}`;
      });
    })
    .sort();
}

export async function equal(sim: SimCluster, running: RunningHost): Promise<void> {
  await eventually(() => expect(stored(running).sort()).toEqual(served(sim, running)));
}

export function configMap(name: string, data: Record<string, string> = {}): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}
