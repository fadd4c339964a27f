/** Compares positions of a list in JavaScript: it merges the pages of several kinds. The counterpart of sql-order.ts. */
import { compareKeys } from '../../catalog/values/values.ts';
import { compareIdentity } from '../plan/identity-order.ts';
import type { OrderTerm, Position } from '../plan/plan.ts';

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
