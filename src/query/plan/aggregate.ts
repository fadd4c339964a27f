/**
 * Aggregates as data: counts, sums and extremes of the matching objects, over all of them or by group. Plans are frozen and
 * comparable. Two interpreters, sql-aggregate.ts and evaluate-aggregate.ts, must agree on every plan.
 *
 * A group is the set of objects that have its key at every path of `by`.
 *   - A path through lists gives an object several keys. The object belongs once to the group of each key.
 *   - An object without a key belongs to the group of null.
 * A measure covers all objects of a group. It takes every value at the measured path, one for each list element.
 *
 * Example: Pods a (containers of nginx, nginx and redis) and b (no container), by `spec.containers[].image`:
 *
 *   nginx 1    redis 1    null 1
 */

import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import type { Decimal } from '../../catalog/values/decimal.ts';
import { divideDecimal } from '../../catalog/values/decimal.ts';
import type { Tally } from '../../catalog/values/tally.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import type { Filter } from './filter.ts';
import type { Through } from './hop.ts';
import type { PlannedKind } from './plan.ts';

/** A leaf. All kinds that have it give it this type. Its path may go through lists. Objects of other kinds have no value there. */
export interface Leaf {
  readonly path: Path;
  readonly type: LeafType;
  /** `type` is that of a cast. */
  readonly cast?: ValueCast;
  /** The leaf is one of a related object. Only for aggregates of one kind, and without lists. */
  readonly through?: Through;
  /** The path is that of a map, and its keys are the values. Only for groups, of the type String, and without lists. */
  readonly keys?: true;
}

export interface Measured extends Leaf {
  /** Compute the sum? Only for summable types (isSummable). */
  readonly sum: boolean;
  /** Compute the least and the greatest value? */
  readonly ends: boolean;
}

export interface AggregatePlan {
  readonly kinds: readonly PlannedKind[];
  readonly filter: Filter;
  /** Without a path, all objects form one group. */
  readonly by: readonly Leaf[];
  /** The paths are distinct. */
  readonly measured: readonly Measured[];
}

export interface GroupResult {
  /** One key for each path of `by`; null in the group of objects without a key. */
  readonly keys: readonly (OrderKey | null)[];
  /** Number of objects. */
  readonly count: number;
  /** One for each of `measured`. A sum that was not requested is zero; extremes that were not requested are null. */
  readonly tallies: readonly Tally[];
}

/** The most groups of one aggregate; more are refused. */
export const mostGroups = 10_000;

/** A map key for group keys: equal texts for equal keys, different texts otherwise. Each key has one leaf type in all groups. */
export function groupText(keys: readonly (OrderKey | null)[]): string {
  return JSON.stringify(keys.map((key) => (key === null ? null : String(key))));
}

/** Significant digits of a non-terminating mean. The last digit is rounded half away from zero. */
const averageDigits = 20;

/** The mean. The tally must have at least one value. */
export function average({ sum, count }: Tally): Decimal {
  return divideDecimal(sum, BigInt(count), averageDigits);
}
