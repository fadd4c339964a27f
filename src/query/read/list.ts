/**
 * Reads pages of lists over one kind or several, in one lease for each cell.
 *
 *   one kind        statements return keys and bodies together; in steps for some orders (order-steps.ts)
 *   several kinds   keys of a whole page from each kind -> merge by their positions -> read the bodies of the page
 *   several cells   as several kinds, in each cell; what is read in steps has its bodies already
 *   an offset       as several kinds, with the keys of the skipped rows too
 *
 * Example: a page of 2 over pods and services reads up to 3 keys of each kind. It sorts them and reads the bodies of the first
 * 3. The third object only shows that there is a next page. So each page is correct, whatever kinds its rows have.
 */

import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Row } from '../../store/types/statement.ts';
import { comparePositions } from '../evaluate/compare-rows.ts';
import { decodeCursor, encodeCursor } from '../plan/cursor.ts';
import type { Identity } from '../plan/filter.ts';
import { fingerprintOf } from '../plan/fingerprint.ts';
import {
  type FoundPage,
  type ListPlan,
  type ListRow,
  neighboursOf,
  type ObjectRow,
  type OrderKeys,
  type Position,
} from '../plan/plan.ts';
import { populatedKinds } from '../route/populated-kinds.ts';
import { chooseRoute } from '../route/route.ts';
import { surveyBound } from '../sql/access-path.ts';
import { type KindList, keyPageStatements, keysIn, pageStatements } from '../sql/sql-list.ts';
import type { PagePositions } from '../sql/sql-order.ts';
import type { CellView } from '../sql/view.ts';
import { objectRow, objectsById } from './object-rows.ts';
import { orderSteps } from './order-steps.ts';

/**
 * Reads one page. A kind without tables in the view has no rows.
 * @throws PortolanError BAD_USER_INPUT for a cursor that is malformed or of another list; TIMEOUT when the lease ends.
 */
export async function listPage(cells: readonly CellView[], plan: ListPlan): Promise<FoundPage> {
  const { page } = plan;
  const backward = page.direction === 'backward';
  const fingerprint = fingerprintOf(plan);
  const { position, until } = positionsOf(plan, fingerprint);
  const offset = page.direction === 'forward' ? (page.offset ?? 0) : 0;
  const limit = offset + page.limit + 1;

  const keys = [...new Set(plan.kinds.map((kind) => kind.key))];
  const { filter, orderBy } = plan;
  const listed = await Promise.all(
    cells.map(async ({ lease, view }): Promise<CellLists> => {
      const lists: KindList[] = [];
      for (const key of await populatedKinds(lease, view, keys, filter)) {
        const kind = view.get(key);
        if (kind === undefined) continue;
        const route = await chooseRoute(lease, kind, filter, orderBy, limit);
        lists.push({ kind, filter, orderBy, route, backward, position, until, limit });
      }
      return { lease, lists };
    }),
  );

  const [only, ...others] = listed;
  const [list, ...more] = only?.lists ?? [];
  const isOne = only !== undefined && others.length === 0 && list !== undefined && more.length === 0 && offset === 0;
  const found = isOne
    ? ((await byOrderSteps(only.lease, list, plan)) ?? (await oneKind(only.lease, list, plan)))
    : await byKeys(listed, plan, { backward, offset });
  const rows = found.slice(0, page.limit).map(({ row, keys }) => listRow(row, keys, fingerprint));
  if (backward) rows.reverse();
  return { rows, found: found.length, ...neighboursOf(page, found.length) };
}

/** For a list whose rows may not be read. @throws PortolanError BAD_USER_INPUT for a cursor of another list. */
export function checkCursor(plan: Pick<ListPlan, 'kinds' | 'filter' | 'orderBy' | 'page'>): void {
  const { after, before } = plan.page;
  if ((after ?? before ?? null) !== null) positionsOf(plan, fingerprintOf(plan));
}

/** The positions of the page's cursors. @throws PortolanError BAD_USER_INPUT for a cursor of another list. */
export function positionsOf({ page, orderBy }: Pick<ListPlan, 'page' | 'orderBy'>, fingerprint: string): PagePositions {
  const of = (cursor: string | null | undefined): Position | null => {
    if (cursor === null || cursor === undefined) return null;
    const position = decodeCursor(cursor, fingerprint);
    if (position.keys.length !== orderBy.length) {
      throw new PortolanError(
        'BAD_USER_INPUT',
        'The cursor does not fit the order of this list; use one that it gave.',
      );
    }
    return position;
  };
  const [after, before] = [of(page.after), of(page.before)];
  return page.direction === 'backward' ? { position: before, until: after } : { position: after, until: before };
}

