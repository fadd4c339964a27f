/**
 * The composition: store, ingest, engine and server as one running gateway.
 *
 *   startGateway -> in parallel: the ingest thread opens the store and reads kubeconfigs; the reader threads start; this thread loads
 *                   the serving modules -> a catalog: from the store, or from the clusters -> first generation -> listening
 *   close        -> server and ingest together, then engine, readers and a temporary store
 */
import { join } from 'node:path';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger, LogLevel } from '../base/log.ts';
import { temporaryFolder } from '../base/temporary-folder.ts';
import { configuredPath } from '../catalog/describe/redacted-paths.ts';
import { parsePath } from '../catalog/tree/path.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { Config } from '../config/options.ts';
import { defaultReaders } from '../config/table/query-options.ts';
import type { IngestProgress } from '../ingest/context/progress.ts';
import { type IngestHandle, startIngest } from '../ingest/thread/start-ingest.ts';
import type { ClusterOptions } from '../kube/client/connection.ts';
import type { RunningServer } from '../server/http-server.ts';
import { type SealMemory, sealMemory } from '../store/file/file-seal.ts';
import { openReader, type PooledReader } from '../store/read/reader.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import { acceptedCredentials } from './access.ts';
import { AbstractKindsFile, healthDocuments, relationTexts } from './declaration-files.ts';
import { requiredKeys } from './options/credential-kinds.ts';
import type { ServingConfig, startServing } from './serving.ts';
import { Shutdown } from './shutdown.ts';

