/** Pages of short lists that are read whole. */
import { comparePositions } from '../evaluate/compare-rows.ts';
import { decodeCursor } from '../plan/cursor.ts';
import type { ListResult, ObjectRow, OrderKeys, OrderTerm } from '../plan/plan.ts';
import { listRow } from '../read/list.ts';

/** The order of a list, and what its cursors are bound to. */
export interface WholeOrder {
  readonly orderBy: readonly OrderTerm[];
  readonly fingerprint: string;
}

/** A list that is read whole, with the order keys of each row. */
export interface WholeList extends ListResult {
  readonly keys: readonly OrderKeys[];
}

/** A page with all rows, sorted. */
export function wholeList(
  rows: readonly { readonly row: ObjectRow; readonly keys: OrderKeys }[],
  { orderBy, fingerprint }: WholeOrder,
): WholeList {
  const sorted = rows
    .map(({ row, keys }) => ({ row, position: { keys, identity: row } }))
    .toSorted((a, b) => comparePositions(orderBy, a.position, b.position));
  return {
    rows: sorted.map(({ row, position: { keys } }) => listRow(row, keys, fingerprint)),
    keys: sorted.map(({ position: { keys } }) => keys),
    hasNextPage: false,
    hasPreviousPage: false,
  };
}

/** A page of a whole list. @throws PortolanError BAD_USER_INPUT for a cursor that is malformed or of another list. */
export function pageOfWhole(
  { rows, keys }: WholeList,
  { orderBy, fingerprint }: WholeOrder,
  limit: number,
  after: string | null,
): ListResult {
  const position = after === null ? null : decodeCursor(after, fingerprint);
  const rest =
    position === null
      ? rows
      : rows.filter((row, at) => comparePositions(orderBy, { keys: keys[at] ?? [], identity: row }, position) > 0);
  return { rows: rest.slice(0, limit), hasNextPage: rest.length > limit, hasPreviousPage: after !== null };
}
