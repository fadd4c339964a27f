/**
 * Narrows a list over many kinds to the kinds that can have matches. A cluster may serve a thousand kinds, most of them without
 * objects.
 */

import type { Lease } from '../../store/types/lease.ts';
import { all, isIn, join, raw, sql } from '../../store/types/sql.ts';
import type { Filter } from '../plan/filter.ts';
import { searchCandidates, searchesIn } from '../sql/search.ts';
import type { View } from '../sql/view.ts';

/** With fewer kinds, the extra statement costs more than it saves. */
const few = 4;

/** The `keys` of kinds with objects. For a filter with searches, only kinds of the objects that the search index finds. */
export async function populatedKinds(
  lease: Lease,
  view: View,
  keys: readonly string[],
  filter: Filter,
): Promise<readonly string[]> {
  if (keys.length < few) return keys;
  const ids = keys.map((key) => view.get(key)?.kindId).filter((id) => id !== undefined);
  const where = [isIn(raw('r.kind'), ids.map(BigInt)), raw('r.synced = 1 AND r.objects > 0')];
  const candidates = searchesIn(filter)
    .map(searchCandidates)
    .filter((each) => each !== null);
  if (candidates.length > 0) {
    const found = candidates.map(
      (each) => sql`SELECT o.kind FROM (${each}) AS d CROSS JOIN object AS o ON o.id = d.id`,
    );
    where.push(sql`r.kind IN (${join(found, ' INTERSECT ')})`);
  }
  const rows = await lease.all(sql`SELECT DISTINCT r.kind FROM resource AS r WHERE ${all(where)}`);
  const populated = new Set(rows.map(([kind]) => Number(kind)));
  return keys.filter((key) => populated.has(view.get(key)?.kindId ?? -1));
}
