/**
 * Which targets of references are missing. A target counts as missing only in a cluster where its kind is synced and the caller may see
 * all of it.
 */
import { type Fragment, sql } from '../../store/types/sql.ts';
import type { SyncedKind } from '../plan/hop.ts';
import { countsOfAny } from '../sql/counts.ts';
import type { View } from '../sql/view.ts';

/** A SELECT of the kinds whose objects can be found missing: named (id in named_kind), cluster, kind (id), namespaced. */
export function checkedKinds(view: View, kinds: readonly SyncedKind[]): Fragment {
  const checked = kinds.flatMap(({ key, group, kind, namespaced, clusters }) => {
    const found = view.get(key);
    if (found?.isWhole !== true) return [];
    return clusters.map((cluster) => [group, kind, cluster, found.kindId, namespaced ? 1 : 0]);
  });
  return sql`SELECT n.id AS named, j.value ->> 2 AS cluster, j.value ->> 3 AS kind, j.value ->> 4 AS namespaced
    FROM json_each(${JSON.stringify(checked)}) AS j CROSS JOIN named_kind AS n ON n.grp = j.value ->> 0 AND n.kind = j.value ->> 1`;
}

/** The condition that the object exists that the row `t` of `target` names. `m`: a row of `checkedKinds`. */
export function isThere(view: View): Fragment {
  return sql`EXISTS (SELECT 1 FROM object AS o WHERE o.kind = m.kind AND o.cluster = t.cluster
    AND o.namespace = iif(m.namespaced, t.namespace, '') AND o.name = t.name AND ${countsOfAny(view)})`;
}
