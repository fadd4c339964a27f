/** Counts the references of a kind at each of its places, and those to objects that are not there. */
import type { Lease } from '../../store/types/lease.ts';
import { all, raw, sql } from '../../store/types/sql.ts';
import type { SyncedKind } from '../plan/hop.ts';
import { countsIn } from '../sql/counts.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';
import { checkedKinds, isMissing } from './dangling.ts';

interface PlaceCount {
  /** placeText */
  readonly place: string;
  readonly cluster: string;
  readonly references: number;
  /** References to objects of synced kinds that are not there. */
  readonly missing: number;
}

/** @param key resourceKey of the referring kind. @param to the kinds whose objects can be found missing. */
export async function referenceCounts(
  lease: Lease,
  view: View,
  key: string,
  to: readonly SyncedKind[],
): Promise<readonly PlaceCount[]> {
  const kind = view.get(key);
  if (kind === undefined) return [];
  const rows = await lease.all(
    sql`WITH m AS MATERIALIZED (${checkedKinds(view, to)})
      SELECT p.spec, s.cluster, count(*), sum(m.named IS NOT NULL AND ${isMissing(view, to)})
      FROM object AS s CROSS JOIN reference AS r ON r.id = s.id CROSS JOIN reference_place AS p ON p.id = r.place
        CROSS JOIN target AS t ON t.id = r.target LEFT JOIN m ON m.named = t.named AND m.cluster = t.cluster
      WHERE ${all([sql`s.kind = ${BigInt(kind.kindId)}`, tickAt('s.id', 256), countsIn(kind, raw('s'))])}
      GROUP BY p.spec, s.cluster`,
  );
  return rows.map(([place, cluster, references, missing]) => ({
    place: String(place),
    cluster: String(cluster),
    references: Number(references),
    missing: Number(missing),
  }));
}
