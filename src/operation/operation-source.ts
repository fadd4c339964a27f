/** The parts of a running gateway that operations use. */
import type { Credentials } from '../access/caller.ts';
import type { Rights } from '../access/rights.ts';
import type { Logger } from '../base/log.ts';
import type { Path } from '../catalog/tree/path.ts';
import type { ChangeFeed } from '../live/feed/change-feed.ts';
import type { LiveQueries } from '../live/query/live-queries.ts';
import type { KeptCounts } from '../query/read/kept-counts.ts';
import type { Reader } from '../store/types/lease.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import type { KeptAnswers } from './answers/kept-answers.ts';
import type { Staleness } from './answers/staleness.ts';
import type { IndexAdvisor } from './index-advisor.ts';
import type { CostLimits } from './operation-cost.ts';
import type { ServedKinds } from './served-kinds.ts';
import type { SlowQueries } from './slow-queries.ts';
import type { SyncWatch } from './sync-watch.ts';

/** @typeParam G the served kinds that operations run on; for GraphQL, a generation with its schema. */
export interface OperationSource<G extends ServedKinds = ServedKinds> {
  /** The current generation. @throws PortolanError CACHE_NOT_READY before the first one. */
  generation(): G;
  /** The number of generations so far. */
  readonly generations: number;
  readonly reader: Reader;
  readonly feed: ChangeFeed;
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
