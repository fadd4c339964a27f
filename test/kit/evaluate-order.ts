/**
 * The order evaluator in JavaScript. Tests compare the SQL of sql-order.ts with it.
 */

import { healthOf } from '../../src/catalog/health/health.ts';
import { searchRank } from '../../src/catalog/paths/search-text.ts';
import { leafValuesAt } from '../../src/catalog/paths/value-at.ts';
import { compareKeys, naturalKey, type OrderKey, orderKey } from '../../src/catalog/values/values.ts';
import { comparePositions } from '../../src/query/evaluate/compare-rows.ts';
import { identityValue } from '../../src/query/evaluate/matches.ts';
import type { Identity } from '../../src/query/plan/filter.ts';
import type { OrderTerm } from '../../src/query/plan/plan.ts';

type Ordered = Identity & { readonly body: unknown };

/** The order keys of an object. `body` is a result of parseExact. */
export function orderKeysOf(orderBy: readonly OrderTerm[], object: Ordered): (OrderKey | null)[] {
  return orderBy.map((term) => orderKeyOf(term, object));
}

function orderKeyOf({ path, type, direction, natural, rank }: OrderTerm, object: Ordered): OrderKey | null {
  if (rank !== undefined) return searchRank(object.name, rank);
  const [first] = path.steps;
  const identity = identityValue(path, object);
  const values =
    first?.kind === 'health'
      ? [healthOf(object.body)[first.name]]
      : identity === undefined
        ? leafValuesAt(object.body, path, type)
        : [identity];
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
export function compareByOrder(orderBy: readonly OrderTerm[], a: Ordered, b: Ordered): number {
  return comparePositions(
    orderBy,
    { keys: orderKeysOf(orderBy, a), identity: a },
    { keys: orderKeysOf(orderBy, b), identity: b },
  );
}
