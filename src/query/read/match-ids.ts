/** Reads all matching objects without their bodies: the start of a live list's snapshot. */

import type { Lease } from '../../store/types/lease.ts';
import type { Filter, Identity } from '../plan/filter.ts';
import type { PlannedKind, Position } from '../plan/plan.ts';
import { chooseRoute } from '../route/route.ts';
import { seqPageStatements } from '../sql/sql-list.ts';
import type { View } from '../sql/view.ts';

export interface MatchedObject {
  readonly objectId: number;
  /** The sequence number of the object's newest change. */
  readonly seq: number;
  readonly identity: Identity;
}

/** Rows of one statement. Statements are limited in rows and in time. */
const chunk = 20_000;

/**
 * All matching objects of a kind that the caller may watch, in identity order. A kind without tables in the view has none.
 * @param limit of the objects; default none.
 */
export async function matchingObjects(
  lease: Lease,
  view: View,
  { key }: PlannedKind,
  filter: Filter,
  limit = Number.POSITIVE_INFINITY,
): Promise<MatchedObject[]> {
  const kind = view.get(key, 'watch');
  if (kind === undefined) return [];
  const route = await chooseRoute(lease, kind, filter, [], chunk);
  const found: MatchedObject[] = [];
  let position: Position | null = null;
  for (;;) {
    const list = { kind, filter, orderBy: [], route, backward: false, position, limit: chunk };
    const statements = seqPageStatements(list);
    const rows = statements.length === 0 ? [] : await lease.fill(statements, chunk);
    for (const [id, cluster, namespace, name, seq] of rows) {
      const identity: Identity = {
        cluster: String(cluster),
        key,
        namespace: namespace === '' ? null : String(namespace),
        name: String(name),
      };
      found.push({ objectId: Number(id), seq: Number(seq), identity });
      position = { keys: [], identity };
    }
    if (rows.length < chunk || found.length >= limit) return found.slice(0, limit);
  }
}