interface Found {
  readonly row: ObjectRow;
  readonly keys: OrderKeys;
}

async function oneKind(lease: Lease, list: KindList, plan: ListPlan): Promise<readonly Found[]> {
  const statements = pageStatements(list, plan.projection);
  const rows = statements.length === 0 ? [] : await lease.fill(statements, list.limit);
  return rows.map((row) => ({ row: objectRow(list.kind.key, row), keys: keysIn(row, plan.orderBy, 'page') }));
}

/** Null for a list that is better read at once. */
async function byOrderSteps(lease: Lease, list: KindList, plan: ListPlan): Promise<readonly Found[] | null> {
  const { route } = list;
  // Steps have no end in front of a position.
  if (list.until !== null) return null;
  if (route.kind !== 'scan' && !(route.kind === 'path' && route.rows > surveyBound)) return null;
  const steps = await orderSteps(lease, list);
  if (steps === null) return null;
  const found: Found[] = [];
  for (const { key, ...step } of steps) {
    const limit = list.limit - found.length;
    if (limit === 0) break;
    const stepRoute = await chooseRoute(lease, list.kind, step.filter, step.orderBy, limit);
    const rows = await oneKind(
      lease,
      { ...list, ...step, route: stepRoute, limit },
      { ...plan, orderBy: step.orderBy },
    );
    found.push(...rows.map(({ row, keys }) => ({ row, keys: [...key, ...keys] })));
  }
  return found;
}

/** The lists of one cell. */
interface CellLists {
  readonly lease: Lease;
  readonly lists: readonly KindList[];
}

interface Candidate extends Position {
  readonly lease: Lease;
  readonly id: number;
  readonly key: string;
  /** Null if it is still to be read. */
  readonly row: ObjectRow | null;
}

async function byKeys(
  cells: readonly CellLists[],
  plan: ListPlan,
  { backward, offset }: { readonly backward: boolean; readonly offset: number },
): Promise<readonly Found[]> {
  const candidates = (await Promise.all(cells.map((cell) => candidatesIn(cell, plan, offset)))).flat();
  const sign = backward ? -1 : 1;
  candidates.sort((a, b) => sign * comparePositions(plan.orderBy, a, b));
  const page = candidates.slice(offset, offset + plan.page.limit + 1);
  const rows = new Map<Candidate, ObjectRow>();
  for (const [lease, some] of Map.groupBy(page, (each) => each.lease)) {
    const unread = some.filter(({ row }) => row === null);
    const read = await objectsById(lease, unread, plan.projection);
    for (const [index, each] of unread.entries()) rows.set(each, must(read[index], 'an object of the snapshot'));
  }
  return page.map((each) => ({ row: must(each.row ?? rows.get(each), 'a row of the page'), keys: each.keys }));
}

/** The first rows of each list, up to its limit. */
async function candidatesIn(
  { lease, lists }: CellLists,
  plan: ListPlan,
  offset: number,
): Promise<readonly Candidate[]> {
  const [only, ...others] = lists;
  if (only !== undefined && others.length === 0 && offset === 0) {
    const found = await byOrderSteps(lease, only, plan);
    if (found !== null) {
      return found.map(({ row, keys }) => ({ lease, id: row.objectId, key: row.key, identity: row, keys, row }));
    }
  }
  const candidates: Candidate[] = [];
  for (const list of lists) {
    const statements = keyPageStatements(list);
    const rows = statements.length === 0 ? [] : await lease.fill(statements, list.limit);
    for (const row of rows) {
      const keys = keysIn(row, plan.orderBy, 'keys');
      const { key } = list.kind;
      candidates.push({ lease, id: Number(row[0]), key, identity: identityIn(key, row), keys, row: null });
    }
  }
  return candidates;
}

function identityIn(key: string, [, cluster, namespace, name]: Row): Identity {
  return { cluster: String(cluster), key, namespace: namespace === '' ? null : String(namespace), name: String(name) };
}

/** A row with a lazy cursor, because most callers read only two cursors of a page. */
export function listRow(row: ObjectRow, keys: OrderKeys, fingerprint: string): ListRow {
  return {
    ...row,
    get cursor() {
      return encodeCursor({ keys, identity: row }, fingerprint);
    },
  };
}
