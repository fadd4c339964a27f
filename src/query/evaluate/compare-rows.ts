/**
 * The order evaluator: compares the objects of a list in JavaScript. It merges the pages of several kinds. Tests compare the SQL
 * of sql-order.ts with it.
 */

import { searchRank } from '../../catalog/paths/search-text.ts';
import { leafValuesAt } from '../../catalog/paths/value-at.ts';
import { compareKeys, naturalKey, type OrderKey, orderKey } from '../../catalog/values/values.ts';
import type { Identity } from '../plan/filter.ts';
import { compareIdentity } from '../plan/identity-order.ts';
import type { OrderTerm, Position } from '../plan/plan.ts';
import { identityValue } from './matches.ts';

type Ordered = Identity & { readonly body: unknown };

/** The order keys of an object. `body` is a result of parseExact. */
export function orderKeysOf(orderBy: readonly OrderTerm[], object: Ordered): (OrderKey | null)[] {
  return orderBy.map((term) => orderKeyOf(term, object));
}

function orderKeyOf({ path, type, direction, natural, rank }: OrderTerm, object: Ordered): OrderKey | null {
  if (rank !== undefined) return searchRank(object.name, rank);
  const identity = identityValue(path, object);
  const values = identity === undefined ? leafValuesAt(object.body, path, type) : [identity];
  const keys = values
    .map((value) => orderKey(type, value))
    .filter((key) => key !== null)
    .map((key) => (natural === true ? naturalKey(String(key)) : key));
  const sign = direction === 'DESC' ? -1 : 1;
  return keys.reduce<OrderKey | null>(
    (best, key) => (best === null || sign * compareKeys(key, best) < 0 ? key : best),
    null,
  );
}

/** Compares two objects. 0 only for equal identities. */
export function compareByOrder(
  orderBy: readonly OrderTerm[],
  a: Identity & { readonly body: unknown },
  b: Identity & { readonly body: unknown },
): number {
  return comparePositions(
    orderBy,
    { keys: orderKeysOf(orderBy, a), identity: a },
    { keys: orderKeysOf(orderBy, b), identity: b },
  );
}

/** Compares two positions in a list. The identity breaks ties, in the direction of the last term. */
export function comparePositions(orderBy: readonly OrderTerm[], a: Position, b: Position): number {
  for (const [index, { direction, nulls }] of orderBy.entries()) {
    const left = a.keys[index] ?? null;
    const right = b.keys[index] ?? null;
    if (left === null || right === null) {
      if (left === right) continue;
      return (left === null) === (nulls === 'FIRST') ? -1 : 1;
    }
    const order = compareKeys(left, right);
    if (order !== 0) return direction === 'DESC' ? -order : order;
  }
  const order = compareIdentity(a.identity, b.identity);
  return orderBy.at(-1)?.direction === 'DESC' ? -order : order;
}
