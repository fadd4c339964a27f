/** What matches at this moment, without bodies: where a live list begins. */
import type { KindLayout } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Filter, Identity } from '../plan/filter.ts';
import type { PlannedKind, Position } from '../plan/plan.ts';
import { chooseRoute } from '../route/route.ts';
import { seqPageStatements } from '../sql/sql-list.ts';

export interface MatchedObject {
  readonly objectId: number;
  /** Sequence number of the object's newest change. */
  readonly seq: number;
  readonly identity: Identity;
}

/** Rows read at once: a statement's rows are bounded, and so is the time that one may take. */
const chunk = 20_000;

/** Every object of a kind that matches, in the order of identities. A kind without a layout has none. */
export async function matchingObjects(
  lease: Lease,
  layouts: ReadonlyMap<string, KindLayout>,
  kind: PlannedKind,
  filter: Filter,
): Promise<MatchedObject[]> {
  const { key } = kind;
  const layout = layouts.get(key);
  if (layout === undefined) return [];
  const route = await chooseRoute(lease, key, layout, filter, [], chunk);
  const found: MatchedObject[] = [];
  let position: Position | null = null;
  for (;;) {
    const list = { key, layout, filter, orderBy: [], route, backward: false, position, limit: chunk };
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
    if (rows.length < chunk) return found;
  }
}
