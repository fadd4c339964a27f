/**
 * The part of a gateway that answers requests: engine, metrics, HTTP server. It is a separate module because loading it takes
 * most of a warm start. gateway.ts imports it after it has started the other threads.
 */

import type { Caller } from '../../access/caller.ts';
import { rbacKeys } from '../../access/rbac-objects.ts';
import { CallerLimits } from '../../admission/caller-limits.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { noTracer, type Tracer } from '../../base/tracing.ts';
import type { ConfigFacts } from '../../config/live-config.ts';
import type { Config } from '../../config/options.ts';
import { defaultReaders } from '../../config/table/query-options.ts';
import { createEngine, type Engine, type EngineOptions } from '../../graphql/engine.ts';
import type { IngestProgress } from '../../ingest/context/progress.ts';
import type { IngestHandle } from '../../ingest/thread/start-ingest.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import { Staleness } from '../../operation/answers/staleness.ts';
import { createMetrics, type Metrics } from '../../server/health/metrics.ts';
import { type ProcessesState, readinessOf, withAudit, withProcesses } from '../../server/health/readiness.ts';
import { SetMetrics } from '../../server/health/set-metrics.ts';
import type { ProcessMetrics } from '../../server/health/summed-metrics.ts';
import { WriteMetrics } from '../../server/health/write-metrics.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../server/http-server.ts';
import { TlsFiles } from '../../server/negotiation/tls-files.ts';
import { readWrittenExamples } from '../../server/written-examples.ts';
import type { PooledReader } from '../../store/read/reader.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import { wantsTraces } from '../../telemetry/trace-settings.ts';
import type { CallerClients } from '../../upstream/caller-clients.ts';
import { ManifestThreads } from '../../writes/manifests/manifest-threads.ts';
import type { RunningAggregate } from '../aggregate/start-aggregate.ts';
import { logAccess } from '../logs/log-access.ts';
import { aggregateCertificates } from '../options/aggregate-certificates.ts';
import { tlsPaths } from '../options/tls-paths.ts';
import type { Shutdown } from '../parts/shutdown.ts';
import { version } from '../parts/version.ts';
import { openWriting } from '../writes/writing.ts';
import type { WritingKeys } from '../writes/writing-keys.ts';
import { type AccessConfig, openAccess } from './access.ts';
import { type AuditFile, openAudit } from './audit-file.ts';
import { boundsOf } from './caller-bounds.ts';
import type { RegistrationConfig } from './registered-clusters.ts';

export type ServingConfig = Pick<
  Config,
  | 'port'
  | 'allowOrigin'
  | 'keepAlive'
  | 'metricsBy'
  | 'leaseMs'
  | 'maxPageSize'
  | 'maxCost'
  | 'maxReadBytes'
  | 'searchPaths'
  | 'promote'
  | 'promoteQueried'
  | 'profile'
  | 'typePrefix'
  | 'explain'
  | 'slowQueryMs'
  | 'waitForSync'
  | 'scanRows'
  | 'preparedAnswers'
  | 'answerCacheBytes'
  | 'readers'
  | 'callerRequests'
  | 'callerCost'
  | 'callerSubscriptions'
  | 'callerConnections'
  | 'callerLogs'
  | 'auditLog'
  | 'auditRequired'
  | 'callerWrites'
  | 'redact'
  | 'setKinds'
  | 'planKeyFile'
> &
  AccessConfig &
  RegistrationConfig;

/** The facts of ingest that the part that answers requests reads. */
type ServedIngest = Pick<
  IngestHandle,
  'onProgress' | 'onCatalog' | 'progress' | 'catalogKnown' | 'failed' | 'promote'
> & {
  /** As that of the handle, with the index of the cell of several. */
  onWake(listener: (committed: CommittedChanges, cell?: number) => void): () => void;
};

/** The cells of a gateway that has several. */
interface ServedCells {
  readonly readers: readonly (PooledReader & PageReader)[];
  /** The index of the cell that has the cluster. */
  cellOf(cluster: string): number;
}

/** Calls back with the clusters now and after each change. Resolves when the first are learned, or cannot be known yet. */
export type Registration = (
  learn: (clusters: readonly RegisteredCluster[]) => Promise<void>,
) => Promise<{ readonly refused: number } | null>;

/** The parts that the serve processes of a gateway share, and the facts about its other processes. */
interface SharedParts {
  /** Null without an audit log. */
  readonly audit: AuditFile | null;
  readonly keys: WritingKeys;
  readonly processes: () => ProcessesState;
  readonly siblings: NonNullable<ServerOptions['siblings']>;
  /** Counts what a caller writes at all processes together. @throws as `charge` of WriteAccess */
  readonly chargeWrites: (caller: Caller, writes: number) => Promise<void>;
  /** Takes the values of this process's metrics, and gives those of the others. */
  readonly otherMetrics: (own: ProcessMetrics) => Promise<readonly ProcessMetrics[]>;
}

