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

import type { Access, ClusterScope, Scope } from '../../access/scope.ts';
import { isPublishedOfAny } from '../../store/types/published.ts';
import { all, any, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import type { KindView, View } from './view.ts';

/** The condition that `rowset` is one of the kind's published rowsets. */
export function isPublished(rowset: Fragment, { kindId }: Pick<KindView, 'kindId'>): Fragment {
  return sql`${rowset} IN (SELECT rowset FROM resource WHERE kind = ${BigInt(kindId)} AND synced = 1)`;
}

/**
 * The condition that a row is in the scope. The counterpart of `isVisible` (src/access/scope.ts).
 *
 *   some namespaces   +o.cluster = 'east' AND +o.namespace IN (SELECT value FROM json_each('["a","b"]'))
 *
 * The plus keeps SQLite from all indexes but the route's (src/query/route/route.ts).
 * @param table the alias of a table with the columns `cluster`, `namespace` and `name`: `object`, or the kind's promoted table.
 */
export function scopeSql(scope: Scope, table: Fragment): Fragment {
  if (scope.rows !== 'some') return raw(scope.rows === 'all' ? '1' : '0');
  return any([...scope.clusters].map(([cluster, part]) => partSql(cluster, part, table)));
}

function partSql(cluster: string, part: ClusterScope, table: Fragment): Fragment {
  const here = sql`+${table}.cluster = ${cluster}`;
  if (part === 'all') return here;
  const objects = [...part.names].flatMap(([namespace, names]) =>
    namespace === '' ? [] : [...names].map((name) => [namespace, name]),
  );
  const rows = [
    ...(part.namespaces.size === 0
      ? []
      : [sql`+${table}.namespace IN (SELECT value FROM json_each(${listText(part.namespaces)}))`]),
    ...(part.names.has('')
      ? [sql`+${table}.name IN (SELECT value FROM json_each(${JSON.stringify([...(part.names.get('') ?? [])])}))`]
      : []),
    ...(objects.length === 0
      ? []
      : [
          sql`(+${table}.namespace, +${table}.name) IN (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(objects)}))`,
        ]),
  ];
  return all([here, any(rows)]);
}

const listTexts = new WeakMap<ReadonlySet<string>, string>();

/** The JSON list of a set, made once. A list is one parameter: SQLite takes 32,766. */
function listText(set: ReadonlySet<string>): string {
  const known = listTexts.get(set) ?? JSON.stringify([...set]);
  listTexts.set(set, known);
  return known;
}

/**
 * The condition that a row of the kind counts.
 * @param table as in `scopeSql`.
 * @param indexed a table as in `scopeSql` whose index the scan goes through: it has the columns of the scope without reading the row.
 */
export function countsIn(kind: KindView, table: Fragment, indexed = table): Fragment {
  return all([isPublished(sql`+${table}.rowset`, kind), scopeSql(kind.visible, indexed)]);
}

/** The number of rows of the kind, for the choice of a route. Counts rows that the caller may not see: never answer with it. */
export function storedTotal({ kindId }: Pick<KindView, 'kindId'>): Fragment {
  return sql`(SELECT coalesce(sum(objects), 0) FROM resource WHERE kind = ${BigInt(kindId)} AND synced = 1)`;
}

/** At least the number of rows of the kind that the caller may see; exact if no name of the scope stands alone. The store maintains it. */
export function visibleTotal(kind: KindView): Fragment {
  const { visible } = kind;
  if (visible.rows === 'all') return storedTotal(kind);
  if (visible.rows === 'none') return raw('0');
  const parts = [...visible.clusters.values()].filter((part) => part !== 'all');
  const names = parts.flatMap((part) => [...part.names.values()]).reduce((sum, some) => sum + some.size, 0);
  return sql`(SELECT coalesce(sum(c.objects), 0) + ${BigInt(names)} FROM resource AS r CROSS JOIN object_count AS c ON c.rowset = r.rowset
    WHERE r.kind = ${BigInt(kind.kindId)} AND r.synced = 1 AND ${placesSql(visible, raw('r.cluster'), raw('c.namespace'))})`;
}

/** The condition that the caller sees every object of a place. */
export function placesSql(
  { clusters }: Extract<Scope, { readonly rows: 'some' }>,
  cluster: Fragment,
  namespace: Fragment,
): Fragment {
  return any(
    [...clusters].flatMap(([name, part]) => {
      const here = sql`${cluster} = ${name}`;
      if (part === 'all') return [here];
      if (part.namespaces.size === 0) return [];
      return [all([here, sql`${namespace} IN (SELECT value FROM json_each(${listText(part.namespaces)}))`])];
    }),
  );
}

/** The condition that a row of `object` counts, for rows of any kind. @param o the alias of the row. */
export function countsOfAny(view: View, o = raw('o'), access: Access = 'list'): Fragment {
  return all([isVisibleOfAny(view, o, access), isPublishedOfAny(o)]);
}

/** The condition that the caller may see a row of `object`, for rows of any kind. Kinds with equal scopes share a condition. */
function isVisibleOfAny(view: View, o: Fragment, access: Access): Fragment {
  const groups = view.scopeGroups(access);
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
