/** The tables of a kind, and the paths that have a column there. */
import type { Health, HealthSource, HealthStatus } from '../../catalog/health/health-status.ts';
import type { PromotionReason } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type HealthName, healthNames } from '../../catalog/tree/path.ts';
import type { SqlValue } from './statement.ts';

/** The columns of `object` that hold the health, by its parts. */
export const healthColumns = {
  status: 'health',
  reason: 'health_reason',
  message: 'health_message',
  source: 'health_source',
} as const satisfies Record<HealthName, string>;
export const allHealthColumns = healthNames.map((name) => healthColumns[name]);

/** The values of these columns. */
export function healthValues({ status, reason, message, source }: Health): readonly SqlValue[] {
  return [status, reason, message, source];
}

/** The health in these columns. */
export function storedHealth([status, reason, message, source]: readonly (SqlValue | undefined)[]): Health {
  return {
    status: status as HealthStatus,
    reason: (reason ?? null) as string | null,
    message: (message ?? null) as string | null,
    source: source as HealthSource,
  };
}

/** A path that has a column in a kind's promoted table. `ready` once every row has its value. */
export interface PromotedSlot {
  readonly path: string;
  readonly type: LeafType;
  /** Column name in the promoted table. */
  readonly column: string;
  readonly ready: boolean;
  readonly reason: PromotionReason;
}

/** A place of a kind where references or selectors stand. `ready` once every object has its rows. */
export interface RelationPlace {
  readonly id: number;
  /** placeText */
  readonly text: string;
  readonly ready: boolean;
}

/** A leaf of a kind that queries filter or order by. */
export interface PathUse {
  /** resourceKey */
  readonly key: string;
  readonly path: string;
  readonly type: LeafType;
}

/**
 * The result of a request for a promoted column.
 *
 *   promoted  the path has a column now; housekeeping fills it
 *   known     the path had a column already
 *   few rows  the kind has too few rows to need a column
 *   no room   declared or recently used paths take all columns
 *   not now   the first list of the kind is being stored
 */
export type PromotionOutcome = 'promoted' | 'known' | 'few rows' | 'no room' | 'not now';

/** The id, the promoted table and the slots of a kind. Readers cache it by epoch and layout version (src/store/read/layout.ts). */
export interface KindLayout {
  /** Store-wide integer for (group, plural). */
  readonly kindId: number;
  /** Its group and its newest Kind, as textOfKind. */
  readonly named: string;
  /** Name of the promoted table, or null while the kind has none. */
  readonly promotedTable: string | null;
  readonly slots: readonly PromotedSlot[];
  readonly places: readonly RelationPlace[];
}