/** The parts that were started before. */
interface Started {
  readonly clusters: readonly ClusterOptions[];
  readonly ingest: ServedIngest;
  /** Of several cells, that of the first one. */
  readonly reader: PooledReader & PageReader;
  readonly cells?: ServedCells;
  readonly shutdown: Shutdown;
  readonly log: Logger;
  /** The state of the configuration file; absent where it is not read again. */
  readonly live?: ConfigFacts;
  /** Learns of the clusters that Secrets register; absent where none do. */
  readonly registration?: Registration | undefined;
  /** Of a gateway with several serve processes, what this one has of them. */
  readonly shared?: SharedParts;
  /** The cluster is the demo world of this gateway. Default: false. */
  readonly isDemo?: boolean;
  /** Milliseconds between two looks at the Secrets that register clusters; default 5 s. */
  readonly clusterSecretsEveryMs?: number;
  /** The time of certificates that Portolan makes; default: that of the machine. */
  readonly certificateClock?: Clock;
}

/** `page` is the URL of the playground. It has the start token, if writes need one. */
export type Serving = RunningServer & {
  readonly page: string;
  /** The port of the aggregated API server; null without one. */
  readonly aggregatePort: number | null;
  /** The metrics of this process. */
  values(): Promise<ProcessMetrics>;
};

/** Resolves when the server listens. Before that, it waits for a catalog. */
export async function startServing(config: ServingConfig, started: Started): Promise<Serving> {
  const { cells, clusters, reader, log, shutdown } = started;
  // The first part, so that it ends last: spans end with their requests.
  const tracer = await openTracer(started);
  const { shared } = started;
  const audit = shared === undefined ? await openAudit(config, log) : shared.audit;
  if (audit !== null) shutdown.add(() => audit.close());
  const staleness = stalenessOf(started.ingest);
  const access = await openAccess(config, clusters, {
    reader,
    cells,
    log,
    changed: () => engine.interrupt(),
    staleSince: (cluster) => staleness.since(cluster, rbacKeys),
  });
  if (access !== null) shutdown.add(() => access.close());
  const callers = new LazyCallerClients(clusters, shutdown);
  const longManifests = new ManifestThreads(systemClock);
  shutdown.add(() => longManifests.close());
  const writes = new WriteMetrics(systemClock);
  const sets = new SetMetrics(systemClock);
  const limits = new CallerLimits(boundsOf(config, processesOf(shared)), () => systemClock.monotonic());
  const writing = openWriting(config, {
    access,
    isDemo: started.isDemo ?? false,
    clients: () => callers.opened(),
    charge: shared?.chargeWrites ?? ((caller, writes) => limits.chargeWrites(caller, writes, config.callerWrites)),
    audit: audit?.writes ?? null,
    meter: writes,
    longManifests,
    version,
    keys: shared?.keys,
  });
  const logs = logAccess(limits, () => config.callerLogs);
  const engine = startEngine(config, started, access, { callers, staleness, writes: writing?.access ?? null, logs });
  await firstGeneration(engine, started);
  const secrets = await started.registration?.(async (registered) => {
    await callers.register(registered);
    if (config.sameUsers) await access?.register(registered);
  });
  const metrics = metricsOf(config, engine, started, { access, audit, secrets: secrets ?? null, writes, sets });
  const server = await startHttp(config, engine, started, { access, audit, tracer, metrics });
  const aggregate = await openAggregate(config, engine, started, { access, audit, callers, metrics: sets });
  const token = writing?.startToken ?? null;
  return {
    ...server,
    page: token === null ? server.url : `${server.url}#token=${token.text}`,
    aggregatePort: aggregate?.port ?? null,
    values: () => metrics.values(),
    async drain(ms, signal) {
      await Promise.all([server.drain(ms, signal), aggregate?.drain(ms, signal)]);
    },
    async close() {
      engine.stopRefreshing();
      await Promise.all([server.close(), aggregate?.close()]);
    },
  };
}

/** The SDK of OpenTelemetry is loaded only if traces are wanted. */
async function openTracer({ shutdown, log }: Started): Promise<Tracer> {
  if (!wantsTraces(process.env)) return noTracer;
  const { openTracing } = await import('../../telemetry/open-tracing.ts');
  const tracing = openTracing(process.env, version, log);
  shutdown.add(() => tracing.close());
  return tracing.tracer;
}

