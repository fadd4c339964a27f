/** Reads the numbers of objects by namespace and health, which the store maintains with every commit. */
import { noRows } from '../../access/scope.ts';
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, isIn, join, raw, sql } from '../../store/types/sql.ts';
import { withNamespace } from '../plan/filter.ts';
import { countsIn, placesSql } from '../sql/counts.ts';
import type { KindView, View } from '../sql/view.ts';

/** How the objects of a resource are grouped. */
export interface CountGroups {
  readonly namespace: boolean;
  readonly health: boolean;
}

/** A group of the objects of one resource. */
export interface ObjectCount {
  readonly cluster: string;
  /** resourceKey of the kind. */
  readonly key: string;
  /** Null for cluster-scoped kinds, and without grouping by namespace. */
  readonly namespace: string | null;
  /** Null without grouping by health. */
  readonly health: HealthStatus | null;
  readonly objects: number;
}

/**
 * The groups of the synced resources of these kinds, sorted by namespace and health. Only objects that the caller may see are counted.
 * @param namespaces null for all.
 */
export async function readObjectCounts(
  lease: Lease,
  view: View,
  keys: readonly string[],
  by: CountGroups,
  namespaces: readonly string[] | null,
): Promise<readonly ObjectCount[]> {
  const kinds = keys.flatMap((key) => view.get(key) ?? []);
  const found: ObjectCount[] = [];
  for (const some of Map.groupBy(kinds, ({ visible }) => visible).values()) {
    const [first] = some;
    if (first === undefined || first.visible.rows === 'none') continue;
    const sources = [storedCounts(some, namespaces), ...namedCounts(some, namespaces)];
    const rows = await lease.all(
      sql`SELECT cluster, key, ${raw(by.namespace ? "nullif(namespace, '')" : 'NULL')}, ${raw(by.health ? 'health' : 'NULL')}, sum(objects)
        FROM (${join(sources, ' UNION ALL ')}) GROUP BY 1, 2, 3, 4 ORDER BY 3, 4`,
    );
    for (const [cluster, key, namespace, health, objects] of rows) {
      found.push({
        cluster: String(cluster),
        key: String(key),
        namespace: namespace === null ? null : String(namespace),
        health: health as HealthStatus | null,
        objects: Number(objects),
      });
    }
  }
  return found;
}

/** Counts that the store maintains, of the clusters and namespaces of which the caller sees every object. */
function storedCounts(kinds: readonly KindView[], namespaces: readonly string[] | null): Fragment {
  const visible = kinds[0]?.visible ?? noRows;
  const places = visible.rows === 'some' ? placesSql(visible, raw('r.cluster'), raw('c.namespace')) : raw('1');
  return sql`SELECT r.cluster AS cluster, k.key AS key, c.namespace AS namespace, c.health AS health, c.objects AS objects
    FROM resource AS r CROSS JOIN kind AS k ON k.id = r.kind CROSS JOIN object_count AS c ON c.rowset = r.rowset
    WHERE r.synced = 1 AND c.objects > 0 AND ${isIn(raw('r.kind'), idsOf(kinds))} AND ${places} AND ${within(raw('c.namespace'), namespaces)}`;
}

/** Objects that the caller sees by their names alone. Empty without names. */
function namedCounts(kinds: readonly KindView[], namespaces: readonly string[] | null): readonly Fragment[] {
  const scope = kinds[0]?.visible ?? noRows;
  if (scope.rows !== 'some') return [];
  const parts = [...scope.clusters.values()].filter((part) => part !== 'all');
  const names = new Set(parts.flatMap((part) => [...part.names.values()].flatMap((some) => [...some])));
  if (names.size === 0) return [];
  return kinds.map((kind) => {
    const ofNames = isIn(raw('+o.name'), [...names]);
    const counted = all([countsIn(kind, raw('o')), within(raw('o.namespace'), namespaces)]);
    return sql`SELECT o.cluster, ${kind.key}, o.namespace, o.health, 1 FROM object AS o
      WHERE o.kind = ${BigInt(kind.kindId)} AND ${ofNames} AND ${counted} AND NOT ${placesSql(scope, raw('o.cluster'), raw('o.namespace'))}`;
  });
}

function idsOf(kinds: readonly KindView[]): readonly bigint[] {
  return kinds.map(({ kindId }) => BigInt(kindId));
}

function within(column: Fragment, namespaces: readonly string[] | null): Fragment {
  if (namespaces === null) return raw('1');
  return isIn(column, withNamespace(namespaces));
}
