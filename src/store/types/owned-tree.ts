/**
 * The SQL of what an object owns, over several steps. Reads of one operation and the writer's stored roll-ups use the same text.
 *
 * A step goes from an object to those whose owner references have its uid. Both are in one cluster. A namespaced owner owns only objects
 * of its own namespace, as for the garbage collector of Kubernetes. Otherwise a user of one namespace could add objects to the owners of
 * another. Steps end at `deepestOwned`, so owners in a circle do not keep them going.
 */
import { bySeverity } from '../../catalog/health/health-status.ts';
import { type Fragment, raw, sql } from './sql.ts';

/** Steps from the root. */
export const deepestOwned = 8;

/** FROM and WHERE of one step: from `tree AS t`, which has the columns depth, uid, cluster and namespace, to `object AS o`. */
export const ownedStep = raw(`FROM tree AS t CROSS JOIN edge AS e ON e.owner_uid = t.uid
  CROSS JOIN object AS o ON o.id = e.id AND +o.cluster = t.cluster
  WHERE t.depth < ${deepestOwned} AND t.uid <> '' AND (t.namespace = '' OR +o.namespace = t.namespace)`);

/** The severity of a HealthStatus. @param status SQL text of a column */
export function severitySql(status: string): string {
  return `CASE ${status} ${bySeverity.map((each, severity) => `WHEN '${each}' THEN ${severity}`).join(' ')} END`;
}

/**
 * WITH clause of the table `tree (id, depth, uid, cluster, namespace, severity)`: the root with the severity 0, and what it owns.
 * @param root the columns id, uid, cluster and namespace of an outer row
 * @param counted the condition on `o` that an owned object counts
 */
export function ownedTreeSql(
  root: { readonly id: Fragment; readonly uid: Fragment; readonly cluster: Fragment; readonly namespace: Fragment },
  counted: Fragment,
  limit = raw(''),
): Fragment {
  return sql`WITH RECURSIVE tree (id, depth, uid, cluster, namespace, severity) AS (
    SELECT ${root.id}, 0, ${root.uid}, ${root.cluster}, ${root.namespace}, 0
    UNION SELECT o.id, t.depth + 1, o.uid, o.cluster, o.namespace, ${raw(severitySql('o.health'))}
    ${ownedStep} AND ${counted} ${limit})`;
}
