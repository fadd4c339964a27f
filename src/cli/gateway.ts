/**
 * The composition: store, ingest, engine and server as one running gateway.
 *
 *   startGateway -> the ingest thread opens the store and reads kubeconfigs, the readers' threads start, and this one loads what
 *                   serves -> a catalog: remembered, or from the clusters -> first generation -> listening
 *   close        -> server and ingest, then engine and readers
 *
 * What serves is imported only when the other threads have been started, because loading it is most of a warm start.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger, LogLevel } from '../base/log.ts';
import type { Config } from '../config/options.ts';
import type { ClusterOptions } from '../ingest/context/cluster-options.ts';
import type { IngestProgress } from '../ingest/context/progress.ts';
import { startIngest } from '../ingest/thread/start-ingest.ts';
import { openReader } from '../store/read/reader.ts';
import { checkPaths } from './check-paths.ts';
import { version } from './version.ts';

export interface Gateway {
  readonly url: string;
  /** Resolves when every started resource has synced or is reported as failing. */
  readonly synced: Promise<void>;
  progress(): IngestProgress;
  onProgress(listener: (progress: IngestProgress) => void): void;
  /** Rejects when the ingest thread is lost; otherwise stays pending until `close`. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

export type GatewayConfig = Pick<
  Config,
  | 'port'
  | 'host'
  | 'kinds'
  | 'exclude'
  | 'namespaces'
  | 'streamingLists'
  | 'requestsPerSecond'
  | 'auditInterval'
  | 'data'
  | 'maxDisk'
  | 'eventsMax'
  | 'eventsMaxAge'
  | 'readers'
  | 'leaseMs'
  | 'maxPageSize'
  | 'maxCost'
  | 'maxReadBytes'
  | 'searchPaths'
  | 'promote'
  | 'promoteQueried'
  | 'explain'
  | 'slowQueryMs'
  | 'scanRows'
  | 'preparedAnswers'
> & { readonly logLevel: LogLevel };

/** Starts a gateway over these clusters. Throws what makes it impossible; a cluster that is merely down is retried. */
export async function startGateway(
  config: GatewayConfig,
  clusters: readonly ClusterOptions[],
  log: Logger,
): Promise<Gateway> {
  checkPaths('--search-paths', config.searchPaths);
  checkPaths(
    '--promote',
    config.promote.map((entry) => entry.slice(entry.indexOf('=') + 1).trim()),
  );
  const temporary = config.data === undefined ? mkdtempSync(join(tmpdir(), 'portolan-')) : null;
  const file = config.data ?? join(temporary ?? '', 'portolan.db');
  const undo: (() => unknown)[] = [() => temporary !== null && rmSync(temporary, { recursive: true, force: true })];
  const unwind = async (): Promise<void> => {
    for (const step of undo.toReversed()) {
      try {
        await step();
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'part of the shutdown failed');
      }
    }
  };

  try {
    const opening = startIngest({
      file,
      clusters,
      include: config.kinds,
      exclude: config.exclude,
      namespaces: config.namespaces,
      events: { maxObjects: config.eventsMax, maxAgeMs: config.eventsMaxAge },
      searchPaths: config.searchPaths,
      promote: config.promote,
      logLevel: config.logLevel,
      ...(config.maxDisk === undefined ? {} : { maxDiskBytes: config.maxDisk }),
      reflector: {
        auditMs: config.auditInterval,
        streamingLists: config.streamingLists === 'auto',
        requests: { burst: config.requestsPerSecond, perSecond: config.requestsPerSecond },
      },
    });
    undo.push(() =>
      opening.then(
        (started) => started.close(),
        () => {},
      ),
    );
    const reader = openReader(file, {
      readers: config.readers,
      leaseMs: config.leaseMs,
      log,
      onDamage: (damage) => {
        opening.then(
          (started) => started.reportDamage(damage),
          () => {},
        );
      },
    });
    undo.push(() => reader.close());
    const [ingest, { createEngine, createMetrics, readinessOf, readPlaygroundTabs, startServer }] = await Promise.all([
      opening,
      import('./serving.ts'),
    ]);
    const engine = createEngine({
      reader,
      log,
      clock: systemClock,
      maxPageSize: config.maxPageSize,
      maxCost: config.maxCost,
      maxReadBytes: config.maxReadBytes,
      scanRows: config.scanRows,
      searchPaths: config.searchPaths,
      ...(config.promoteQueried ? { promote: (use) => ingest.promote(use) } : {}),
      diagnosis: { explain: config.explain, promote: config.promote },
      slowQueryMs: config.slowQueryMs,
    });
    undo.push(() => engine.close());

    ingest.onWake(() => engine.wake());
    ingest.onCatalog(() => void engine.refreshCatalog().catch(() => {}));
    await Promise.race([ingest.catalogKnown, ingest.failed]);
    await engine.refreshCatalog();

    const metrics = createMetrics({
      reader,
      source: engine.source,
      progress: () => ingest.progress(),
      version,
      clock: systemClock,
      log,
    });
    const server = await startServer({
      host: config.host,
      port: config.port,
      source: engine.source,
      readiness: () => readinessOf(ingest.progress(), reader),
      metrics,
      tabs: readPlaygroundTabs(),
      ...(config.preparedAnswers ? { pages: reader } : {}),
      log,
    });
    undo.push(() => server.close());

    let closing: Promise<void> | null = null;
    return {
      url: server.url,
      synced: ingest.synced,
      failed: ingest.failed,
      progress: () => ingest.progress(),
      onProgress: (listener) => ingest.onProgress(listener),
      close() {
        // The two that may need their time take it together; each closes but once.
        closing ??= Promise.allSettled([server.close(), ingest.close()]).then(unwind);
        return closing;
      },
    };
  } catch (error) {
    await unwind();
    throw error;
  }
}
