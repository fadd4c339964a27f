/**
 * The engine answers operations. It holds the reader, the change feed and the current generation.
 *
 * The next generation is built from the catalog in the store while the current one serves (publish/schema-refresh.ts). Then the pointer
 * is swapped. Queries in flight keep their first generation; subscriptions continue on the next one (generation/subscribe.ts).
 */

import { type NamedPart, withAbstractKinds } from '../access/abstract-rights.ts';
import { type Rights, rightsOfCells, seesEverything } from '../access/rights.ts';
import type { Clock } from '../base/clock.ts';
import { Semaphore } from '../base/concurrency/semaphore.ts';
import { PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { must } from '../base/must.ts';
import { splitMemberCluster } from '../catalog/abstract/abstract-kind.ts';
import { isAbstract } from '../catalog/groups/api-group.ts';
import { searchPaths } from '../catalog/paths/search-text.ts';
import type { CatalogKind } from '../catalog/resources/catalog.ts';
import { ChangeFeed } from '../live/feed/change-feed.ts';
import { LiveQueries } from '../live/query/live-queries.ts';
import { watchedChanges } from '../live/query/watched-changes.ts';
import { CommitSignals } from '../live/signals/commit-signals.ts';
import { KeptAnswers } from '../operation/answers/kept-answers.ts';
import { Staleness } from '../operation/answers/staleness.ts';
import type { Diagnosis } from '../operation/operation-source.ts';
import { IndexAdvisor } from '../operation/parts/index-advisor.ts';
import { SlowQueries } from '../operation/parts/slow-queries.ts';
import { SyncWatch } from '../operation/sync-watch.ts';
import { KeptCounts } from '../query/read/kept-counts.ts';
import { readiness } from '../query/read/readiness.ts';
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
  /** Signals a commit of these changes in a cell; default: the first one. Without changes, any kind may have changed. */
  wake(committed?: CommittedChanges, cell?: number): void;
  /** Makes every subscription look at its state again: the rights of some caller may have changed. */
  interrupt(): void;
  /** No generation is built after it. Call it before the store closes; operations in flight may go on. */
  stopRefreshing(): void;
  close(): void;
}

/** What reads one cell. */
interface EngineCell {
  readonly reader: Reader;
  /** Reads short pages at once. */
  readonly pages?: PageReader;
  /** The rows of its clusters that callers may see; without it every caller sees everything. */
  readonly rights?: Rights;
}

export interface EngineOptions {
  readonly reader: Reader;
  /** Several cells, each a store of whole clusters. `reader`, `pages` and `rights` of the options are those of one store. */
  readonly cells?: {
    readonly parts: readonly EngineCell[];
    /** The readers of each cell, and the milliseconds that a lease of them may last. */
    readonly readers: number;
    readonly leaseMs: number;
    /** The index of the cell that has a cluster; undefined for none. */
    cellOf(cluster: string): number | undefined;
  };
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
  /** The prefix of the names of types. Default: empty. */
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
  /** Counts subscriptions of logs; default: they are not counted. */
  readonly logs?: GraphQLSource['logs'];
  /** The resources that ingest cannot bring up to date now; default: none. */
  readonly staleness?: Staleness;
  /** Default: `upstream`. */
  readonly openApiClient?: GraphQLSource['upstream'];
  /** How queries get the data of Secrets; default: absent. */
  readonly secretData?: GraphQLSource['secretData'];
  /** The access of mutations; without it the gateway is read-only. */
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
    upstream = () => Promise.reject(new PortolanError('FORBIDDEN', 'This gateway sends no requests as its callers.')),
    logs = unboundedLogs,
    openApiClient = upstream,
    secretData = 'absent',
    writes = null,
    staleness = new Staleness(clock),
  } = options;
  const parts = cellsOf(options);
  const feeds = parts.map((part) => new ChangeFeed(part.reader, log, { pages: part.pages ?? null }));
  const feed = must(feeds[0], 'a store has a cell');
  const commits = parts.length === 1 ? feed : new CommitSignals();
  const liveQueries = new LiveQueries({
    changes: watchedChanges(feed),
    readers: parts.map((part) => part.reader),
    runs: options.liveRuns ?? 2,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
  const interrupt = (): void => {
    for (const each of feeds) each.interrupt();
    if (commits instanceof CommitSignals) commits.notify();
    liveQueries.interrupt();
  };
  const readers = parts.map((part) => part.reader);
  const schema = new SchemaRefresh({ readers, log, clock, typePrefix: options.typePrefix ?? '', published: interrupt });

  const limits = limitsOf(options);
  const generation = (): Generation => {
    if (schema.current !== null) return schema.current;
    throw new PortolanError(
      'CACHE_NOT_READY',
      'The schema is not known yet, because no cluster has been reached; try again in a moment.',
    );
  };
  const rightsOf = ({ rights = seesEverything }: EngineCell): Rights =>
    withAbstractKinds(rights, (key) => abstractParts(schema.current?.kind(key)));
  const rightsIn = parts.map(rightsOf);
  const cellOf = (cluster: string): number | undefined =>
    options.cells?.cellOf(clusterOfPart(cluster, schema.current?.clusters ?? new Set()));
  const rights =
    parts.length === 1
      ? must(rightsIn[0], 'a store has a cell')
      : rightsOfCells(rightsIn, (cluster) => must(rightsIn[cellOf(cluster) ?? 0], 'the rights of a cell'));
  const answers =
    options.pages === undefined || parts.length > 1
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
    commits,
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
    syncWatch: new SyncWatch(async (keys) => {
      // A cell that cannot be read has nothing that has settled.
      const look = (each: Reader) => each.lease((lease) => readiness(lease, keys)).catch(() => []);
      return (await Promise.all(readers.map(look))).flat();
    }, commits),
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
    source:
      parts.length === 1
        ? source
        : withCells(source, { parts, feeds, rights: rightsIn, cellOf, holders: holdersOf(options) }),
    refreshCatalog: () => schema.refresh(),
    wake(committed, cell = 0) {
      feeds[cell]?.wake(committed);
      if (commits instanceof CommitSignals) commits.notify();
      liveQueries.wake(committed, cell);
    },
    interrupt,
    stopRefreshing: () => schema.close(),
    close() {
      schema.close();
      for (const each of feeds) each.close();
      if (commits instanceof CommitSignals) commits.close();
    },
  };
}

