/**
 * All that objects own, over several steps, for a batch of objects in one statement.
 *
 *   ownedTrees([<Deployment web>])   ->   [[ReplicaSet web-1 (step 1), Pod web-1-a (step 2), Pod web-1-b (step 2)]]
 *
 * The recursive SELECT has one row for each object, owner and step (src/store/types/owned-tree.ts). A step leads only to rows that count
 * (src/query/sql/counts.ts): a hidden object also hides what it owns.
 */
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { Lease } from '../../store/types/lease.ts';
import { ownedStep } from '../../store/types/owned-tree.ts';
import { all, sql } from '../../store/types/sql.ts';
import type { Row } from '../../store/types/statement.ts';
import { countsOfAny } from '../sql/counts.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';

/** The object whose owned objects are searched. */
export interface TreeRoot {
  /** Object id in the store. */
  readonly id: number;
  readonly cluster: string;
  /** Null for a cluster-scoped object. */
  readonly namespace: string | null;
  readonly uid: string | null;
}

export interface OwnedNode {
  /** Object id in the store. */
  readonly id: number;
  /** resourceKey */
  readonly key: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly status: HealthStatus;
  /** Steps from the root, the fewest. */
  readonly depth: number;
  /** The object id of an owner that is one step nearer to the root: the first one in the order of the nodes. */
  readonly owner: number;
}

const tick = tickAt('o.id', 256);

/**
 * The objects that each of these roots owns, in the order of the roots. A tree has each object once, without the root. Nearer objects come
 * first, then the order of the identity decides. Null when the statement has more than `limit` rows.
 */
export async function ownedTrees(
  lease: Lease,
  view: View,
  roots: readonly TreeRoot[],
  limit: number,
): Promise<OwnedNode[][] | null> {
  view.dependOnAnyKind();
  const list = JSON.stringify(
    roots.map(({ id, cluster, namespace, uid }) => [id, uid ?? '', cluster, namespace ?? '']),
  );
  const rows = await lease.all(
    sql`WITH RECURSIVE tree (place, id, owner, depth, uid, cluster, namespace) AS (
        SELECT j.key, j.value ->> 0, 0, 0, j.value ->> 1, j.value ->> 2, j.value ->> 3 FROM json_each(${list}) AS j
        UNION
        SELECT t.place, o.id, t.id, t.depth + 1, o.uid, o.cluster, o.namespace
        ${ownedStep} AND ${all([tick, countsOfAny(view)])}
        LIMIT ${BigInt(roots.length + limit + 1)})
      SELECT t.place, t.id, t.owner, t.depth, k.key, o.namespace, o.name, o.health
      FROM tree AS t CROSS JOIN object AS o ON o.id = t.id CROSS JOIN kind AS k ON k.id = o.kind
      WHERE t.depth > 0 ORDER BY t.place, t.depth, k.grp, k.plural, o.namespace, o.name`,
  );
  if (rows.length > limit) return null;
  const byPlace = Map.groupBy(rows, ([place]) => Number(place));
  return roots.map(({ id }, place) => nodesOf(id, byPlace.get(place) ?? []));
}

/** The nodes of one tree. @param rows in the order of the nodes */
function nodesOf(root: number, rows: readonly Row[]): OwnedNode[] {
  const order = new Map([[root, 0]]);
  const found = new Map<number, OwnedNode>();
  for (const [, number, ownerNumber, steps, key, namespace, name, health] of rows) {
    const [id, owner, depth] = [Number(number), Number(ownerNumber), Number(steps)];
    if (id === root) continue;
    const known = found.get(id);
    if (known === undefined) {
      order.set(id, order.size);
      const status = String(health) as HealthStatus;
      found.set(id, {
        ...{ id, owner, depth, status },
        key: String(key),
        namespace: namespace === '' ? null : String(namespace),
        name: String(name),
      });
    } else if (known.depth === depth && (order.get(owner) ?? 0) < (order.get(known.owner) ?? 0)) {
      found.set(id, { ...known, owner });
    }
  }
  return [...found.values()];
}
