/**
 * Access paths: conditions of a filter that an index serves, and the number of rows that satisfy each.
 *
 *   filter -> accessPaths -> survey (one statement: rows of each path, up to a bound) -> the caller chooses a path or the order
 *
 * Example: `status.phase eq Running AND labels["app"] In [web]` of a kind with a slot for status.phase has two paths:
 *
 *   status.phase eq    FROM p7 AS p WHERE p.c3 = 'Running'
 *   labels["app"] In   FROM object_by_label AS d CROSS JOIN object AS o ON o.id = d.id
 *                      WHERE d.kind = 7 AND d.key = 'app' AND d.value = 'web'
 *
 * Only a top-level conjunct can be an access path, because it holds for every match. A path never changes which rows match:
 * `rest` is the filter without the condition that the path itself guarantees.
 */
import type { KindLayout } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, isIn, join, raw, sql } from '../../store/types/sql.ts';
import type { Statement } from '../../store/types/statement.ts';
import { foldable } from '../evaluate/matches.ts';
import { conjunction } from '../plan/comparison.ts';
import { conjuncts, type Filter, type LabelRequirement, withNamespace } from '../plan/filter.ts';
import { shapeOfFilter } from '../plan/filter-shape.ts';
import { type Hop, reversed } from '../plan/hop.ts';
import { countsIn, isPublished, storedTotal } from './counts.ts';
import { hopSql } from './hop-sql.ts';
import { isCreated, KindTables, readySlot } from './kind-tables.ts';
import { type Search, searchCandidates } from './search.ts';
import { type Comparison, filterSql, identityList, test, wantedKeys } from './sql-filter.ts';
import type { KindView } from './view.ts';

export interface AccessPath {
  /** The condition as text, without its values. */
  readonly on: string;
  readonly tables: () => KindTables;
  /** The FROM clause up to the base table. */
  readonly from: (tables: KindTables) => Fragment;
  /** The path's own condition. */
  readonly where: (tables: KindTables) => Fragment;
  /** A smaller FROM clause that suffices to count the rows; absent where counting needs `from`. */
  readonly counted?: Fragment;
  /** The path is used only if this condition holds. Absent: always. */
  readonly onlyIf?: Fragment;
  /** The conditions of the filter that remain to be checked. */
  readonly rest: Filter;
}

/** The most rows that a survey counts for one path. */
export const surveyBound = 2000;

/** The access paths that a filter offers for a kind. */
export function accessPaths(kind: KindView, filter: Filter): readonly AccessPath[] {
  const parts = conjuncts(filter);
  return parts.flatMap((part, index): readonly AccessPath[] => {
    const restWith = (...instead: readonly Filter[]): Filter =>
      conjunction([...parts.slice(0, index), ...instead, ...parts.slice(index + 1)]);
    const object = (): KindTables => new KindTables(kind, 'o');
    switch (part.kind) {
      case 'labels':
        return part.requirements.flatMap((requirement, at) => {
          if (requirement.operator !== 'In' && requirement.operator !== 'Exists') return [];
          const others = part.requirements.filter((_, other) => other !== at);
          const rest = restWith(...(others.length === 0 ? [] : [{ kind: 'labels' as const, requirements: others }]));
          return [labelPath(kind, requirement, object, rest)];
        });
      case 'namespaces':
        return [
          {
            on: shapeOfFilter(part),
            tables: object,
            from: (tables) => tables.from(),
            where: (tables) =>
              all([
                isPublished(tables.column('rowset'), kind),
                isIn(tables.column('namespace'), withNamespace(part.in)),
              ]),
            rest: restWith(),
          },
        ];
      case 'ids':
        return [
          {
            on: shapeOfFilter(part),
            tables: object,
            from: (tables) => sql`(SELECT DISTINCT value ->> 0 AS cluster, value ->> 1 AS namespace, value ->> 2 AS name
              FROM json_each(${identityList(kind.key, part)})) AS d CROSS JOIN ${tables.from()} ON ${tables.isOfKind()}
              AND ${tables.column('cluster')} = d.cluster AND ${tables.column('namespace')} = d.namespace AND ${tables.column('name')} = d.name`,
            where: () => raw('1'),
            rest: restWith(),
          },
        ];
      case 'search':
        return searchPath(kind, part, restWith(part));
      case 'compare':
        return comparisonPath(kind, part, restWith());
      case 'related':
        return relatedPaths(kind, part, restWith());
      default:
        return [];
    }
  });
}

