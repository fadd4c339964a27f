/** Pages of short lists that are read whole, in identity order. A cursor is an identity. */
import { decodeCursor } from '../plan/cursor.ts';
import { compareIdentity } from '../plan/identity-order.ts';
import type { ListResult, ObjectRow } from '../plan/plan.ts';
import { listRow } from '../read/list.ts';

/** A page with all rows, sorted. @param fingerprint of the list, for its cursors. */
export function wholeList(rows: readonly ObjectRow[], fingerprint: string): ListResult {
  const sorted = rows.toSorted(compareIdentity).map((row) => listRow(row, [], fingerprint));
  return { rows: sorted, hasNextPage: false, hasPreviousPage: false };
}

/** A page of a whole list. @throws PortolanError BAD_USER_INPUT for a cursor that is malformed or of another list. */
export function pageOfWhole(
  { rows }: ListResult,
  fingerprint: string,
  limit: number,
  after: string | null,
): ListResult {
  const position = after === null ? null : decodeCursor(after, fingerprint).identity;
  const rest = position === null ? rows : rows.filter((row) => compareIdentity(row, position) > 0);
  return { rows: rest.slice(0, limit), hasNextPage: rest.length > limit, hasPreviousPage: after !== null };
}
