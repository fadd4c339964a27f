/**
 * The meaning of a stretch of the change log for the live lists of one cohort. Made once, for all of them.
 *
 *   changes of the kind after `from` up to `upTo` -> cohortBatch -> gap, or messages without the position of a client
 *                                                                -> CohortMessage.live(count) -> one LiveMessage for equal counts
 */
import type { Scope } from '../../access/scope.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { clustersIn, type Filter } from '../../query/plan/filter.ts';
import type { FeedChange } from '../log/feed-change.ts';
import { fold } from '../log/fold.ts';
import { countDelta, type LiveChange, liveChanges, type ShownParts } from '../log/live-change.ts';
import { encodeLiveCursor } from '../log/live-cursor.ts';

export interface LiveMessage {
  readonly phase: 'SNAPSHOT' | 'SYNCED' | 'LIVE' | 'GAP';
  /** The client must drop all its objects before it applies this message. */
  readonly reset: boolean;
  readonly cursor: string;
  /** The number of matches after this message; null within a snapshot, and when the list started at a cursor or at 'now'. */
  readonly totalCount: number | null;
  readonly changes: readonly LiveChange[];
}

/** The rows that the live lists of a cohort show. */
export interface CohortRows {
  /** resourceKey of the kind. */
  readonly key: string;
  /** The declared rules of its health. */
  readonly health?: HealthRules | undefined;
  readonly filter: Filter;
  /** The rows that the callers may see. */
  readonly scope: Scope;
  /** A MODIFIED without a difference in these parts is left out. */
  readonly shown?: ShownParts | undefined;
}

export type CohortBatch =
  /** Clients need a new snapshot: their kind was listed again, or the log lacks bodies. */
  | { readonly kind: 'gap' }
  /** Complete up to `upTo`. No messages if the changes do not concern the cohort. */
  | { readonly kind: 'messages'; readonly messages: readonly CohortMessage[]; readonly upTo: number };

/** The changes of one LIVE message. Its LiveMessage is the same object for all clients with the same count. */
export class CohortMessage {
  readonly changes: readonly LiveChange[];
  readonly upTo: number;
  /** By how much the changes alter the number of matches. */
  readonly delta: number;
  readonly #cursor: string;
  readonly #live = new Map<number | null, LiveMessage>();

  constructor(changes: readonly LiveChange[], epoch: string, upTo: number, scope: Scope) {
    this.changes = changes;
    this.upTo = upTo;
    this.delta = countDelta(changes);
    this.#cursor = encodeLiveCursor({ epoch, sequence: upTo }, scope);
  }

  /** The number of matches after the message. @param before the number before it; null if the client does not count */
  countAfter(before: number | null): number | null {
    return before === null ? null : before + this.delta;
  }

  /** @param totalCount the number of matches after the message; null if the client has none. */
  live(totalCount: number | null): LiveMessage {
    const known = this.#live.get(totalCount);
    if (known !== undefined) return known;
    const { changes } = this;
    const live: LiveMessage = { phase: 'LIVE', reset: false, cursor: this.#cursor, totalCount, changes };
    this.#live.set(totalCount, live);
    return live;
  }
}

/** @param changes all changes of the kind up to `upTo` */
export function cohortBatch(
  { key, health, filter, scope, shown }: CohortRows,
  epoch: string,
  changes: readonly FeedChange[],
  upTo: number,
): CohortBatch {
  const clusters = clustersIn(filter);
  // A RESET of another cluster does not concern the client.
  const found = clusters === null ? changes : changes.filter(({ logged }) => clusters.includes(logged.cluster));
  if (!found.every((change) => change.continues)) return { kind: 'gap' };
  const messages = fold({ key, health }, found, upTo, { filter, scope }).flatMap((folded) => {
    const shownChanges = liveChanges(folded.changes, { health, shown });
    return shownChanges.length === 0 ? [] : [new CohortMessage(shownChanges, epoch, folded.upTo, scope)];
  });
  return { kind: 'messages', messages, upTo };
}

/** Must the clients of the cohort be told? */
export function concerns(batch: CohortBatch): boolean {
  return batch.kind === 'gap' || batch.messages.length > 0;
}