function cellsOf({ cells, reader, pages, rights }: EngineOptions): readonly EngineCell[] {
  return (
    cells?.parts ?? [{ reader, ...(pages === undefined ? {} : { pages }), ...(rights === undefined ? {} : { rights }) }]
  );
}

/** The cluster itself, or that of a member of an abstract kind. Names of clusters may have slashes too. */
function clusterOfPart(part: string, served: ReadonlySet<string>): string {
  if (!part.includes('/') || served.has(part)) return part;
  const { cluster } = splitMemberCluster(part);
  return served.has(cluster) ? cluster : part;
}

function holdersOf({ cells }: EngineOptions): NonNullable<GraphQLSource['holders']> {
  const { readers = 1, leaseMs = 1000 } = cells ?? {};
  return { turns: new Semaphore(readers), leaseMs };
}

interface CellParts {
  readonly parts: readonly EngineCell[];
  readonly feeds: readonly ChangeFeed[];
  readonly rights: readonly Rights[];
  readonly cellOf: (cluster: string) => number | undefined;
  readonly holders: NonNullable<GraphQLSource['holders']>;
}

/** The source of a gateway with several cells. Those of the cells have all that it has, and what reads the cell. */
function withCells(source: GraphQLSource, { parts, feeds, rights, cellOf, holders }: CellParts): GraphQLSource {
  // With getters, because some values change.
  const shared = Object.getOwnPropertyDescriptors(source);
  const changed = (own: PropertyDescriptorMap): GraphQLSource => Object.create(Object.prototype, { ...shared, ...own });
  const value = (of: unknown): PropertyDescriptor => ({ value: of, enumerable: true });
  const cells = parts.map(({ reader }, index) =>
    changed({
      reader: value(reader),
      feed: value(feeds[index]),
      rights: value(rights[index]),
      counts: value(new KeptCounts()),
      cell: value({ index, count: parts.length }),
      cellOf: value(cellOf),
    }),
  );
  const ofCell = { get: ofOneCell, enumerable: false };
  return changed({
    feed: ofCell,
    reader: ofCell,
    counts: ofCell,
    holders: value(holders),
    cellOf: value(cellOf),
    cells: value(cells),
  });
}

function ofOneCell(): never {
  throw new Error('invariant broken: what reads one cell is asked for all of them');
}

const partsOf = new WeakMap<CatalogKind, readonly NamedPart[]>();

/** The members of an abstract kind; null for another kind. */
function abstractParts(kind: CatalogKind | undefined): readonly NamedPart[] | null {
  if (kind === undefined || !isAbstract(kind)) return null;
  const known = partsOf.get(kind) ?? kind.clusters.map((part) => ({ part, ...splitMemberCluster(part) }));
  partsOf.set(kind, known);
  return known;
}
