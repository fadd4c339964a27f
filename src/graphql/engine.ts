/**
 * What answers operations: the reader, the change feed and the current generation.
 *
 * Owns: the pointer to the current generation. The next one is built beside it from the catalog in the store and the pointer is
 * swapped; queries in flight keep the one they began on, subscriptions are told to look (src/graphql/generation/subscribe.ts).
 */

import type { Caller } from '../access/caller.ts';
import { type Scopes, unrestricted } from '../access/scope.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { assembleCatalog } from '../catalog/assemble.ts';
import { searchPaths } from '../catalog/paths/search-text.ts';
import { ChangeFeed } from '../live/change-feed.ts';
import { IndexAdvisor } from '../operation/index-advisor.ts';
import type { Diagnosis } from '../operation/operation-source.ts';
import { SlowQueries } from '../operation/slow-queries.ts';
import { readDescribed } from '../store/read/catalog-rows.ts';
import type { PathUse } from '../store/types/kind-layout.ts';
import type { Reader } from '../store/types/lease.ts';
import type { Generation, GraphQLSource } from './generation/generation.ts';
import { buildGeneration } from './schema/build-generation.ts';

export interface Engine {
  readonly source: GraphQLSource;
  /** Reads the catalog from the store and, if it differs, builds and publishes the next generation. Concurrent calls share one run. */
  refreshCatalog(): Promise<void>;
  /** Something was committed. */
  wake(): void;
  close(): void;
}

export interface EngineOptions {
  readonly reader: Reader;
  readonly log: Logger;
  readonly clock: Clock;
  /** The most objects that one page may have. */
  readonly maxPageSize: number;
  /** Values that one operation may ask for; default 500,000. */
  readonly maxCost?: number;
  /** Bytes that one operation may read from the store; default 64 MiB. */
  readonly maxReadBytes?: number;
  /** Objects whose bodies the counts and aggregates of one operation may read; default 100,000. */
  readonly scanRows?: number;
  /** Paths that `search` looks at beside names, labels and images: those of the writer. */
  readonly searchPaths?: readonly string[];
  /** Hears which paths queries need or use; without it none is promoted for them. */
  readonly promote?: (use: PathUse) => void;
  readonly diagnosis?: Partial<Diagnosis>;
  /** Milliseconds beyond which an operation is logged; default 500. */
  readonly slowQueryMs?: number;
  /** What each caller may see; without it everything. */
  readonly scopesOf?: (caller: Caller) => Scopes;
}

/** An engine without a generation; the first `refreshCatalog` gives it one. */
export function createEngine({
  reader,
  log,
  clock,
  maxPageSize,
  maxCost = 500_000,
  maxReadBytes = 64 * 1024 * 1024,
  scanRows = 100_000,
  searchPaths: searched = [],
  promote,
  diagnosis = {},
  slowQueryMs = 500,
  scopesOf = () => unrestricted,
}: EngineOptions): Engine {
  const feed = new ChangeFeed(reader, log);
  let current: Generation | null = null;
  let running: Promise<void> | null = null;
  let again = false;

  const source: GraphQLSource = {
    reader,
    feed,
    log,
    scopesOf,
    limits: { maxPageSize, maxCost, maxReadBytes, scanRows },
    searchPaths: searchPaths(searched),
    indexAdvisor: new IndexAdvisor(clock, promote ?? null),
    diagnosis: { explain: false, promote: [], ...diagnosis },
    slowQueries: new SlowQueries(log, slowQueryMs),
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    generation() {
      if (current !== null) return current;
      throw new PortolanError(
        'CACHE_NOT_READY',
        'The schema is not known yet, because no cluster has been reached; try again in a moment.',
      );
    },
  };

  const publish = async (): Promise<void> => {
    const { described } = await reader.lease((lease) => readDescribed(lease), { timeoutMs: 30_000 });
    const catalog = assembleCatalog(described);
    if (current?.catalog.hash === catalog.hash) return;
    const began = clock.monotonic();
    const next = buildGeneration(catalog);
    for (const { cluster, resource, message } of [...catalog.diagnostics, ...next.diagnostics]) {
      log.warn({ cluster, resource }, message);
    }
    current = next;
    const milliseconds = Math.round(clock.monotonic() - began);
    log.info({ generation: next.id, kinds: catalog.kinds.length, milliseconds }, 'schema published');
    feed.interrupt();
  };

  const refresh = async (): Promise<void> => {
    try {
      while (again) {
        again = false;
        await publish();
      }
    } catch (error) {
      log.error({ error: messageOf(error) }, 'the next schema could not be built; the current one stays');
      if (current === null) throw error;
    } finally {
      // In the same turn as the last look at `again`, so that no call falls between the two.
      running = null;
    }
  };

  return {
    source,
    async refreshCatalog() {
      again = true;
      running ??= refresh();
      await running;
    },
    wake: () => feed.wake(),
    close: () => feed.close(),
  };
}
