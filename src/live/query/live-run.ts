/** One execution of a live query, and what makes its result another one. */
import type { Filter } from '../../query/plan/filter.ts';
import type { KindState } from '../../query/read/kind-state.ts';

/** Changes of a kind that concern a result only if the object matches before or after. */
export interface WatchedList {
  readonly kindId: number;
  /** resourceKey */
  readonly key: string;
  /** That of the lists of this kind. It reads nothing but the object itself. */
  readonly filter: Filter;
}

/** @typeParam R the result. */
export interface LiveRun<R> {
  readonly result: R;
  /** The digest of the parts of the result that subscribers see. A run with the same digest as the last one is not sent. */
  readonly digest: string;
  /**
   * The kinds that the result depends on, in the snapshot of the run. Null for a result that may change without them: one with a relative
   * time or an error, or one that shows the progress of ingest. Then the query runs again as time passes.
   */
  readonly state: KindState | null;
  /** The kinds of `state` of which only some changes concern the result. */
  readonly lists: readonly WatchedList[];
  /** The id of the scopes in which it was made. */
  readonly scopesId: string;
  /** Does the result depend on the caller, besides the scopes? Then it is for one user alone. */
  readonly isOwn: boolean;
  /** How long the run took, in milliseconds, without the wait for a reader. */
  readonly milliseconds: number;
  /** Has the result nothing but an error that passes by itself, such as a read that was cut? */
  readonly isPassing: boolean;
  /** The least milliseconds until the next run, whatever the throttle: an error often stays for a while. */
  readonly rest: number;
}
