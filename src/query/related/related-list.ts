/**
 * Lists of related objects, for a batch of objects in one statement.
 *
 *   relatedPages([<ids of Services>], pods of services)   ->   the page of each Service's Pods
 *
 *   SELECT j.key, o.id, … FROM json_each(<ids>) AS j CROSS JOIN object AS s ON s.id = j.value
 *     CROSS JOIN json_each((SELECT json_group_array(id) FROM (<ids that the hop leads to from s, ordered> LIMIT 21))) AS f
 *     CROSS JOIN object AS o ON o.id = f.value
 *
 * SQLite evaluates the inner SELECT once for each s. So the SELECT stops at the end of each page.
 *
 * In the order of the identity, a walk (src/query/sql/hop-sql.ts) reads the related objects of an s that has many. The bound is
 * `surveyBound`:
 *
 *   CASE WHEN <index entries of s> > 2000 THEN <ids that the walk finds> ELSE <ids that the hop leads to> END
 */
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import { decodeCursor } from '../plan/cursor.ts';
import type { Filter } from '../plan/filter.ts';
import { digest } from '../plan/fingerprint.ts';
import type { Hop } from '../plan/hop.ts';
import type { ListResult, ObjectRow, OrderKeys, OrderTerm, Position, Projection } from '../plan/plan.ts';
import type { RelatedObjects } from '../read/aggregate-kinds.ts';
import { listRow } from '../read/list.ts';
import { objectRow } from '../read/object-rows.ts';
import { surveyBound } from '../sql/access-path.ts';
import { type HopSql, hopEntries, hopSql, walkSql } from '../sql/hop-sql.ts';
import { KindTables } from '../sql/kind-tables.ts';
import { keyColumn, readKey } from '../sql/leaf-key.ts';
import { objectColumns, objectValues, projectionSql } from '../sql/projection.ts';
import { filterSql } from '../sql/sql-filter.ts';
import { between, keyColumns, orderClause, travelOrder } from '../sql/sql-order.ts';
import type { KindView, View } from '../sql/view.ts';

/** Which related objects belong to the list. */
export interface RelatedPlan {
  readonly hop: Hop;
  /** On the related objects. */
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
}

interface RelatedPage {
  /** Objects on the page of each object. */
  readonly limit: number;
  /** A cursor of a page with the same plan. It applies to each object. */
  readonly after: string | null;
  readonly projection: Projection;
  /** An object with more related objects than this is read by a walk; default surveyBound. */
  readonly walkAbove?: number | undefined;
}

const s = raw('s');
/** A FROM clause of these objects: `j.key` is the index, `object AS s` the row. */
export function parents(ids: readonly number[]): Fragment {
  return sql`json_each(${JSON.stringify(ids)}) AS j CROSS JOIN object AS s ON s.id = j.value`;
}

/** A SELECT of the column `id` of at most `limit` related objects of `object AS s`, in order. */
export function relatedIdsSql(kind: KindView, plan: RelatedPlan, limit: number): Fragment {
  return idsOf(kind, plan, { limit, position: null });
}

/**
 * The page of each of these objects, in their order.
 * @param ids object ids of the kind `hop.from`.
 * @throws PortolanError BAD_USER_INPUT for a cursor of another list; CACHE_NOT_READY while the relation is not ready.
 */
export async function relatedPages(
  lease: Lease,
  view: View,
  ids: readonly number[],
  plan: RelatedPlan,
  { limit, after, projection, walkAbove }: RelatedPage,
): Promise<ListResult[]> {
  const fingerprint = relatedFingerprint(plan);
  const position = after === null ? null : decodeCursor(after, fingerprint);
  const kind = view.end(plan.hop);
  const page = { limit: limit + 1, position, projection, walkAbove };
  const found = kind === undefined ? ids.map(() => []) : await relatedRows(lease, kind, ids, plan, page);
  return found.map((rows) => ({
    rows: rows.slice(0, limit).map(({ row, keys }) => listRow(row, keys, fingerprint)),
    hasNextPage: rows.length > limit,
    hasPreviousPage: after !== null,
  }));
}

/** A related object with its order keys. */
interface RelatedRow {
  readonly row: ObjectRow;
  readonly keys: OrderKeys;
}

interface RowPage {
  readonly limit: number;
  readonly position: Position | null;
  readonly projection: Projection;
  readonly walkAbove?: number | undefined;
}

/** The first related objects of each of these objects, after a position. */
export async function relatedRows(
  lease: Lease,
  kind: KindView,
  ids: readonly number[],
  plan: RelatedPlan,
  { limit, position, projection, walkAbove = surveyBound }: RowPage,
): Promise<RelatedRow[][]> {
  const found = ids.map((): RelatedRow[] => []);
  const rows = await lease.all(objectsOf(kind, ids, plan, { limit, position, walkAbove }, projection));
  for (const [at, ...row] of rows) {
    const keys = plan.orderBy.map(({ type }, index) => readKey(type, row[objectValues + index]));
    found[Number(at)]?.push({ row: objectRow(kind.key, row), keys });
  }
  return found;
}

