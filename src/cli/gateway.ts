/**
 * The composition: store, ingest, engine and server as one running gateway.
 *
 *   startGateway -> in parallel: the ingest thread opens the store and reads kubeconfigs; the reader threads start; this thread loads
 *                   the serving modules -> a catalog: from the store, or from the clusters -> first generation -> listening
 *   --processes  -> the ingest thread opens the store; serve processes do the rest (processes/serve-processes.ts)
 *   --cells      -> an ingest thread, a store and readers for each cell; this process answers from all of them (cells/cell-plan.ts)
 *   close        -> server and ingest together, then engine, readers and a temporary store
 */
import { join } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger, LogLevel } from '../base/log.ts';
import { must } from '../base/must.ts';
import { temporaryFolder } from '../base/temporary-folder.ts';
import { configuredPath } from '../catalog/describe/redacted-paths.ts';
import { parsePath } from '../catalog/tree/path.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { Config } from '../config/options.ts';
import type { IngestProgress } from '../ingest/context/progress.ts';
import { type IngestHandle, startIngest } from '../ingest/thread/start-ingest.ts';
import type { ClusterOptions } from '../kube/client/connection.ts';
import { createSealCopy, type SealMemory, sealMemory } from '../store/file/file-seal.ts';
import { cellPlan, parseCells, removeOtherCells } from './cells/cell-plan.ts';
import { AbstractKindsFile, healthDocuments, relationTexts } from './declaration-files.ts';
import { requiredKeys } from './options/credential-kinds.ts';
import { Shutdown } from './parts/shutdown.ts';
import { processCount } from './processes/process-count.ts';
import { sealFile } from './processes/process-messages.ts';
import { acceptedCredentials } from './serving/access.ts';
import type { registerClusters } from './serving/registered-clusters.ts';
import type { Registration, Serving, ServingConfig } from './serving/serving.ts';
import { openReaders, type StoreSizes } from './serving/store-readers.ts';

export interface Gateway {
  readonly url: string;
  /** The URL of the playground. It has the start token, if writes need one. */
  readonly page: string;
  /** The port of the aggregated API server; null without one. */
  readonly aggregatePort: number | null;
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
    | 'processes'
    | 'cells'
  > & { readonly logLevel: LogLevel };

interface GatewayExtras {
  /** Ends the start: the parts that run are closed in order, and the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Default: sizes for large clusters. */
  readonly sizes?: StoreSizes;
  /** The state of the configuration file, for metrics. */
  readonly live?: LiveConfig;
  /** The cluster is the demo world of this gateway. */
  readonly isDemo?: boolean;
  /** Milliseconds between two looks at the Secrets that register clusters; default 5 s. */
  readonly clusterSecretsEveryMs?: number;
  /** The time of certificates that Portolan makes; default: that of the machine. */
  readonly certificateClock?: Clock;
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
    const folder = processesFolder(config, shutdown);
    const seal = sealMemory(folder === null ? {} : { writes: sealFile(folder) });
    const parts = { file, folder, seal, sizes, shutdown, log };
    const { count } = parseCells(config.cells);
    const starting =
      count === 1
        ? startServers(config, { ...parts, ...extras, clusters, opening: openIngest(config, clusters, parts) })
        : startInCells(config, { ...parts, ...extras, clusters });
    const { ingest, server } = await orAborted(starting, signal);
    // No other process has these files: it would have that of the first cell too.
    removeOtherCells(file, count, log);

