/**
 * The engine answers operations. It holds the reader, the change feed and the current generation.
 *
 * The next generation is built from the catalog in the store while the current one serves (publish/schema-refresh.ts). Then the pointer
 * is swapped. Queries in flight keep their first generation; subscriptions continue on the next one (generation/subscribe.ts).
 */

import { type NamedPart, withAbstractKinds } from '../access/abstract-rights.ts';
import { type Rights, seesEverything } from '../access/rights.ts';
import type { Clock } from '../base/clock.ts';
import { PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { splitMemberCluster } from '../catalog/abstract/abstract-kind.ts';
import { isAbstract } from '../catalog/groups/api-group.ts';
import { searchPaths } from '../catalog/paths/search-text.ts';
import type { CatalogKind } from '../catalog/resources/catalog.ts';
import { ChangeFeed } from '../live/feed/change-feed.ts';
import { LiveQueries } from '../live/query/live-queries.ts';
import { watchedChanges } from '../live/query/watched-changes.ts';
import { KeptAnswers } from '../operation/answers/kept-answers.ts';
import { Staleness } from '../operation/answers/staleness.ts';
import { IndexAdvisor } from '../operation/index-advisor.ts';
import type { Diagnosis } from '../operation/operation-source.ts';
import { SlowQueries } from '../operation/slow-queries.ts';
import { SyncWatch } from '../operation/sync-watch.ts';
import { KeptCounts } from '../query/read/kept-counts.ts';
import type { CommittedChanges } from '../store/types/change.ts';
import type { PathUse } from '../store/types/kind-layout.ts';
import type { Reader } from '../store/types/lease.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import { OpenApiDocuments } from '../upstream/openapi-documents.ts';
import type { Generation, GraphQLSource } from './generation/generation.ts';
import { SchemaRefresh } from './publish/schema-refresh.ts';

export interface Engine {
  readonly source: GraphQLSource;
  /**
   * Reads the catalog from the store and, if it differs, builds and publishes the next generation. Resolves when the catalog of the
   * time of the call is published. Calls during a run share the next run.
   */
  refreshCatalog(): Promise<void>;
  /** Signals a commit of these changes. Without an argument, any kind may have changed. */
  wake(committed?: CommittedChanges): void;
  /** Makes every subscription look at its state again: the rights of some caller may have changed. */
  interrupt(): void;
  /** No generation is built after it. Call it before the store closes; operations in flight may go on. */
  stopRefreshing(): void;
  close(): void;
}

export interface EngineOptions {
  readonly reader: Reader;
  readonly log: Logger;
  readonly clock: Clock;
  /** Is it the name of a cluster that is configured or registered? Without it, only clusters that serve a kind are known. */
  readonly isConfigured?: (cluster: string) => boolean;
  /** The most objects that one page may have. */
  readonly maxPageSize: number;
  /** Values that one operation may request; default 500,000. */
  readonly maxCost?: number;
  /** Bytes that one operation may read from the store; default 64 MiB. */
  readonly maxReadBytes?: number;
  /** Objects whose bodies the counts and aggregates of one operation may read; default 100,000. */
  readonly scanRows?: number;
  /** Paths that `search` covers besides names, labels and images. They must equal the writer's. */
  readonly searchPaths?: readonly string[];
  /** Called with the paths that queries need or use. Without it, queries cause no promotion. */
  readonly promote?: (use: PathUse) => void;
  readonly diagnosis?: Partial<Diagnosis>;
  /** What the names of types begin with. Default: nothing. */
  readonly typePrefix?: string;
  /** Milliseconds beyond which an operation is logged; default 500. */
  readonly slowQueryMs?: number;
  /** Milliseconds that a query waits for a kind in its first sync; default 0. */
  readonly waitForSyncMs?: number;
  /** Bytes of answers that are kept in memory; default 0, none. */
  readonly answerCacheBytes?: number;
  /** Reads short pages at once: it proves that a kept answer is true, and reads new changes. Without it no answer is kept. */
  readonly pages?: PageReader;
  /** Live queries that may run at once; default 2. Less than the reader threads, so that others are answered too. */
  readonly liveRuns?: number;
  /** The rows that callers may see; without it every caller sees everything. */
  readonly rights?: Rights;
  /** The API servers, for requests as the caller; without it there are none. */
  readonly upstream?: GraphQLSource['upstream'];
  /** What subscriptions of logs are counted by; default: nothing. */
  readonly logs?: GraphQLSource['logs'];
  /** The resources that ingest cannot bring up to date now; default: none. */
  readonly staleness?: Staleness;
  /** Default: `upstream`. */
  readonly openApiClient?: GraphQLSource['upstream'];
  /** How queries get the data of Secrets; default: absent. */
  readonly secretData?: GraphQLSource['secretData'];
  /** What mutations need; without it the gateway is read-only. */
  readonly writes?: NonNullable<GraphQLSource['writes']>;
}

/** The bounds of operations. The options are read at each use, because some of them change while the gateway runs. */
function limitsOf(options: EngineOptions): GraphQLSource['limits'] {
  return {
    maxPageSize: options.maxPageSize,
    get maxCost() {
      return options.maxCost ?? 500_000;
    },
    get maxReadBytes() {
      return options.maxReadBytes ?? 64 * 1024 * 1024;
    },
    get scanRows() {
      return options.scanRows ?? 100_000;
    },
    get waitForSyncMs() {
      return options.waitForSyncMs ?? 0;
    },
  };
}

const unboundedLogs: GraphQLSource['logs'] = {
  enter: () => () => {},
  charge: () => {},
  hold: () => ({ isFull: false, requireRoom: () => {}, add: () => {}, release: () => {} }),
};

/** An engine without a generation. The first `refreshCatalog` publishes one. */
export function createEngine(options: EngineOptions): Engine {
  const {
    reader,
    log,
    clock,
    searchPaths: searched = [],
    promote,
    diagnosis = {},
    rights: given = seesEverything,
    upstream = () => Promise.reject(new PortolanError('FORBIDDEN', 'This gateway sends no requests as its callers.')),
    logs = unboundedLogs,
    openApiClient = upstream,
    secretData = 'absent',
    writes = null,
    staleness = new Staleness(clock),
  } = options;
  const feed = new ChangeFeed(reader, log, { pages: options.pages ?? null });
  const liveQueries = new LiveQueries({
    changes: watchedChanges(feed),
    reader,
    runs: options.liveRuns ?? 2,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
  const interrupt = (): void => {
    feed.interrupt();
    liveQueries.interrupt();
  };
  const schema = new SchemaRefresh({ reader, log, clock, typePrefix: options.typePrefix ?? '', published: interrupt });

  const limits = limitsOf(options);
  const generation = (): Generation => {
    if (schema.current !== null) return schema.current;
    throw new PortolanError(
      'CACHE_NOT_READY',
      'The schema is not known yet, because no cluster has been reached; try again in a moment.',
    );
  };
  const rights = withAbstractKinds(given, (key) => abstractParts(schema.current?.kind(key)));
  const answers =
    options.pages === undefined
      ? null
      : {
          pages: options.pages,
          bytes: () => options.answerCacheBytes ?? 0,
          rights,
          generation,
          settings: () =>
            `${limits.maxCost} ${limits.maxReadBytes} ${limits.scanRows} ${limits.maxPageSize} ${staleness.version}`,
          monotonic: () => clock.monotonic(),
        };

  const source: GraphQLSource = {
    isConfigured: options.isConfigured ?? (() => false),
    reader,
    feed,
    liveQueries,
    log,
    rights,
    upstream,
    logs,
    secretData,
    openApi: { documents: new OpenApiDocuments(), client: openApiClient },
    writes,
    limits,
    searchPaths: searchPaths(searched),
    syncWatch: new SyncWatch(reader, feed),
    counts: new KeptCounts(),
    staleness,
    answers: new KeptAnswers(answers),
    indexAdvisor: new IndexAdvisor(clock, promote ?? null),
    diagnosis: { explain: false, promote: [], ...diagnosis },
    slowQueries: new SlowQueries(
      log,
      () => options.slowQueryMs ?? 500,
      () => clock.monotonic(),
    ),
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    generation,
    get generations() {
      return schema.published;
    },
  };

  return {
    source,
    refreshCatalog: () => schema.refresh(),
    wake(committed) {
      feed.wake(committed);
      liveQueries.wake(committed);
    },
    interrupt,
    stopRefreshing: () => schema.close(),
    close() {
      schema.close();
      feed.close();
    },
  };
}

const partsOf = new WeakMap<CatalogKind, readonly NamedPart[]>();

/** The members of an abstract kind; null for another kind. */
function abstractParts(kind: CatalogKind | undefined): readonly NamedPart[] | null {
  if (kind === undefined || !isAbstract(kind)) return null;
  const known = partsOf.get(kind) ?? kind.clusters.map((part) => ({ part, ...splitMemberCluster(part) }));
  partsOf.set(kind, known);
  return known;
}
