/**
 * Sorts and pages groups. The groups are computed again for each page. A cursor is a position among them: the order keys and the
 * group keys. So it stays valid when groups appear or disappear.
 *
 *   base64url( JSON [ version, fingerprint, [order key, …], [group key, …] ] )
 *
 * Example: groups by status.phase in descending order of count; the cursor after the group Running with 40 objects:
 *
 *   ["g1", fingerprint, [40], ["Running"]]
 */

import { PortolanError } from '../../base/errors.ts';
import { holds, type ValueOperator } from '../../catalog/values/compare-values.ts';
import { decimalKey } from '../../catalog/values/decimal.ts';
import { compareKeys, type OrderKey } from '../../catalog/values/values.ts';
import type { AggregatePlan, GroupResult } from '../plan/aggregate.ts';
import { average } from '../plan/aggregate.ts';
import { decodeContent, encodeContent, malformed, plainKey, readPlainKey } from '../plan/cursor.ts';
import type { Identity } from '../plan/filter.ts';
import { digest } from '../plan/fingerprint.ts';
import { textOfLeaf } from '../plan/hop.ts';

/** A value of a group. `at` is an index: into `by` for KEY, otherwise into `measured`. */
export type GroupValue =
  | { readonly by: 'COUNT' }
  | { readonly by: 'KEY' | 'SUM' | 'AVG' | 'MIN' | 'MAX'; readonly at: number };

export type GroupTerm = GroupValue & { readonly direction: 'ASC' | 'DESC' };

/** A condition on groups. A group without the value does not satisfy it. */
export interface GroupCondition {
  readonly value: GroupValue;
  readonly operator: ValueOperator;
  /** As an order key of the value: a count, a key of decimalKey (SUM, AVG) or a key of the leaf (MIN, MAX). */
  readonly key: OrderKey;
  /** Is the condition that the group does not satisfy it? Then it holds for groups without the value. */
  readonly negated: boolean;
}

interface GroupsPlan extends AggregatePlan {
  /** The object that the grouped objects are related to; null for the groups of a list. */
  readonly of: Identity | null;
  /** The group keys break ties, ascending. Groups without the value come last in both directions. */
  readonly orderBy: readonly GroupTerm[];
  /** All must hold. */
  readonly having: readonly GroupCondition[];
  readonly first: number;
  readonly after: string | null;
}

interface PagedGroup extends GroupResult {
  readonly cursor: string;
}

const version = 'g1';

/**
 * The page of these groups.
 * @throws PortolanError BAD_USER_INPUT for a cursor that is malformed or of other groups.
 */
export function pageOfGroups(plan: GroupsPlan, groups: readonly GroupResult[]): readonly PagedGroup[] {
  const fingerprint = fingerprintOf(plan);
  const after = plan.after === null ? null : decode(plan.after, fingerprint, plan);
  const positioned = groups
    .filter((group) => plan.having.every((condition) => satisfies(condition, group)))
    .map((group) => ({ group, order: plan.orderBy.map((term) => keyOfValue(term, group)), keys: group.keys }));
  return positioned
    .filter((position) => after === null || comparePositions(plan.orderBy, position, after) > 0)
    .sort((a, b) => comparePositions(plan.orderBy, a, b))
    .slice(0, plan.first)
    .map(({ group, order, keys }) => ({
      ...group,
      cursor: encodeContent([version, fingerprint, order.map(plainKey), keys.map(plainKey)]),
    }));
}

/** A position among the groups of a plan. */
interface GroupPosition {
  readonly order: readonly (OrderKey | null)[];
  readonly keys: readonly (OrderKey | null)[];
}

function satisfies({ value, operator, key, negated }: GroupCondition, group: GroupResult): boolean {
  const found = keyOfValue(value, group);
  return (found !== null && holds(operator, compareKeys(found, key))) !== negated;
}

function keyOfValue(value: GroupValue, { keys, count, tallies }: GroupResult): OrderKey | null {
  if (value.by === 'COUNT') return count;
  if (value.by === 'KEY') return keys[value.at] ?? null;
  const tally = tallies[value.at];
  if (tally === undefined || tally.count === 0) return null;
  switch (value.by) {
    case 'SUM':
      return decimalKey(tally.sum);
    case 'AVG':
      return decimalKey(average(tally));
    case 'MIN':
      return tally.least;
    case 'MAX':
      return tally.greatest;
  }
}

function comparePositions(orderBy: readonly GroupTerm[], a: GroupPosition, b: GroupPosition): number {
  for (const [index, { direction }] of orderBy.entries()) {
    const order = compareNullsLast(a.order[index] ?? null, b.order[index] ?? null, direction);
    if (order !== 0) return order;
  }
  for (const [index, key] of a.keys.entries()) {
    const order = compareNullsLast(key, b.keys[index] ?? null, 'ASC');
    if (order !== 0) return order;
  }
  return 0;
}

function compareNullsLast(a: OrderKey | null, b: OrderKey | null, direction: 'ASC' | 'DESC'): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return direction === 'DESC' ? -compareKeys(a, b) : compareKeys(a, b);
}

/** A hash of the groups, their order and their conditions. Other measures are not part of it. */
function fingerprintOf({ kinds, filter, of, by, measured, orderBy, having }: GroupsPlan): string {
  const nameOf = (value: GroupValue): readonly [string, string | null] => {
    const leaf = value.by === 'COUNT' ? undefined : (value.by === 'KEY' ? by : measured)[value.at];
    return [value.by, leaf === undefined ? null : textOfLeaf(leaf)];
  };
  const order = orderBy.map((term) => [...nameOf(term), term.direction]);
  const conditions = having.map(({ value, operator, key, negated }) => [...nameOf(value), operator, key, negated]);
  return digest({ groups: kinds.map(({ key }) => key).sort(), filter, of, by, order, having: conditions });
}

function decode(text: string, fingerprint: string, { by, orderBy }: GroupsPlan): GroupPosition {
  const content = decodeContent(text);
  const [madeBy, madeFor, order, keys] = content;
  if (content.length !== 4 || madeBy !== version || madeFor !== fingerprint) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The cursor ${JSON.stringify(text.slice(0, 24))} is of other groups; use a cursor with the kinds, filter, paths and order it was given for.`,
    );
  }
  if (!Array.isArray(order) || order.length !== orderBy.length) throw malformed(text);
  if (!Array.isArray(keys) || keys.length !== by.length) throw malformed(text);
  return { order: order.map((key) => readPlainKey(key, text)), keys: keys.map((key) => readPlainKey(key, text)) };
}
