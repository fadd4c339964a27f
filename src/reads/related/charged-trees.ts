/** Reads what the objects of a page own. The number of owned objects is bounded, and counts as cost. */
import { PortolanError } from '../../base/errors.ts';
import type { Operation } from '../../operation/operation.ts';
import { type OwnedNode, ownedTrees, type TreeRoot } from '../../query/related/owned-tree.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';

/** Rows that one field reads for a page: owned objects, and what the field reads of them. */
const mostRows = 20_000;

/**
 * The tree of each root, in the order of the roots.
 * @param field as callers write it
 * @throws PortolanError QUERY_TOO_COSTLY for too many objects.
 */
export async function chargedTrees(
  operation: Operation,
  lease: Lease,
  view: View,
  roots: readonly TreeRoot[],
  field: string,
): Promise<readonly (readonly OwnedNode[])[]> {
  const trees = await ownedTrees(lease, view, roots, mostRows);
  chargeRows(operation, trees === null ? mostRows + 1 : trees.flat().length, field);
  return trees ?? [];
}

/** Counts the rows as cost. @throws PortolanError QUERY_TOO_COSTLY for too many. */
export function chargeRows(operation: Operation, rows: number, field: string): void {
  if (rows > mostRows) {
    throw new PortolanError(
      'QUERY_TOO_COSTLY',
      `\`${field}\` finds more than ${mostRows} objects for this page. Ask for smaller pages (first); of a single object, ask for the objects that it owns (\`owned\`) one by one.`,
      { details: { allowed: mostRows } },
    );
  }
  operation.cost.charge(rows);
}