    let closing: Promise<void> | null = null;
    return {
      url: server.url,
      page: server.page,
      aggregatePort: server.aggregatePort,
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

type Starting = StoreParts &
  Omit<GatewayExtras, 'signal' | 'sizes'> & {
    readonly clusters: readonly ClusterOptions[];
    readonly opening: Promise<IngestHandle>;
  };

interface Started {
  readonly ingest: Pick<IngestHandle, 'synced' | 'failed' | 'progress' | 'onProgress' | 'close'>;
  readonly server: Pick<Serving, 'url' | 'page' | 'aggregatePort' | 'drain' | 'close'>;
}

/** In this process, or by --processes. */
function startServers(config: GatewayConfig, starting: Starting): Promise<Started> {
  const { folder } = starting;
  return folder === null ? startInThisProcess(config, starting) : startProcesses(config, { ...starting, folder });
}

async function startInThisProcess(config: GatewayConfig, starting: Starting): Promise<Started> {
  const { opening, clusters, clusterSecretsEveryMs, ...parts } = starting;
  const reader = openReaders(config, {
    ...parts,
    damaged: (damage) => void whenOpen(opening, (ingest) => ingest.reportDamage(damage)),
  });
  const [ingest, serving] = await Promise.all([opening, import('./serving/serving.ts')]);
  const registration = registrationOf(config, clusters, { ...parts, ingest, everyMs: clusterSecretsEveryMs });
  const server = await serving.startServing(config, { ...parts, clusters, ingest, reader, registration });
  return { ingest, server };
}

/** With a store for each cell. @throws PortolanError CONFIGURATION */
async function startInCells(config: GatewayConfig, starting: Omit<Starting, 'opening'>): Promise<Started> {
  if (!isAlone(config)) {
    throw new PortolanError(
      'CONFIGURATION',
      '--cells and --processes cannot be used together: start with one of them, or with several gateways for different clusters.',
    );
  }
  const { clusters, clusterSecretsEveryMs, ...parts } = starting;
  const names = await namesOf(clusters);
  const plan = cellPlan(config.cells, names, parts.file);
  const share = (bytes: number | undefined): number | undefined => bytes && Math.floor(bytes / plan.files.length);
  const own = {
    ...config,
    maxDisk: share(config.maxDisk),
    changeLogMax: share(config.changeLogMax),
    eventsMax: Math.ceil(config.eventsMax / plan.files.length),
  };
  const cells = plan.files.map((file, index) => {
    const inCell = clusters.filter((_, at) => plan.cellOf(names[at] ?? '') === index);
    const ofCell = { ...parts, file, seal: index === 0 ? parts.seal : sealMemory(), isPartial: true };
    const opening = openIngest(own, inCell, ofCell);
    const reader = openReaders(config, {
      ...ofCell,
      damaged: (damage) => void whenOpen(opening, (ingest) => ingest.reportDamage(damage)),
    });
    return { opening, reader };
  });
  const [handles, serving, { cellsIngest }] = await Promise.all([
    Promise.all(cells.map(({ opening }) => opening)),
    import('./serving/serving.ts'),
    import('./cells/cells-ingest.ts'),
  ]);
  const occupied = new Set(names.map((name) => plan.cellOf(name)));
  const ingest = cellsIngest(handles, { cellOf: plan.cellOf, occupied, clock: systemClock, log: parts.log });
  const readers = cells.map(({ reader }) => reader);
  const registration = registrationOf(config, clusters, { ...parts, ingest, everyMs: clusterSecretsEveryMs });
  const server = await serving.startServing(config, {
    ...parts,
    clusters,
    ingest,
    reader: must(readers[0], 'a cell'),
    cells: { readers, cellOf: plan.cellOf },
    registration,
  });
  return { ingest, server };
}

/** The names of the clusters, in their order. @throws PortolanError CONFIGURATION for a broken kubeconfig */
async function namesOf(clusters: readonly ClusterOptions[]): Promise<readonly string[]> {
  const { connect } = await import('../kube/client/connection.ts');
  const names: string[] = [];
  for (const options of clusters) {
    const connection = await connect(options);
    names.push(connection.cluster);
    await connection.close();
  }
  return names;
}

async function startProcesses(
  config: GatewayConfig,
  starting: Starting & { readonly folder: string },
): Promise<Started> {
  const { opening, clusters, clusterSecretsEveryMs, file, folder, live, shutdown, log } = starting;
  const [ingest, { ServeProcesses }, { openAudit }] = await Promise.all([
    opening,
    import('./processes/serve-processes.ts'),
    import('./serving/audit-file.ts'),
  ]);
  const audit = await openAudit(config, log);
  if (audit !== null) shutdown.add(() => audit.close());
  const processes = new ServeProcesses(config, {
    clusters,
    file,
    folder,
    ingest,
    live,
    audit,
    clock: systemClock,
    shutdown,
    log,
  });
  const parts = { ingest, shutdown, log, everyMs: clusterSecretsEveryMs };
  const registering = registrationOf(config, clusters, parts)?.((registered) => processes.learn(registered));
  processes.follow((await registering) ?? null);
  return { ingest, server: await Promise.race([processes.start(), ingest.failed]) };
}

/** Undefined where no Secrets register clusters. */
function registrationOf(
  config: GatewayConfig,
  clusters: readonly ClusterOptions[],
  parts: Omit<Parameters<typeof registerClusters>[2], 'learn'>,
): Registration | undefined {
  if (config.clusterSecrets === undefined) return undefined;
  return async (learn) => {
    const { registerClusters } = await import('./serving/registered-clusters.ts');
    return registerClusters(config, clusters, { ...parts, learn });
  };
}

/** Does this process answer the requests itself? */
function isAlone({ processes }: GatewayConfig): boolean {
  return processCount(processes) === 1;
}

/** The value, unless the signal comes first. The work goes on then, but its result is not used. */
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

/** The folder that the processes share; null for a gateway with one process. */
function processesFolder(config: GatewayConfig, shutdown: Shutdown): string | null {
  if (isAlone(config)) return null;
  const folder = temporaryFolder('portolan-processes-');
  shutdown.add(() => folder.remove());
  createSealCopy(sealFile(folder.path));
  return folder.path;
}

interface StoreParts {
  readonly file: string;
  /** See `processesFolder`. */
  readonly folder: string | null;
  /** Shared by ingest, which writes the file, and the readers. */
  readonly seal: SealMemory;
  readonly sizes: StoreSizes | undefined;
  /** Other stores have the other clusters. Default: false. */
  readonly isPartial?: boolean;
  readonly shutdown: Shutdown;
  readonly log: Logger;
}

function storeOptions(
  config: GatewayConfig,
  sizes: StoreSizes | undefined,
): NonNullable<Parameters<typeof startIngest>[0]['store']> {
  const { changeLogMax, changeLogMaxAge } = config;
  const maxBytes = changeLogMax ?? sizes?.changeLogBytes;
  return {
    ownProcessOnly: isAlone(config),
    changeLog: { maxAgeMs: changeLogMaxAge, ...(maxBytes === undefined ? {} : { maxBytes }) },
    ...(sizes === undefined ? {} : { walGateBytes: sizes.walGateBytes, cacheKib: sizes.writerCacheKib }),
  };
}

/** Resolves when the ingest thread has opened the store. */
function openIngest(
  config: GatewayConfig,
  clusters: readonly ClusterOptions[],
  { file, seal, sizes, isPartial = false, shutdown, log }: StoreParts,
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
    isPartial,
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