function startEngine(
  config: ServingConfig,
  { ingest, reader, cells, shutdown, log }: Started,
  access: AccessControl | null,
  {
    callers,
    staleness,
    writes,
    logs,
  }: {
    readonly callers: LazyCallerClients;
    readonly staleness: Staleness;
    readonly writes: Engine['source']['writes'];
    readonly logs: Engine['source']['logs'];
  },
): Engine {
  const engine = createEngine({
    reader,
    ...(cells === undefined
      ? {}
      : { cells: engineCells(cells, access, { readers: config.readers ?? defaultReaders, leaseMs: config.leaseMs }) }),
    log,
    clock: systemClock,
    isConfigured: (name) => ingest.progress().clusters.some(({ cluster }) => cluster === name),
    maxPageSize: config.maxPageSize,
    get maxCost() {
      return config.maxCost;
    },
    get maxReadBytes() {
      return config.maxReadBytes;
    },
    get scanRows() {
      return config.scanRows;
    },
    get answerCacheBytes() {
      return config.answerCacheBytes;
    },
    pages: reader,
    liveRuns: (config.readers ?? defaultReaders) - 1,
    searchPaths: config.searchPaths,
    ...(config.promoteQueried ? { promote: (use) => ingest.promote(use) } : {}),
    ...(config.typePrefix === undefined ? {} : { typePrefix: config.typePrefix }),
    diagnosis: { explain: config.explain, promote: config.promote },
    get slowQueryMs() {
      return config.slowQueryMs;
    },
    get waitForSyncMs() {
      return config.waitForSync;
    },
    ...(access === null ? localUpstream(writes) : { rights: access.rights, upstream: upstreamOf(access, callers) }),
    logs,
    ...(access === null ? { openApiClient: localClientOf(callers) } : {}),
    secretData: config.secretData,
    ...(writes === null ? {} : { writes }),
    staleness,
  });
  shutdown.add(() => engine.close());
  ingest.onWake((committed, cell) => {
    access?.wake(committed, cell);
    engine.wake(committed, cell);
  });
  ingest.onCatalog(() => void engine.refreshCatalog().catch(() => {}));
  return engine;
}

function engineCells(
  { readers, cellOf }: ServedCells,
  access: AccessControl | null,
  { readers: count, leaseMs }: { readonly readers: number; readonly leaseMs: number },
): NonNullable<EngineOptions['cells']> {
  const parts = readers.map((reader, index) => {
    const rights = access?.rightsOfCells[index];
    return { reader, pages: reader, ...(rights === undefined ? {} : { rights }) };
  });
  return { parts, cellOf, readers: count, leaseMs };
}

function stalenessOf(ingest: ServedIngest): Staleness {
  const staleness = new Staleness(systemClock);
  const note = ({ clusters }: IngestProgress): void => staleness.set(clusters.flatMap(({ stale }) => stale));
  note(ingest.progress());
  ingest.onProgress(note);
  return staleness;
}

/** Without authentication, only who may write has the credentials of the kubeconfig: the data of logs is nothing for every page. */
function localUpstream(writes: Engine['source']['writes']): Partial<Pick<Engine['source'], 'upstream'>> {
  return writes === null ? {} : { upstream: (cluster, credentials) => writes.client(cluster, credentials) };
}

/** Clients that act as the caller of a request. */
function upstreamOf(access: AccessControl, callers: LazyCallerClients): Engine['source']['upstream'] {
  return async (cluster, credentials) => {
    const clients = await callers.opened();
    clients.require(cluster);
    return clients.client(cluster, await access.upstreamCredentials(credentials, cluster));
  };
}

/** Clients that act as the user of the kubeconfig. */
function localClientOf(callers: LazyCallerClients): Engine['source']['upstream'] {
  return async (cluster) => (await callers.opened()).client(cluster, { type: 'local' });
}

/** Connects at the first call. The module is loaded then too, because a warm start must not wait for it. */
class LazyCallerClients {
  readonly #clusters: readonly ClusterOptions[];
  readonly #shutdown: Shutdown;
  #registered: Parameters<CallerClients['register']>[0] = [];
  #opening: Promise<CallerClients> | null = null;

  constructor(clusters: readonly ClusterOptions[], shutdown: Shutdown) {
    this.#clusters = clusters;
    this.#shutdown = shutdown;
  }