export interface Gateway {
  readonly url: string;
  /** Resolves when every started resource has synced or is reported as failing. */
  readonly synced: Promise<void>;
  progress(): IngestProgress;
  onProgress(listener: (progress: IngestProgress) => void): void;
  /** Rejects when the ingest thread is lost; otherwise stays pending until `close`. */
  readonly failed: Promise<never>;
  /** Lets clients move to another gateway. Resolves after `ms` milliseconds, or when the signal aborts. */
  drain(ms: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

type GatewayConfig = ServingConfig &
  Pick<
    Config,
    | 'kinds'
    | 'exclude'
    | 'namespaces'
    | 'streamingLists'
    | 'requestsPerSecond'
    | 'auditInterval'
    | 'data'
    | 'maxDisk'
    | 'changeLogMax'
    | 'changeLogMaxAge'
    | 'eventsMax'
    | 'eventsMaxAge'
    | 'readers'
    | 'redact'
    | 'abstractKinds'
    | 'abstractKindObjects'
    | 'healthRules'
    | 'relations'
    | 'relationAnnotations'
    | 'inferRelations'
    | 'leaseMs'
  > & { readonly logLevel: LogLevel };

/** Sizes of a gateway's store, in memory and on disk. */
export interface StoreSizes {
  readonly changeLogBytes: number;
  readonly walGateBytes: number;
  /** KiB of pages that the writer keeps in memory, and each reader. */
  readonly writerCacheKib: number;
  readonly readerCacheKib: number;
  /** Reader threads, where the configuration names no number. */
  readonly readers: number;
}

interface GatewayExtras {
  /** Ends the start: the parts that run are closed in order, and the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Default: sizes for large clusters. */
  readonly sizes?: StoreSizes;
  /** The state of the configuration file, for metrics. */
  readonly live?: LiveConfig;
  /** Milliseconds between two looks at the Secrets that register clusters; default 5 s. */
  readonly clusterSecretsEveryMs?: number;
}

/**
 * Starts a gateway over these clusters. Throws when the start is impossible; an unreachable cluster is retried instead.
 */
export async function startGateway(
  config: GatewayConfig,
  clusters: readonly ClusterOptions[],
  log: Logger,
  { signal, sizes, ...extras }: GatewayExtras = {},
): Promise<Gateway> {
  checkPathOptions(config);
  const shutdown = new Shutdown(log);
  try {
    const file = storeFile(config, shutdown);
    const parts = { file, seal: sealMemory(), sizes, shutdown };
    const opening = openIngest(config, clusters, { ...parts, log });
    const reader = openReaders(config, opening, { ...parts, log });
    const starting = startServers(config, {
      clusters,
      opening,
      reader,
      shutdown,
      log,
      ...extras,
    });
    const { ingest, server } = await orAborted(starting, signal);

    let closing: Promise<void> | null = null;
    return {
      url: server.url,
      synced: ingest.synced,
      failed: ingest.failed,
      progress: () => ingest.progress(),
      onProgress: (listener) => ingest.onProgress(listener),
      drain: (ms, signal) => server.drain(ms, signal),
      close() {
        // The server and ingest close in parallel, because both may be slow. Each closes only once.
        closing ??= Promise.allSettled([server.close(), ingest.close()]).then(() => shutdown.run());
        return closing;
      },
    };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function startServers(
  config: GatewayConfig,
  {
    opening,
    ...parts
  }: Omit<Parameters<typeof startServing>[1], 'ingest'> & { readonly opening: Promise<IngestHandle> },
): Promise<{ readonly ingest: IngestHandle; readonly server: RunningServer }> {
  const [ingest, serving] = await Promise.all([opening, import('./serving.ts')]);
  return { ingest, server: await serving.startServing(config, { ...parts, ingest }) };
}

/** The value, unless the signal comes first. The work goes on in vain then, without its parts. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  work.catch(() => {});
  signal.throwIfAborted();
  const ended = Promise.withResolvers<never>();
  const onAbort = (): void => ended.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The file of `--data`, or a file in a temporary folder that is removed at the end. */
function storeFile({ data }: GatewayConfig, shutdown: Shutdown): string {
  if (data !== undefined) return data;
  const folder = temporaryFolder('portolan-');
  shutdown.add(() => folder.remove());
  return join(folder.path, 'portolan.db');
}

interface StoreParts {
  readonly file: string;
  /** Shared by ingest, which writes the file, and the readers. */
  readonly seal: SealMemory;
  readonly sizes: StoreSizes | undefined;
  readonly shutdown: Shutdown;
}

function storeOptions(
  { changeLogMax, changeLogMaxAge }: GatewayConfig,
  sizes: StoreSizes | undefined,
): NonNullable<Parameters<typeof startIngest>[0]['store']> {
  const maxBytes = changeLogMax ?? sizes?.changeLogBytes;
  return {
    ownProcessOnly: true,
    changeLog: { maxAgeMs: changeLogMaxAge, ...(maxBytes === undefined ? {} : { maxBytes }) },
    ...(sizes === undefined ? {} : { walGateBytes: sizes.walGateBytes, cacheKib: sizes.writerCacheKib }),
  };
}

/** Resolves when the ingest thread has opened the store. */
function openIngest(
  config: GatewayConfig,
  clusters: readonly ClusterOptions[],
  { file, seal, sizes, shutdown, log }: StoreParts & { readonly log: Logger },
): Promise<IngestHandle> {
  const abstractKinds =
    config.abstractKinds === undefined
      ? null
      : new AbstractKindsFile(config.abstractKinds, log, (document) => {
          void whenOpen(opening, (ingest) => ingest.declareAbstractKinds(document));
        });
  if (abstractKinds !== null) shutdown.add(() => abstractKinds.close());
  const opening = startIngest({
    file,
    seal,
    clusters,
    awaitsRegistration: config.clusterSecrets !== undefined,
    include: config.kinds,
    exclude: config.exclude,
    namespaces: config.namespaces,
    required: requiredKeys(acceptedCredentials(config), config),
    events: { maxObjects: config.eventsMax, maxAgeMs: config.eventsMaxAge },
    searchPaths: config.searchPaths,
    promote: config.promote,
    redact: config.redact,
    relations: relationTexts(config),
    healthRules: healthDocuments(config),
    restrictedCallers: acceptedCredentials(config).length > 0,
    ...(abstractKinds === null ? {} : { abstractKinds: abstractKinds.document }),
    abstractKindObjects: config.abstractKindObjects,
    logLevel: config.logLevel,
    ...(config.maxDisk === undefined ? {} : { maxDiskBytes: config.maxDisk }),
    store: storeOptions(config, sizes),
    reflector: {
      auditMs: config.auditInterval,
      streamingLists: config.streamingLists === 'auto',
      requests: { burst: config.requestsPerSecond, perSecond: config.requestsPerSecond },
    },
  });
  shutdown.add(() => whenOpen(opening, (ingest) => ingest.close()));
  return opening;
}

/** The reader threads. They report a corrupt store to ingest, which then recreates it. */
function openReaders(
  { readers, leaseMs }: GatewayConfig,
  opening: Promise<IngestHandle>,
  { file, seal, sizes, shutdown, log }: StoreParts & { readonly log: Logger },
): PooledReader & PageReader {
  const reader = openReader(file, {
    readers: readers ?? sizes?.readers ?? defaultReaders,
    leaseMs,
    seal,
    ...(sizes === undefined ? {} : { cacheKib: sizes.readerCacheKib, walGateBytes: sizes.walGateBytes }),
    log,
    onDamage: (damage) => void whenOpen(opening, (ingest) => ingest.reportDamage(damage)),
  });
  shutdown.add(() => reader.close());
  return reader;
}

/** Does nothing when the ingest thread could not start: the caller handles that failure. */
function whenOpen(opening: Promise<IngestHandle>, work: (ingest: IngestHandle) => unknown): Promise<unknown> {
  return opening.then(work, () => {});
}

/** Throws CONFIGURATION that names the option and the problem with its path. */
export function checkPathOptions({
  searchPaths,
  promote,
  redact,
}: Pick<Config, 'searchPaths' | 'promote' | 'redact'>): void {
  const check = (flag: string, path: string): void => {
    try {
      parsePath(path);
    } catch (error) {
      throw new PortolanError('CONFIGURATION', `${flag}: ${messageOf(error)}`, { cause: error });
    }
  };
  for (const path of searchPaths) check('--search-paths', path);
  for (const entry of promote) check('--promote', configuredPath(entry).path);
  for (const entry of redact) check('--redact', configuredPath(entry).path);
}