/** The number of related objects of each of these objects, at most `limit` each. */
export async function countRelated(
  lease: Lease,
  view: View,
  ids: readonly number[],
  plan: RelatedPlan,
  limit: number | null,
): Promise<number[]> {
  const counts = ids.map(() => 0);
  const kind = view.end(plan.hop);
  if (kind === undefined) return counts;
  const related = idsOf(kind, { ...plan, orderBy: [] }, { limit, position: null });
  const rows = await lease.all(sql`SELECT j.key, (SELECT count(*) FROM (${related})) FROM ${parents(ids)}`);
  for (const [place, count] of rows) counts[Number(place)] = Number(count);
  return counts;
}

/** The ids of the related objects of each of these objects. Reads no bodies for the answer. */
export async function relatedIds(
  lease: Lease,
  view: View,
  ids: readonly number[],
  plan: RelatedPlan,
): Promise<readonly RelatedObjects[]> {
  const kind = view.end(plan.hop);
  if (kind === undefined) return [];
  const related = idsOf(kind, { ...plan, orderBy: [] }, { limit: null, position: null });
  const [row] = await lease.all(
    sql`SELECT count(*), json_group_array(json_array(j.key, f.value)) FROM ${parents(ids)}
      CROSS JOIN json_each((SELECT json_group_array(id) FROM (${related}))) AS f`,
  );
  return [{ key: kind.key, count: Number(row?.[0] ?? 0), pairs: String(row?.[1] ?? '[]') }];
}

/** A cursor of a list of related objects is valid for the same relation, filter and order. */
export function relatedFingerprint({ hop, filter, orderBy }: RelatedPlan): string {
  const { name, direction, from, to } = hop;
  return digest({ related: [from.key, name, direction, to.key], filter, orderBy });
}

interface IdPage {
  /** Null: all. */
  readonly limit: number | null;
  readonly position: Position | null;
}

/** A JSON list of the ids of the objects that are related to `object AS s`, in order. */
export function idListOf(kind: KindView, plan: RelatedPlan, page: IdPage & { readonly walkAbove: number }): Fragment {
  const listOf = (ids: Fragment): Fragment => sql`(SELECT json_group_array(id) FROM (${ids}))`;
  const list = listOf(idsOf(kind, plan, page));
  if (plan.orderBy.length > 0) return list;
  const tables = new KindTables(kind, 'o', '_r');
  const entries = hopEntries(plan.hop, s, tables, page.walkAbove + 1);
  const walk = walkSql(plan.hop, s, tables);
  if (entries === null || walk === null) return list;
  return sql`CASE WHEN ${entries} > ${BigInt(page.walkAbove)} THEN ${listOf(idsOf(kind, plan, page, true))} ELSE ${list} END`;
}

/** A SELECT of the column `id`, ordered, for one row of `object AS s`. */
function idsOf(
  kind: KindView,
  { hop, filter, orderBy }: RelatedPlan,
  { limit, position }: IdPage,
  walks = false,
): Fragment {
  const tables = new KindTables(kind, 'o', '_r');
  const { from, where, rows }: HopSql = (walks ? walkSql(hop, s, tables) : null) ?? hopSql(hop, s, tables);
  const order = travelOrder(tables, orderBy, false);
  const matching = filterSql(tables, filter);
  const conditions = [where, tables.tick(), tables.counts(), matching];
  conditions.push(...between(tables, order, { position, until: null }));
  const columns = join([sql`${tables.column('id')} AS id`, ...keyColumns(order)], ', ');
  const once = rows === 'repeated' ? sql` GROUP BY ${tables.column('id')}` : raw('');
  const end =
    limit === null || rows === 'one' ? raw('') : sql` ${orderClause(tables, order, 'mixed')} LIMIT ${BigInt(limit)}`;
  return sql`SELECT ${columns} FROM ${from}${tables.joins()} WHERE ${all(conditions)}${once}${end}`;
}

/** A statement with the columns: index of the object in `ids`, id, those of objectColumns, body, order keys. */
function objectsOf(
  kind: KindView,
  ids: readonly number[],
  plan: RelatedPlan,
  page: IdPage & { readonly walkAbove: number },
  projection: Projection,
): Fragment {
  const tables = new KindTables(kind, 'o');
  const body = projectionSql(projection);
  const keys = travelOrder(tables, plan.orderBy, false).terms.map(
    ({ type, expression }) => sql`, ${keyColumn(type, expression)}`,
  );
  if (body !== null) tables.body();
  return sql`SELECT j.key, o.id, ${raw(objectColumns)}, ${body ?? raw(`'{}'`)}${join(keys, '')}
    FROM ${parents(ids)}
    CROSS JOIN json_each(${idListOf(kind, plan, page)}) AS f
    CROSS JOIN object AS o ON o.id = f.value${tables.joins()} ORDER BY j.key, f.key`;
}
