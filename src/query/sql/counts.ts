/**
 * The rows that count. A row counts when its rowset is the published rowset of a synced resource and the caller may see the row.
 * Every statement that decides which rows an answer has contains this condition. There are two conditions and one stored count:
 *
 *   one kind        KindTables.counts()        +o.rowset IN (SELECT rowset FROM resource WHERE kind = +? AND synced = 1)
 *   several kinds   countsOfAny(view)          EXISTS (SELECT 1 FROM resource AS r WHERE r.cluster = o.cluster AND …)
 *   a stored count  keptCount(kind, clusters)  SELECT coalesce(sum(objects), 0) FROM resource WHERE …
 *
 * Three kinds of statements do without it. A read by id takes ids from a statement with the condition. A scan with `allCount`
 * (sql-aggregate.ts) takes such ids, or reads a kind of which all rows count. An estimate of rows does not decide an answer.
 */

import type { Scope } from '../../access/scope.ts';
import { all, any, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import type { KindView, View } from './view.ts';

/** The condition that `rowset` is one of the kind's published rowsets. */
export function isPublished(rowset: Fragment, { kindId }: Pick<KindView, 'kindId'>): Fragment {
  return sql`${rowset} IN (SELECT rowset FROM resource WHERE kind = ${BigInt(kindId)} AND synced = 1)`;
}

/**
 * The condition that a row is in the scope. The counterpart of `isVisible` (src/access/scope.ts).
 *
 *   some namespaces   (+o.cluster, +o.namespace) IN (SELECT value ->> 0, value ->> 1 FROM json_each('[["east","a"],["east","b"]]'))
 *
 * The plus keeps SQLite from another index than the one that the route names (src/query/route/route.ts).
 * @param table the alias of a table with the columns `cluster`, `namespace` and `name`: `object`, or the kind's promoted table.
 */
export function scopeSql(scope: Scope, table: Fragment): Fragment {
  if (scope.rows !== 'some') return raw(scope.rows === 'all' ? '1' : '0');
  const found = { clusters: [] as Rows, namespaces: [] as Rows, names: [] as Rows, objects: [] as Rows };
  for (const [cluster, part] of scope.clusters) {
    if (part === 'all') {
      found.clusters.push([cluster]);
      continue;
    }
    for (const namespace of part.namespaces) found.namespaces.push([cluster, namespace]);
    for (const [namespace, names] of part.names) {
      for (const name of names) {
        if (namespace === '') found.names.push([cluster, name]);
        else found.objects.push([cluster, namespace, name]);
      }
    }
  }
  return any([
    among(table, ['cluster'], found.clusters),
    among(table, ['cluster', 'namespace'], found.namespaces),
    among(table, ['cluster', 'name'], found.names),
    among(table, ['cluster', 'namespace', 'name'], found.objects),
  ]);
}

type Rows = (readonly string[])[];

/** The condition that the columns have the values of one of these rows. The list is one parameter: SQLite takes 32,766. */
function among(table: Fragment, columns: readonly string[], rows: Rows): Fragment {
  if (rows.length === 0) return raw('0');
  const left = columns.map((column) => `+${table.sql}.${column}`).join(', ');
  const right = columns.map((_, index) => `value ->> ${index}`).join(', ');
  return sql`(${raw(left)}) IN (SELECT ${raw(right)} FROM json_each(${JSON.stringify(rows)}))`;
}

/** The condition that a row of the kind counts. @param table as in `scopeSql`. */
export function countsIn(kind: KindView, table: Fragment): Fragment {
  return all([isPublished(sql`+${table}.rowset`, kind), scopeSql(kind.visible, table)]);
}

/** The number of rows of the kind that the caller may see. For callers who see all of them, the store maintains it. */
export function totalOf(kind: KindView): Fragment {
  const kept = keptCount(kind, null);
  if (kept !== null) return sql`(${kept})`;
  return sql`(SELECT count(*) FROM object AS o WHERE o.kind = ${BigInt(kind.kindId)} AND ${countsIn(kind, raw('o'))})`;
}

/** The condition that a row of `object` counts, for rows of any kind. @param o the alias of the row. */
export function countsOfAny(view: View, o = raw('o')): Fragment {
  return all([isVisibleOfAny(view, o), isPublishedOfAny(o)]);
}

/** The condition that a row of `object` is published, for rows of any kind that the caller may see. */
export function isPublishedOfAny(o: Fragment): Fragment {
  return sql`EXISTS (SELECT 1 FROM resource AS published
    WHERE published.cluster = ${o}.cluster AND published.kind = ${o}.kind AND published.rowset = ${o}.rowset AND published.synced = 1)`;
}

/** The condition that the caller may see a row of `object`, for rows of any kind. Kinds with equal scopes share a condition. */
function isVisibleOfAny(view: View, o: Fragment): Fragment {
  const groups = view.scopeGroups();
  if (groups === null) return raw('1');
  return any(
    groups.flatMap(({ scope, kindIds }) =>
      scope.rows === 'none' ? [] : [all([isIn(sql`+${o}.kind`, kindIds), scopeSql(scope, o)])],
    ),
  );
}

/**
 * The number of rows that count, maintained by the store with every commit; null when the caller does not see all rows.
 * @param clusters null for all.
 */
export function keptCount(kind: KindView, clusters: readonly string[] | null): Fragment | null {
  if (!kind.isWhole) return null;
  return sql`SELECT coalesce(sum(objects), 0) FROM resource WHERE kind = ${BigInt(kind.kindId)} AND synced = 1
        AND ${clusters === null ? raw('1') : isIn(raw('cluster'), clusters)}`;
}
