/**
 * Groups in an order, page by page. They are computed anew for each page; a cursor is a place among them (the values that the order
 * goes by, and the keys), so it stays where it was when a group comes or goes.
 *
 *   base64url( JSON [ version, fingerprint, [order key, …], [group key, …] ] )
 */

import { PortolanError } from '../../base/errors.ts';
import { decimalKey } from '../../catalog/values/decimal.ts';
import { compareKeys, type OrderKey } from '../../catalog/values/values.ts';
import type { AggregatePlan, GroupResult } from '../plan/aggregate.ts';
import { average } from '../plan/average.ts';
import { decodeContent, encodeContent, malformed, plainKey, readPlainKey } from '../plan/cursor.ts';
import type { Identity } from '../plan/filter.ts';
import { digest } from '../plan/fingerprint.ts';

export type GroupTerm =
  | { readonly by: 'COUNT'; readonly direction: 'ASC' | 'DESC' }
  /** `at` says which: a path of `by`, or one of `measured`. */
  | {
      readonly by: 'KEY' | 'SUM' | 'AVG' | 'MIN' | 'MAX';
      readonly at: number;
      readonly direction: 'ASC' | 'DESC';
    };

export interface GroupsPlan extends AggregatePlan {
  /** What the groups are of, beside kinds and filter: the object that the grouped ones are related to; null for a list. */
  readonly of: Identity | null;
  /** Ties are broken by the keys, ascending. Groups without the value stand last, whatever the direction. */
  readonly orderBy: readonly GroupTerm[];
  readonly first: number;
  readonly after: string | null;
}

export interface PagedGroup extends GroupResult {
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
  const placed = groups.map((group) => ({
    group,
    order: plan.orderBy.map((term) => termKey(term, group)),
    keys: group.keys,
  }));
  return placed
    .filter((place) => after === null || comparePlaces(plan.orderBy, place, after) > 0)
    .sort((a, b) => comparePlaces(plan.orderBy, a, b))
    .slice(0, plan.first)
    .map(({ group, order, keys }) => ({
      ...group,
      cursor: encodeContent([version, fingerprint, order.map(plainKey), keys.map(plainKey)]),
    }));
}

interface Place {
  readonly order: readonly (OrderKey | null)[];
  readonly keys: readonly (OrderKey | null)[];
}

function termKey(term: GroupTerm, { keys, count, tallies }: GroupResult): OrderKey | null {
  if (term.by === 'COUNT') return count;
  if (term.by === 'KEY') return keys[term.at] ?? null;
  const tally = tallies[term.at];
  if (tally === undefined || tally.count === 0) return null;
  switch (term.by) {
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

function comparePlaces(orderBy: readonly GroupTerm[], a: Place, b: Place): number {
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

/** The same whatever is measured besides what orders. */
function fingerprintOf({ kinds, filter, of, by, measured, orderBy }: GroupsPlan): string {
  const order = orderBy.map((term) => {
    const leaf = term.by === 'COUNT' ? null : (term.by === 'KEY' ? by : measured)[term.at];
    return [term.by, term.direction, leaf?.path.text ?? null];
  });
  return digest({ groups: kinds.map(({ key }) => key).sort(), filter, of, by, order });
}

function decode(text: string, fingerprint: string, { by, orderBy }: GroupsPlan): Place {
  const content = decodeContent(text);
  const [made, of, order, keys] = content;
  if (content.length !== 4 || made !== version || of !== fingerprint) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The cursor ${JSON.stringify(text.slice(0, 24))} is of other groups; use a cursor with the kinds, filter, paths and order it was given for.`,
    );
  }
  if (!Array.isArray(order) || order.length !== orderBy.length) throw malformed(text);
  if (!Array.isArray(keys) || keys.length !== by.length) throw malformed(text);
  return { order: order.map((key) => readPlainKey(key, text)), keys: keys.map((key) => readPlainKey(key, text)) };
}
