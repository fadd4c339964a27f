/** Reads the number of objects by cluster, namespace and health, which the store maintains with every commit. */
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isIn, raw, sql } from '../../store/types/sql.ts';
import type { View } from '../sql/view.ts';

export interface ObjectCount {
  readonly cluster: string;
  /** resourceKey of the kind. */
  readonly key: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly health: HealthStatus;
  readonly objects: number;
}

/**
 * The counts of synced resources, sorted by namespace and health. Kinds of which the caller does not see all rows have none.
 * @param namespaces null for all.
 */
export async function readObjectCounts(
  lease: Lease,
  view: View,
  keys: readonly string[],
  namespaces: readonly string[] | null,
): Promise<readonly ObjectCount[]> {
  const kindIds = keys.flatMap((key) => {
    const kind = view.get(key);
    return kind?.isWhole === true ? [BigInt(kind.kindId)] : [];
  });
  const rows = await lease.all(
    sql`SELECT r.cluster, k.key, nullif(c.namespace, ''), c.health, sum(c.objects)
      FROM resource AS r CROSS JOIN kind AS k ON k.id = r.kind CROSS JOIN object_count AS c ON c.rowset = r.rowset
      WHERE r.synced = 1 AND c.objects > 0 AND ${isIn(raw('r.kind'), kindIds)}
        AND ${
          namespaces === null
            ? raw('1')
            : isIn(
                raw('c.namespace'),
                namespaces.filter((name) => name !== ''),
              )
        }
      GROUP BY 1, 2, c.namespace, c.health ORDER BY c.namespace, c.health`,
  );
  return rows.map(([cluster, key, namespace, health, objects]) => ({
    cluster: String(cluster),
    key: String(key),
    namespace: namespace === null ? null : String(namespace),
    health: health as HealthStatus,
    objects: Number(objects),
  }));
}
