/** The parts of a running gateway that operations use. */
import type { Caller, Credentials } from '../access/caller.ts';
import type { Rights } from '../access/rights.ts';
import type { Logger } from '../base/log.ts';
import { must } from '../base/must.ts';
import type { Path } from '../catalog/tree/path.ts';
import type { ChangeFeed } from '../live/feed/change-feed.ts';
import type { LiveQueries } from '../live/query/live-queries.ts';
import type { Commits } from '../live/signals/commit-signals.ts';
import type { KeptCounts } from '../query/read/kept-counts.ts';
import type { Reader } from '../store/types/lease.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import type { OpenApiDocuments } from '../upstream/openapi-documents.ts';
import type { KeptAnswers } from './answers/kept-answers.ts';
import type { Staleness } from './answers/staleness.ts';
import type { LeaseHolders } from './parts/holding-right.ts';
import type { IndexAdvisor } from './parts/index-advisor.ts';
import type { CostLimits } from './parts/operation-cost.ts';
import type { SlowQueries } from './parts/slow-queries.ts';
import type { ServedKinds } from './served-kinds.ts';
import type { SyncWatch } from './sync-watch.ts';
import type { WriteAccess } from './write-access.ts';

/** Reads the rights of a caller in all cells. @throws PortolanError UPSTREAM_UNAVAILABLE while they are not known */
export async function readRights(source: OperationSource, caller: Caller): Promise<void> {
  const cells = source.cells ?? [source];
  await Promise.all(cells.map(({ reader, rights }) => reader.lease((lease) => rights.at(lease, caller))));
}

/** The source of the cell that has the cluster; with one cell, the source itself. */
export function sourceAt<G extends ServedKinds>(source: OperationSource<G>, cluster: string): OperationSource<G> {
  return source.cells === undefined
    ? source
    : must(source.cells[source.cellOf?.(cluster) ?? 0], 'the cell of a cluster');
}

/** The same source with another access of mutations, also in its cells. */
export function withWrites<G extends ServedKinds>(source: OperationSource<G>, writes: WriteAccess): OperationSource<G> {
  const { cells } = source;
  return Object.create(source, {
    writes: { value: writes },
    ...(cells === undefined ? {} : { cells: { value: cells.map((cell) => withWrites(cell, writes)) } }),
  });
}

/** @typeParam G the served kinds that operations run on; for GraphQL, a generation with its schema. */
export interface OperationSource<G extends ServedKinds = ServedKinds> {
  /** The current generation. @throws PortolanError CACHE_NOT_READY before the first one. */
  generation(): G;
  /** Is it the name of a cluster that is configured or registered? It may not have been reached yet. */
  isConfigured(cluster: string): boolean;
  /** The number of generations so far. */
  readonly generations: number;
  /**
   * Of a gateway with several cells: a source for each. `reader`, `feed`, `rights` and `counts` differ, and the rest is shared. They are
   * what reads one cell, so the source of the whole gateway has none of its own. Absent with one cell.
   */
  readonly cells?: readonly OperationSource<G>[];
  /** The place of this source among those of the cells. Absent with one cell, and for the whole gateway. */
  readonly cell?: { readonly index: number; readonly count: number };
  /**
   * Bounds the operations that have leases at a time, by the readers of a cell. So none waits for a reader of one cell while it holds one of
   * another: two operations that did would wait for each other.
   */
  readonly holders?: LeaseHolders;
  /** The index of the cell that has this cluster, or this member of an abstract kind in a cluster; undefined for none. */
  readonly cellOf?: (cluster: string) => number | undefined;
  readonly reader: Reader;
  readonly feed: ChangeFeed;
  /** The commits of all cells. */
  readonly commits: Commits;
  readonly liveQueries: LiveQueries;
  /** The rows that callers may see. */
  readonly rights: Rights;
  /**
   * A client of a cluster that acts as the caller of a request with these credentials. Operations have `upstreamClient` instead.
   * @throws PortolanError FORBIDDEN if the credentials may not be used in this cluster, NOT_FOUND for an unknown cluster.
   */
  upstream(cluster: string, credentials: Credentials): Promise<CallerClient>;
  /** The data of Secrets. absent: always null. live: queries fetch it as the caller (secret-data.ts). */
  readonly secretData: 'absent' | 'live';
  /** Counts subscriptions of logs. */
  readonly logs: LogAccess;
  /**
   * The OpenAPI of API servers (manifest-schemas.ts): kept documents, and clients as `upstream`. A gateway without authentication has these
   * clients too. They act as the user of the kubeconfig, and they read no objects.
   */
  readonly openApi: { readonly documents: OpenApiDocuments; readonly client: OperationSource['upstream'] };
  /** The access of mutations; null: the gateway is read-only. Operations have `writeClient` for its clients. */
  readonly writes: WriteAccess | null;
  readonly limits: OperationLimits;
  /** The paths that `search` covers besides names and labels. They must equal the writer's. */
  readonly searchPaths: readonly Path[];
  /** Watches kinds in their first sync for the operations that wait for them. */
  readonly syncWatch: SyncWatch;
  /** Counts of filters, shared by all operations. */
  readonly counts: KeptCounts;
  /** The resources that ingest cannot bring up to date now. */
  readonly staleness: Staleness;
  /** Answers of queries, shared by all entry points. */
  readonly answers: KeptAnswers;
  readonly indexAdvisor: IndexAdvisor;
  readonly diagnosis: Diagnosis;
  readonly slowQueries: SlowQueries;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a monotonic clock. */
  monotonic(): number;
  readonly log: Logger;
}

/** Bounds of the requests for logs, which stay open as long as a subscriber follows. */
export interface LogAccess {
  /** Counts one more log that is read, until the returned function is called. @throws PortolanError TOO_MANY_REQUESTS */
  enter(caller: Caller): () => void;
  /** Counts values against what the caller may ask for in a minute. @throws PortolanError TOO_MANY_REQUESTS */
  charge(caller: Caller, values: number): void;
  /** Opens the account of what one subscription holds in memory. */
  hold(caller: Caller): HeldBytes;
}

/** Bytes in memory that count for a caller, beside those of the caller's other accounts. */
export interface HeldBytes {
  /** May the caller hold no more? It, its name or all callers together are at a bound; one who holds little is not held back by the last. */
  readonly isFull: boolean;
  /** Says what to do at the bound. @throws PortolanError TOO_MANY_REQUESTS */
  requireRoom(): void;
  /** Counts bytes; negative ones are released. After `release` it does nothing. */
  add(bytes: number): void;
  /** Gives everything back. Idempotent. */
  release(): void;
}

/** Options for tuning queries. */
export interface Diagnosis {
  /** May callers request explanations? */
  readonly explain: boolean;
  /** The paths that the configuration promotes, as `resource=path`. */
  readonly promote: readonly string[];
}

interface OperationLimits extends CostLimits {
  /** The largest page size. */
  readonly maxPageSize: number;
  /** The most objects whose bodies the counts and aggregates of one operation may read (src/query/plan/scan-budget.ts). */
  readonly scanRows: number;
  /** Milliseconds that a query waits for a kind in its first sync, before CACHE_NOT_READY. */
  readonly waitForSyncMs: number;
}
