/**
 * How far the change log reaches back, for each kind and cluster.
 *
 *   the floor of the kind cut at 08:10:00.2, the newest RESET of the cluster at 08:05   ->   since 08:10:01
 *
 * The time is rounded up to a whole second, because the caller may not see the entry that has this time.
 */
import type { Lease } from '../../store/types/lease.ts';
import { sql } from '../../store/types/sql.ts';
import type { View } from '../sql/view.ts';

export interface Reach {
  readonly key: string;
  readonly cluster: string;
  /** Milliseconds since the epoch: every later change is recorded. Null while the kind is not synced there. */
  readonly since: number | null;
}

/** The reach of these kinds in this order, in each cluster in which they are ingested. A kind that the store does not have is left out. */
export async function reachOf(lease: Lease, view: View, keys: readonly string[]): Promise<readonly Reach[]> {
  const kinds = new Map(
    keys.flatMap((key): (readonly [number, string])[] => {
      const kindId = view.get(key)?.kindId;
      return kindId === undefined ? [] : [[kindId, key]];
    }),
  );
  if (kinds.size === 0) return [];
  const rows = await lease.all(
    sql`SELECT r.kind, r.cluster, min(r.synced), max(l.since), (SELECT c.at FROM change AS c INDEXED BY change_reset
        WHERE c.type = 'RESET' AND c.kind = r.kind AND c.cluster = r.cluster ORDER BY c.seq DESC LIMIT 1)
      FROM resource AS r LEFT JOIN kind_log AS l ON l.kind = r.kind
      WHERE r.kind IN (SELECT value FROM json_each(${JSON.stringify([...kinds.keys()])}))
      GROUP BY r.kind, r.cluster ORDER BY r.cluster`,
  );
  const byKind = Map.groupBy(rows, ([kindId]) => Number(kindId));
  return [...kinds].flatMap(([kindId, key]) =>
    (byKind.get(kindId) ?? []).map(([, cluster, synced, since, reset]) => ({
      key,
      cluster: String(cluster),
      since: synced === 1 && since !== null ? wholeSecond(Math.max(Number(since), Number(reset ?? 0))) : null,
    })),
  );
}

function wholeSecond(at: number): number {
  return Math.ceil(at / 1000) * 1000;
}