  opened(): Promise<CallerClients> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      // The next call tries again, because the kubeconfig may be corrected meanwhile.
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /** See CallerClients.register. */
  async register(clusters: Parameters<CallerClients['register']>[0]): Promise<void> {
    this.#registered = clusters;
    await (await this.#opening)?.register(clusters);
  }

  async #open(): Promise<CallerClients> {
    const { openCallerClients } = await import('../../upstream/caller-clients.ts');
    const clients = await openCallerClients(this.#clusters);
    this.#shutdown.add(() => clients.close());
    await clients.register(this.#registered);
    return clients;
  }
}

/** The aggregated API server; null without --aggregate. @throws PortolanError CONFIGURATION */
async function openAggregate(
  config: ServingConfig,
  { source }: Engine,
  { cells, clusters, ingest, shutdown, certificateClock, log, shared }: Started,
  {
    access,
    audit,
    callers,
    metrics,
  }: {
    readonly access: AccessControl | null;
    readonly audit: AuditFile | null;
    readonly callers: LazyCallerClients;
    readonly metrics: SetMetrics;
  },
): Promise<RunningAggregate | null> {
  const certificates = aggregateCertificates(config);
  if (certificates === null) return null;
  const { startAggregate } = await import('../aggregate/start-aggregate.ts');
  const aggregate = await startAggregate(config, certificates, {
    access: must(access, 'acceptedCredentials requires --auth for --aggregate'),
    clusters,
    source,
    bounds: boundsOf(config, processesOf(shared)),
    isSynced: () => ingest.progress().ready,
    version,
    clients: () => callers.opened(),
    ...(audit === null ? {} : { audit: audit.audit }),
    sharesPort: shared !== undefined,
    metrics,
    shutdown,
    ...(certificateClock === undefined ? {} : { certificateClock }),
    log,
  });
  // After the wake of the rights: a watch reads with rights that are at least as new as what it reads.
  const home = cells?.cellOf(must(access, 'acceptedCredentials requires --auth for --aggregate').home);
  ingest.onWake((committed, cell) => {
    if (cell === home) aggregate.wake(committed);
  });
  return aggregate;
}

/** Loads the catalog from the store, or else waits for the first one from the clusters. */
async function firstGeneration(engine: Engine, { ingest }: Started): Promise<void> {
  await Promise.race([ingest.catalogKnown, ingest.failed]);
  await engine.refreshCatalog();
}

function processesOf(shared: SharedParts | undefined): () => number {
  return () => shared?.processes().wanted ?? 1;
}

function metricsOf(
  config: ServingConfig,
  { source }: Engine,
  { cells, ingest, reader, log, live, shared }: Started,
  {
    access,
    audit,
    secrets,
    writes,
    sets,
  }: {
    readonly access: AccessControl | null;
    readonly audit: AuditFile | null;
    /** The Secrets that register clusters; null where none do. */
    readonly secrets: { readonly refused: number } | null;
    readonly writes: WriteMetrics;
    readonly sets: SetMetrics;
  },
): Metrics {
  return createMetrics({
    reader,
    moreReaders: cells?.readers.slice(1),
    source,
    progress: () => ingest.progress(),
    rightsChecks: () => access?.checks ?? null,
    refusedSecrets: () => secrets?.refused ?? 0,
    writes,
    ...(config.aggregate ? { sets } : {}),
    ...(audit === null ? {} : { audit: () => audit.state() }),
    ...(live === undefined ? {} : { config: live }),
    others: shared?.otherMetrics,
    by: config.metricsBy,
    version,
    clock: systemClock,
    log,
  });
}

async function startHttp(
  config: ServingConfig,
  { source }: Engine,
  { cells, ingest, reader, shutdown, log, shared }: Started,
  {
    access,
    audit,
    tracer,
    metrics,
  }: {
    readonly access: AccessControl | null;
    readonly audit: AuditFile | null;
    readonly tracer: Tracer;
    readonly metrics: Metrics;
  },
): Promise<RunningServer> {
  const paths = tlsPaths(config);
  const tls = paths === null ? null : await TlsFiles.open(paths, log);
  const server = await startServer({
    host: config.host,
    isOpen: config.auth.length > 0,
    ...(tls === null ? {} : { tls }),
    ...(audit === null ? {} : { audit: audit.audit }),
    callerBounds: boundsOf(config, processesOf(shared)),
    ...(access === null ? {} : { authenticate: access.authenticate, mayObserve: access.mayObserve }),
    port: config.port,
    ...(shared === undefined ? {} : { siblings: shared.siblings }),
    get allowOrigins() {
      return config.allowOrigin;
    },
    keepAliveMs: config.keepAlive,
    source,
    readiness: () => {
      const own = readinessOf(ingest.progress());
      const found = shared === undefined ? own : withProcesses(own, shared.processes());
      return audit === null ? found : withAudit(found, audit.state(), config.auditRequired);
    },
    metrics,
    profiles: () => config.profile,
    tabs: readWrittenExamples(),
    ...(config.preparedAnswers ? { pages: cells?.readers ?? reader } : {}),
    tracer,
    log,
  });
  shutdown.add(() => server.close());
  return server;
}
