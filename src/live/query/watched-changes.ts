/** The changes of a filter's objects in the change feed, as live queries look at them. */
import { allRows, type Scope } from '../../access/scope.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { ChangeSource } from './query-cohort.ts';

/** The change feed. @typeParam C its subscribers with the same filter and scope. */
interface Feed<C> {
  readonly interruptions: number;
  readonly closed: boolean;
  join(
    kindId: number,
    rows: { readonly key: string; readonly filter: Filter; readonly scope: Scope },
  ): { readonly cohort: C; leave(): void };
  next(
    cohort: C,
    place: { readonly epoch: string; readonly sequence: number; readonly count: null },
    seen: number,
    signal: AbortSignal,
  ): Promise<{
    readonly batch:
      | { readonly kind: 'gap' }
      | { readonly kind: 'messages'; readonly messages: readonly unknown[]; readonly upTo: number };
  }>;
}

export function watchedChanges<C>(feed: Feed<C>): ChangeSource {
  return {
    watch(kindId, key, filter) {
      // Of all rows: a row of other callers leads to a run, which changes nothing.
      const { cohort, leave } = feed.join(kindId, { key, filter, scope: allRows });
      return {
        leave,
        async passed(place, signal) {
          const { batch } = await feed.next(cohort, { ...place, count: null }, feed.interruptions, signal);
          if (feed.closed) return null;
          return batch.kind === 'gap' || batch.messages.length > 0 ? null : batch.upTo;
        },
      };
    },
  };
}
