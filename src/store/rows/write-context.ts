/** The parts that all components of the writer share: transactions, rows, bounds, and the state of running replaces. */
import type { Clock } from '../../base/clock.ts';
import type { DiskBudget } from '../file/disk-budget.ts';
import type { WalBound } from '../file/wal-bound.ts';
import type { RelationRows } from '../relations/relation-rows.ts';
import type { ChangeLog } from './change-log.ts';
import type { EventApplier } from './event-applier.ts';
import type { Resources } from './resources.ts';
import type { RowWriter } from './row-writer.ts';
import type { WriteBounds } from './write-budget.ts';
import type { WriteSession } from './write-session.ts';

export interface WriteContext {
  readonly session: WriteSession;
  readonly resources: Resources;
  readonly rows: RowWriter;
  readonly relations: RelationRows;
  readonly log: ChangeLog;
  readonly applier: EventApplier;
  readonly clock: Clock;
  /** Bounds of one transaction. */
  readonly bounds: WriteBounds;
  /** Most differences of a replace that are committed in one transaction with a change for each. */
  readonly maxDifferences: number;
  /** Admits or refuses bulk work. */
  readonly disk: DiskBudget;
  /** Called between transactions of bulk work, and before large ones. */
  readonly wal: WalBound;
  /** Rowsets that are being filled. Housekeeping does not remove their rows. */
  readonly filling: Set<number>;
  /** Numbers of replaces whose staged rows are no longer needed. */
  readonly unstaged: number[];
  /** Ids of handles with a running commit of a replace. Events for them must wait. */
  readonly committing: Set<number>;
  /** The store follows the log of another one. */
  readonly follows: boolean;
  /** True once the writer is closed. */
  readonly closed: () => boolean;
}