function labelPath(kind: KindView, requirement: LabelRequirement, tables: () => KindTables, rest: Filter): AccessPath {
  const ofKind = sql`d.kind = ${BigInt(kind.kindId)} AND d.key = ${requirement.key}`;
  return {
    on: shapeOfFilter({ kind: 'labels', requirements: [requirement] }),
    tables,
    from: (tables) => sql`object_by_label AS d CROSS JOIN ${tables.from()} ON ${tables.column('id')} = d.id`,
    counted: raw('object_by_label AS d'),
    where: () =>
      requirement.operator === 'Exists' ? ofKind : sql`${ofKind} AND ${isIn(raw('d.value'), requirement.values)}`,
    rest,
  };
}

/**
 * From the related objects to the objects of the kind. The related objects are found by an access path of their own, or all are read if
 * there are few of them.
 */
function relatedPaths(
  kind: KindView,
  { hop, of }: Extract<Filter, { readonly kind: 'related' }>,
  rest: Filter,
): readonly AccessPath[] {
  const end = hop.from.key === kind.key ? kind.view.end(hop) : undefined;
  // No index leads from the objects of all kinds.
  if (end === undefined || end.anyAs !== null) return [];
  const all = { on: '', tables: () => new KindTables(end, 'o'), rest: of, onlyIf: isSmall(end) };
  const whole = { ...all, from: (y: KindTables) => y.from(), where: (y: KindTables) => y.isOfKind() };
  const found = accessPaths(end, of);
  return (found.length === 0 ? [whole] : found).map(
    (path): AccessPath => ({
      on: `${hop.name} ${path.on}`.trim(),
      tables: () => new KindTables(kind, 'o'),
      from: (tables) =>
        sql`(${relatedDriver(kind, end, hop, path)}) AS d CROSS JOIN ${tables.from()} ON ${tables.column('id')} = d.id`,
      where: (tables) => sql`+${tables.isOfKind()}`,
      rest,
      ...(path.onlyIf === undefined ? {} : { onlyIf: path.onlyIf }),
    }),
  );
}

/** A SELECT of the ids of all objects of `kind` whose hop leads to a row of the path. */
function relatedDriver(
  kind: KindView,
  end: KindView,
  hop: Hop,
  path: Pick<AccessPath, 'tables' | 'from' | 'where' | 'rest'>,
): Fragment {
  const y = path.tables();
  const z = new KindTables(kind, 'o', '_z');
  const matching = filterSql(y, path.rest);
  const back = hopSql(reversed(hop), y.objectAlias(), z);
  const conditions = [path.where(y), y.tick(), countsIn(end, y.alias(y.base)), matching];
  return sql`SELECT DISTINCT f.value AS id FROM ${path.from(y)}${y.joins()}
    CROSS JOIN json_each((SELECT json_group_array(${z.column('id')}) FROM ${back.from} WHERE ${back.where})) AS f WHERE ${all(conditions)}`;
}

/** The condition that a kind has at most as many rows as a survey counts. */
function isSmall(kind: KindView): Fragment {
  return sql`${storedTotal(kind)} <= ${BigInt(surveyBound)}`;
}

/** The index finds terms of three characters and more. `rest` keeps the search: it checks whether an object has the terms. */
function searchPath(kind: KindView, search: Search, rest: Filter): readonly AccessPath[] {
  const candidates = searchCandidates(search);
  if (candidates === null) return [];
  return [
    {
      on: shapeOfFilter(search),
      tables: () => new KindTables(kind, 'o'),
      from: (tables) => sql`(${candidates}) AS d CROSS JOIN ${tables.from()} ON ${tables.column('id')} = d.id`,
      where: (tables) => sql`+${tables.isOfKind()}`,
      rest,
    },
  ];
}

/** Are the matching keys a range, or a short list? Then an index of the leaf finds them. */
export function isRange({ type, operator, ignoreCase }: Comparison): boolean {
  if (operator === 'endsWith' || operator === 'contains' || operator === 'matches') return false;
  if (operator === 'startsWith' && type !== 'String') return false;
  return !(ignoreCase && foldable(type, operator));
}

