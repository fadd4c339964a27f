/** The tables of a kind, and the paths that have a column there. */
import type { PromotionReason } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';

/** A path that stands in a slot of a kind's promoted table. `ready` once every row has it. */
export interface PromotedSlot {
  readonly path: string;
  readonly type: LeafType;
  /** Column name in the promoted table. */
  readonly column: string;
  readonly ready: boolean;
  readonly reason: PromotionReason;
}

/** A leaf of a kind that queries filter or order by. */
export interface PathUse {
  /** resourceKey */
  readonly key: string;
  readonly path: string;
  readonly type: LeafType;
}

/**
 * What came of a wish for a column: it has one now (and is filled by housekeeping), it had one, the kind has so few rows that it
 * needs none, all columns are taken by paths that are declared or were needed lately, or its first list is just coming.
 */
export type PromotionOutcome = 'promoted' | 'known' | 'few rows' | 'no room' | 'not now';

/** What the query compiler needs to know of a kind's tables; read in the lease or cached by revision of `layoutVersion`. */
export interface KindLayout {
  /** Store-wide integer of (group, plural). */
  readonly kindId: number;
  /** Name of the promoted table, or null while the kind has none. */
  readonly promotedTable: string | null;
  readonly slots: readonly PromotedSlot[];
}
