/** The gateway of a benchmark over a store file that another thread or process writes: readers, an engine and the real server. */
import type { Authenticate } from '../../src/access/caller.ts';
import { type Rights, seesEverything } from '../../src/access/rights.ts';
import type { CallerBounds } from '../../src/admission/caller-limits.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { Tracer } from '../../src/base/tracing.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { defaultReaders } from '../../src/config/table/query-options.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/graphql/engine.ts';
import { startServer } from '../../src/server/http-server.ts';
import { openReader, type PooledReader } from '../../src/store/read/reader.ts';
import type { Reader } from '../../src/store/types/lease.ts';

interface ServedStore {
  readonly url: string;
  readonly rights: Rights;
  readonly engine: Engine;
  readonly reader: PooledReader;
  /** Ends the server, the engine and the readers, in this order. */
  close(): Promise<void>;
}

/** Without `answerCacheBytes` no answers are kept: a benchmark measures the store. */
interface ServeOptions extends Pick<EngineOptions, 'diagnosis' | 'answerCacheBytes'> {
  /** Do the readers write pages as text? */
  readonly prepared: boolean;
  /** Default: every caller is the local user, who sees everything. */
  readonly authenticate?: Authenticate;
  readonly rightsOver?: (reader: Reader) => Rights;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer;
  /** Default: those of a gateway. */
  readonly callerBounds?: CallerBounds;
  /** The values of --profile. Default: none. */
  readonly profiles?: readonly string[];
}

/** Serves the store with the default options of a gateway. */
export async function serveStore(
  file: string,
  { prepared, authenticate, rightsOver, tracer, callerBounds, profiles = [], ...more }: ServeOptions,
): Promise<ServedStore> {
  const config = loadConfig({ flags: {}, environment: {} });
  const { readers = defaultReaders, leaseMs, maxPageSize, maxCost, maxReadBytes, scanRows } = config;
  const log = silentLogger;
  const reader = openReader(file, { readers, leaseMs, log });
  const limits = { maxPageSize, maxCost, maxReadBytes, scanRows };
  const rights = rightsOver?.(reader) ?? seesEverything;
  const engine = createEngine({ reader, pages: reader, log, clock: systemClock, rights, ...limits, ...more });
  await engine.refreshCatalog();
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: engine.source,
    ...(authenticate === undefined ? {} : { authenticate }),
    readiness: () => ({ ready: true }),
    tabs: [],
    profiles: () => profiles,
    log,
    ...(prepared ? { pages: reader } : {}),
    ...(tracer === undefined ? {} : { tracer }),
    ...(callerBounds === undefined ? {} : { callerBounds }),
  });
  return {
    url: server.url,
    rights,
    engine,
    reader,
    async close() {
      await server.close();
      engine.close();
      await reader.close();
    },
  };
}