/** The access path of a comparison: by a slot, by uid or by creation time. Empty without an index on the leaf's keys. */
function comparisonPath(kind: KindView, filter: Comparison, rest: Filter): readonly AccessPath[] {
  const { path, type, operator } = filter;
  if (!isRange(filter)) return [];
  const on = shapeOfFilter(filter);
  const keys = wantedKeys(filter);
  if (keys.length === 0) return [];
  const from = (tables: KindTables): Fragment => tables.from();
  const condition = (column: Fragment): Fragment => test(operator, type, column, keys, true);
  const slot = readySlot(kind, path, type);
  if (slot !== null) {
    return [
      {
        on,
        tables: () => new KindTables(kind, 'p'),
        from,
        where: (tables) => condition(tables.slotColumn(slot)),
        rest,
      },
    ];
  }
  const object = (): KindTables => new KindTables(kind, 'o');
  if (path.text === 'metadata.uid' && type === 'String') {
    return [
      {
        on,
        tables: object,
        from: (tables) => sql`object_by_uid AS d CROSS JOIN ${tables.from()} ON ${tables.column('id')} = d.id`,
        where: (tables) => sql`+${tables.isOfKind()} AND ${condition(raw('d.uid'))}`,
        rest,
      },
    ];
  }
  if (isCreated(path, type)) {
    return [
      {
        on,
        tables: object,
        from,
        where: (tables) => sql`${tables.isOfKind()} AND ${condition(tables.column('created'))}`,
        rest,
      },
    ];
  }
  return [];
}

export interface Survey {
  /** Rows of each path, also hidden ones; `surveyBound + 1` means more than the bound. */
  readonly rows: readonly number[];
  /** Rows of the kind, also hidden ones: a scan goes through them. */
  readonly total: number;
  /** Clusters in which the kind is synced, sorted by code point. */
  readonly clusters: readonly string[];
}

const syncedClusters = raw('json_group_array(DISTINCT cluster ORDER BY cluster)');

/** A statement with one value: the JSON list of the clusters in which a resource of the kind is synced. */
export function syncedClustersStatement({ kindId }: Pick<KindLayout, 'kindId'>): Statement {
  return sql`SELECT ${syncedClusters} FROM resource WHERE kind = ${BigInt(kindId)} AND synced = 1`;
}

/** The expression that counts the rows of a path that the caller may see, up to `limit`. */
export function countOf(kind: KindView, path: AccessPath, limit: number): Fragment {
  if (kind.isWhole) return rowsOf(path, limit);
  const tables = path.tables();
  const rows = sql`${path.from(tables)} WHERE ${all([path.where(tables), tables.tick(), tables.isVisible()])}`;
  return upTo(path, rows, limit);
}

/** The expression that counts the rows that a scan of a path goes through, up to `limit`. Rows that the caller may not see count too. */
function rowsOf(path: AccessPath, limit: number): Fragment {
  const tables = path.tables();
  const where = path.where(tables);
  return upTo(path, sql`${path.counted ?? path.from(tables)} WHERE ${where}`, limit);
}

function upTo(path: AccessPath, rows: Fragment, limit: number): Fragment {
  const count = sql`(SELECT count(*) FROM (SELECT 1 FROM ${rows} LIMIT ${BigInt(limit)}))`;
  return path.onlyIf === undefined ? count : sql`iif(${path.onlyIf}, ${count}, ${BigInt(limit)})`;
}

/** Counts the rows of each path, for the choice among them. `paths` must not be empty. */
export async function survey(lease: Lease, kind: KindView, paths: readonly AccessPath[]): Promise<Survey> {
  const counts = paths.map((path) => rowsOf(path, surveyBound + 1));
  const [row = []] = await lease.all(
    sql`SELECT ${storedTotal(kind)}, ${syncedClusters}, ${join(counts, ', ')}
      FROM resource WHERE kind = ${BigInt(kind.kindId)} AND synced = 1`,
  );
  const [total, clusters, ...rows] = row;
  return {
    rows: rows.map(Number),
    total: Number(total),
    clusters: JSON.parse(String(clusters)) as readonly string[],
  };
}

/** An access path with the number of its rows. */
export interface SizedPath {
  readonly path: AccessPath;
  /** The number of rows of the path; `surveyBound + 1` means more than the bound. */
  readonly rows: number;
}

/** The path with the fewest rows; null without paths. */
export function narrowest(paths: readonly AccessPath[], { rows }: Survey): SizedPath | null {
  let best: SizedPath | null = null;
  for (const [index, path] of paths.entries()) {
    const count = rows[index] ?? surveyBound + 1;
    if (best === null || count < best.rows) best = { path, rows: count };
  }
  return best;
}

/** How a list goes through a kind's rows (src/query/route/route.ts). */
export type Route =
  | { readonly kind: 'order' }
  | { readonly kind: 'identity'; readonly clusters: readonly string[]; readonly namespaces: readonly string[] | null }
  | ({ readonly kind: 'path' } & SizedPath)
  | { readonly kind: 'scan' };
