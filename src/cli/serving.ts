/**
 * The part of a gateway that answers requests: engine, metrics, HTTP server. It is a separate module because loading it takes
 * most of a warm start. gateway.ts imports it after it has started the other threads.
 */

import { rbacKeys } from '../access/rbac-objects.ts';
import type { CallerBounds } from '../admission/caller-limits.ts';
import type { AccessControl } from '../auth/access-control.ts';
import { systemClock } from '../base/clock.ts';
import { PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { noTracer, type Tracer } from '../base/tracing.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { Config } from '../config/options.ts';
import { defaultReaders } from '../config/table/query-options.ts';
import { createEngine, type Engine } from '../graphql/engine.ts';
import type { IngestProgress } from '../ingest/context/progress.ts';
import type { IngestHandle } from '../ingest/thread/start-ingest.ts';
import type { ClusterOptions } from '../kube/client/connection.ts';
import { Staleness } from '../operation/answers/staleness.ts';
import { createMetrics } from '../server/health/metrics.ts';
import { readinessOf, withAudit } from '../server/health/readiness.ts';
import { type RunningServer, startServer } from '../server/http-server.ts';
import { TlsFiles } from '../server/negotiation/tls-files.ts';
import { readWrittenExamples } from '../server/written-examples.ts';
import type { PooledReader } from '../store/read/reader.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import { wantsTraces } from '../telemetry/trace-settings.ts';
import type { CallerClients } from '../upstream/caller-clients.ts';
import { type AccessConfig, openAccess } from './access.ts';
import { type AuditFile, openAuditFile } from './audit-file.ts';
import { tlsPaths } from './options/tls-paths.ts';
import type { RegistrationConfig } from './registered-clusters.ts';
import type { Shutdown } from './shutdown.ts';
import { version } from './version.ts';

export type ServingConfig = Pick<
  Config,
  | 'port'
  | 'allowOrigin'
  | 'keepAlive'
  | 'metricsBy'
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
  | 'auditLog'
  | 'auditRequired'
> &
  AccessConfig &
  RegistrationConfig;

/** The parts that were started before. */
interface Started {
  readonly clusters: readonly ClusterOptions[];
  readonly ingest: IngestHandle;
  readonly reader: PooledReader & PageReader;
  readonly shutdown: Shutdown;
  readonly log: Logger;
  /** The state of the configuration file; absent where it is not read again. */
  readonly live?: LiveConfig;
  /** Milliseconds between two looks at the Secrets that register clusters; default 5 s. */
  readonly clusterSecretsEveryMs?: number;
}

/** Resolves when the server listens. Before that, it waits for a catalog. */
export async function startServing(config: ServingConfig, started: Started): Promise<RunningServer> {
  const { clusters, reader, log, shutdown } = started;
  // The first part, so that it ends last: spans end with their requests.
  const tracer = await openTracer(started);
  const staleness = stalenessOf(started.ingest);
  const access = await openAccess(config, clusters, {
    reader,
    log,
    changed: () => engine.interrupt(),
    staleSince: (cluster) => staleness.since(cluster, rbacKeys),
  });
  if (access !== null) shutdown.add(() => access.close());
  const callers = new LazyCallerClients(clusters, shutdown);
  const engine = startEngine(config, started, access, { callers, staleness });
  await firstGeneration(engine, started);
  const { ingest } = started;
  let secrets: { readonly refused: number } | null = null;
  if (config.clusterSecrets !== undefined) {
    const { registerClusters } = await import('./registered-clusters.ts');
    secrets = await registerClusters(config, clusters, {
      ingest,
      access,
      callers: (registered) => callers.register(registered),
      shutdown,
      log,
      everyMs: started.clusterSecretsEveryMs,
    });
  }
  const server = await startHttp(config, engine, started, { access, tracer, secrets });
  return {
    ...server,
    close() {
      engine.stopRefreshing();
      return server.close();
    },
  };
}

/** The SDK of OpenTelemetry is loaded only if traces are wanted. */
async function openTracer({ shutdown, log }: Started): Promise<Tracer> {
  if (!wantsTraces(process.env)) return noTracer;
  const { openTracing } = await import('../telemetry/open-tracing.ts');
  const tracing = openTracing(process.env, version, log);
  shutdown.add(() => tracing.close());
  return tracing.tracer;
}

function startEngine(
  config: ServingConfig,
  { ingest, reader, shutdown, log }: Started,
  access: AccessControl | null,
  { callers, staleness }: { readonly callers: LazyCallerClients; readonly staleness: Staleness },
): Engine {
  const engine = createEngine({
    reader,
    log,
    clock: systemClock,
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
    ...(access === null ? {} : { rights: access.rights, upstream: upstreamOf(access, callers) }),
    secretData: config.secretData,
    staleness,
  });
  shutdown.add(() => engine.close());
  ingest.onWake((committed) => {
    access?.wake(committed);
    engine.wake(committed);
  });
  ingest.onCatalog(() => void engine.refreshCatalog().catch(() => {}));
  return engine;
}

function stalenessOf(ingest: IngestHandle): Staleness {
  const staleness = new Staleness(systemClock);
  const note = ({ clusters }: IngestProgress): void => staleness.set(clusters.flatMap(({ stale }) => stale));
  note(ingest.progress());
  ingest.onProgress(note);
  return staleness;
}

/** Clients that act as the caller of a request. */
function upstreamOf(access: AccessControl, callers: LazyCallerClients): Engine['source']['upstream'] {
  return async (cluster, credentials) => {
    const own = access.upstreamCredentials(credentials, cluster);
    return (await callers.opened()).client(cluster, own);
  };
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
    const { openCallerClients } = await import('../upstream/caller-clients.ts');
    const clients = await openCallerClients(this.#clusters);
    this.#shutdown.add(() => clients.close());
    await clients.register(this.#registered);
    return clients;
  }
}

/** Loads the catalog from the store, or else waits for the first one from the clusters. */
async function firstGeneration(engine: Engine, { ingest }: Started): Promise<void> {
  await Promise.race([ingest.catalogKnown, ingest.failed]);
  await engine.refreshCatalog();
}

/** Read at each use, because a running gateway takes changed bounds from its configuration file. */
function boundsOf(config: ServingConfig): CallerBounds {
  return {
    get requests() {
      return config.callerRequests;
    },
    get costPerMinute() {
      return config.callerCost;
    },
    get subscriptions() {
      return config.callerSubscriptions;
    },
    get connections() {
      return config.callerConnections;
    },
  };
}

/** Null without an audit log. @throws PortolanError CONFIGURATION */
async function openAudit({ auditLog, auditRequired }: ServingConfig, log: Logger): Promise<AuditFile | null> {
  if (auditLog !== undefined) return openAuditFile(auditLog, log);
  if (auditRequired) throw new PortolanError('CONFIGURATION', '--audit-required needs --audit-log and a file.');
  return null;
}

async function startHttp(
  config: ServingConfig,
  { source }: Engine,
  { ingest, reader, shutdown, log, live }: Started,
  {
    access,
    tracer,
    secrets,
  }: {
    readonly access: AccessControl | null;
    readonly tracer: Tracer;
    /** The Secrets that register clusters; null where none do. */
    readonly secrets: { readonly refused: number } | null;
  },
): Promise<RunningServer> {
  const audit = await openAudit(config, log);
  if (audit !== null) shutdown.add(() => audit.close());
  const paths = tlsPaths(config);
  const tls = paths === null ? null : await TlsFiles.open(paths, log);
  const metrics = createMetrics({
    reader,
    source,
    progress: () => ingest.progress(),
    rightsChecks: () => access?.checks ?? null,
    refusedSecrets: () => secrets?.refused ?? 0,
    ...(audit === null ? {} : { audit: () => audit.state() }),
    ...(live === undefined ? {} : { config: live }),
    by: config.metricsBy,
    version,
    clock: systemClock,
    log,
  });
  const server = await startServer({
    host: config.host,
    isOpen: config.auth.length > 0,
    ...(tls === null ? {} : { tls }),
    ...(audit === null ? {} : { audit: audit.audit }),
    callerBounds: boundsOf(config),
    ...(access === null ? {} : { authenticate: access.authenticate, mayObserve: access.mayObserve }),
    port: config.port,
    get allowOrigins() {
      return config.allowOrigin;
    },
    keepAliveMs: config.keepAlive,
    source,
    readiness: () => {
      const found = readinessOf(ingest.progress());
      return audit === null ? found : withAudit(found, audit.state(), config.auditRequired);
    },
    metrics,
    profiles: () => config.profile,
    tabs: readWrittenExamples(),
    ...(config.preparedAnswers ? { pages: reader } : {}),
    tracer,
    log,
  });
  shutdown.add(() => server.close());
  return server;
}
