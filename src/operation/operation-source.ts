/** The parts of a running gateway that operations are made from. */
import type { Caller } from '../access/caller.ts';
import type { Scopes } from '../access/scope.ts';
import type { Logger } from '../base/log.ts';
import type { Path } from '../catalog/tree/path.ts';
import type { ChangeFeed } from '../live/change-feed.ts';
import type { Reader } from '../store/types/lease.ts';
import type { IndexAdvisor } from './index-advisor.ts';
import type { CostLimits } from './operation-cost.ts';
import type { ServedKinds } from './served-kinds.ts';
import type { SlowQueries } from './slow-queries.ts';

/** `G` is what operations run on: the kinds that are served, for GraphQL with their schema. */
export interface OperationSource<G extends ServedKinds = ServedKinds> {
  /** The current generation; CACHE_NOT_READY while there is none. */
  generation(): G;
  readonly reader: Reader;
  readonly feed: ChangeFeed;
  /** What a caller may see at this moment. */
  scopesOf(caller: Caller): Scopes;
  readonly limits: OperationLimits;
  /** What `search` looks at beside names and labels; the same as the writer's. */
  readonly searchPaths: readonly Path[];
  readonly indexAdvisor: IndexAdvisor;
  readonly diagnosis: Diagnosis;
  readonly slowQueries: SlowQueries;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a steady clock. */
  monotonic(): number;
  readonly log: Logger;
}

/** Help for whoever tunes queries. */
export interface Diagnosis {
  /** May a caller ask how an operation is carried out? */
  readonly explain: boolean;
  /** `resource=path`: what the configuration promotes. */
  readonly promote: readonly string[];
}

export interface OperationLimits extends CostLimits {
  /** The most objects on one page. */
  readonly maxPageSize: number;
  /** Objects whose bodies the counts and aggregates of one operation may read (src/query/plan/scan-budget.ts). */
  readonly scanRows: number;
}
