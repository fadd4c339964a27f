/**
 * The order evaluator in JavaScript. Tests compare the SQL of sql-order.ts with it.
 */

import { compareKeys, foldCase, naturalKey, type OrderKey, orderKey } from '../../src/catalog/values/values.ts';
import { comparePositions } from '../../src/query/evaluate/compare-rows.ts';
import type { Identity } from '../../src/query/plan/filter.ts';
import type { OrderTerm } from '../../src/query/plan/plan.ts';
import { valuesOf } from './evaluate-aggregate.ts';

type Ordered = Identity & { readonly body: unknown };

/** The rank of a name for the terms, as SQL has it (src/query/sql/search.ts). */
export function searchRank(objectName: string, terms: readonly string[]): number {
  const folded = foldCase(objectName).toWellFormed();
  let rank = 0;
  for (const term of terms) rank += folded === term ? 0 : folded.startsWith(term) ? 1 : folded.includes(term) ? 2 : 3;
  return rank;
}

/** The order keys of an object. `body` is a result of parseExact. */
export function orderKeysOf(orderBy: readonly OrderTerm[], object: Ordered): (OrderKey | null)[] {
  return orderBy.map((term) => orderKeyOf(term, object));
}

function orderKeyOf({ path, type, direction, natural, ignoreCase, rank }: OrderTerm, object: Ordered): OrderKey | null {
  if (rank !== undefined) return searchRank(object.name, rank);
  const keys = valuesOf(path, type, object)
    .map((value) => orderKey(type, value))
    .filter((key) => key !== null)
    .map((key) => (ignoreCase === true ? foldCase(String(key)) : key))
    .map((key) => (natural === true ? naturalKey(type, String(key)) : key));
  const sign = direction === 'DESC' ? -1 : 1;
  return keys.reduce<OrderKey | null>(
    (best, key) => (best === null || sign * compareKeys(key, best) < 0 ? key : best),
    null,
  );
}

/** Compares two objects. 0 only for equal identities. */
export function compareByOrder(orderBy: readonly OrderTerm[], a: Ordered, b: Ordered): number {
  return comparePositions(
    orderBy,
    { keys: orderKeysOf(orderBy, a), identity: a },
    { keys: orderKeysOf(orderBy, b), identity: b },
  );
}
