/** The request of a live list, and the position of its client. live-list.ts describes the protocol. */
import type { CallerRights } from '../../access/rights.ts';
import type { Scope } from '../../access/scope.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { PlannedKind, Projection } from '../../query/plan/plan.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import type { PushReceiver } from '../cohort/cohorts.ts';
import type { ShownParts } from '../log/live-change.ts';
import type { LiveCursor } from '../log/live-cursor.ts';

export type { LiveMessage } from '../cohort/cohort-batch.ts';

/** The start of a live list. */
export type LiveStart =
  | CellStart
  /** Where a list over several cells stopped, by cell; null for a cell of which the client holds nothing. */
  | { readonly at: 'cells'; readonly starts: readonly (CellStart | null)[] };

/** The start of a live list in one cell. */
export type CellStart =
  /** With a snapshot of the current matches. */
  | { readonly at: 'snapshot' }
  /** Without a snapshot: only future changes. */
  | { readonly at: 'now' }
  /** At a cursor that the client sent. */
  | { readonly at: 'cursor'; readonly cursor: LiveCursor }
  /**
   * Where another live list of the same client and filter stopped. The client sees no interruption, unless `changed` forces GAP.
   */
  | {
      readonly at: 'place';
      readonly cursor: LiveCursor;
      readonly totalCount: number | null;
      readonly changed: boolean;
    };

export interface LiveRequest {
  readonly kind: PlannedKind;
  readonly filter: Filter;
  /** The rights of the caller. */
  readonly rights: CallerRights;
  /** At least one of these clusters must be synced; null for any cluster that serves the kind, empty to require none. */
  readonly clusters: readonly string[] | null;
  readonly start: CellStart;
  readonly projection: Projection;
  /** A MODIFIED without a difference in these parts is left out. Absent: none is left out. */
  readonly shown?: ShownParts | undefined;
  readonly signal: AbortSignal;
  /** The most objects in one SNAPSHOT message. */
  readonly chunk: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Called before each message and after each interruption of the feed. It throws to end the list.
   * @param successor the start of another live list that would continue this one without a visible interruption.
   */
  check(successor: CellStart): void;
  /** Takes LIVE messages while the list waits, without a turn of the generator. */
  readonly pushing?: LivePushing | undefined;
}

/** How LIVE messages are sent without a turn of the generator. */
export interface LivePushing {
  /** The same object for live lists of one caller that send the same for a message. */
  readonly group: LiveGroup;
  readonly receiver: PushReceiver;
}

export interface LiveGroup {
  /** As `check` of the request, for all lists of the group. */
  check(): void;
  /** The data to send for a message; null if the generators must yield it. */
  prepare(message: LiveMessage): unknown;
}

/** The position of the client: its objects are the matches after this change. */
export interface LivePosition extends LiveCursor {
  readonly kindId: number;
  /** The rows that the caller could see at that change. */
  readonly visible: Scope;
  readonly count: number | null;
}
