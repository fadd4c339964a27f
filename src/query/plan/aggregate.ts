/**
 * Aggregates as data: what is counted and added up of the objects that match, as a whole or in groups. Frozen, comparable; two
 * interpreters (sql-aggregate.ts, evaluate-aggregate.ts) that must agree.
 *
 * A group is a set of objects: those that have its key under each of the paths it is grouped by. A path through lists gives an object
 * several keys, and the object stands in a group of each, once; one without any key stands in the group of null. What is measured
 * in a group is measured over its objects: every value that they have under the measured path, one for each element of lists.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import type { Tally } from '../../catalog/values/tally.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import type { Filter } from './filter.ts';
import type { PlannedKind } from './plan.ts';

/** A leaf that every kind of the plan has, with this type; its path may go through lists. */
export interface Leaf {
  readonly path: Path;
  readonly type: LeafType;
}

export interface Measured extends Leaf {
  /** Is the sum wanted? Only of types that have one (isSummable). */
  readonly sum: boolean;
  /** Are the least and the greatest value wanted? */
  readonly ends: boolean;
}

export interface AggregatePlan {
  readonly kinds: readonly PlannedKind[];
  readonly filter: Filter;
  /** No path: one group of all. */
  readonly by: readonly Leaf[];
  /** No two of one path. */
  readonly measured: readonly Measured[];
}

export interface GroupResult {
  /** One for each path of `by`; null for objects that have none. */
  readonly keys: readonly (OrderKey | null)[];
  /** Objects. */
  readonly count: number;
  /** One for each of `measured`. What was not wanted is not there: a zero sum, null for the ends. */
  readonly tallies: readonly Tally[];
}

/** More groups than this are not computed. */
export const mostGroups = 10_000;

/** A text that is the same for equal keys and differs for others, of one leaf type each. */
export function groupText(keys: readonly (OrderKey | null)[]): string {
  return JSON.stringify(keys.map((key) => (key === null ? null : String(key))));
}
