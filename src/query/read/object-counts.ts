/** Reads the numbers of objects by namespace and health, which the store maintains with every commit. */
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isIn, raw, sql } from '../../store/types/sql.ts';
import type { View } from '../sql/view.ts';

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
 * The groups of the synced resources of these kinds, sorted by namespace and health. Kinds of which the caller does not see all rows
 * have none.
 * @param namespaces null for all.
 */
export async function readObjectCounts(
  lease: Lease,
  view: View,
  keys: readonly string[],
  by: CountGroups,
  namespaces: readonly string[] | null,
): Promise<readonly ObjectCount[]> {
  const kindIds = keys.flatMap((key) => {
    const kind = view.get(key);
    return kind?.isWhole === true ? [BigInt(kind.kindId)] : [];
  });
  const inNamespaces =
    namespaces === null
      ? raw('1')
      : isIn(
          raw('c.namespace'),
          namespaces.filter((name) => name !== ''),
        );
  const rows = await lease.all(
    sql`SELECT r.cluster, k.key, ${raw(by.namespace ? "nullif(c.namespace, '')" : 'NULL')}, ${raw(by.health ? 'c.health' : 'NULL')}, sum(c.objects)
      FROM resource AS r CROSS JOIN kind AS k ON k.id = r.kind CROSS JOIN object_count AS c ON c.rowset = r.rowset
      WHERE r.synced = 1 AND c.objects > 0 AND ${isIn(raw('r.kind'), kindIds)} AND ${inNamespaces}
      GROUP BY 1, 2, 3, 4 ORDER BY 3, 4`,
  );
  return rows.map(([cluster, key, namespace, health, objects]) => ({
    cluster: String(cluster),
    key: String(key),
    namespace: namespace === null ? null : String(namespace),
    health: health as HealthStatus | null,
    objects: Number(objects),
  }));
}
