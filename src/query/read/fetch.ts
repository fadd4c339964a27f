/** Reads objects by identity. */

import { type Access, isVisible } from '../../access/scope.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isPublishedOfAny } from '../../store/types/published.ts';
import { raw, sql } from '../../store/types/sql.ts';
import type { Identity } from '../plan/filter.ts';
import type { ObjectRow, Projection } from '../plan/plan.ts';
import { objectColumns, projectionSql } from '../sql/projection.ts';
import type { View } from '../sql/view.ts';
import { objectRow } from './object-rows.ts';

/**
 * The objects of these identities, in the same order; null for an identity without a visible object.
 * @param access what is done with them; default `get`.
 */
export async function fetchObjects(
  lease: Lease,
  view: View,
  identities: readonly Identity[],
  projection: Projection,
  access: Access = 'get',
): Promise<(ObjectRow | null)[]> {
  const wanted = identities.flatMap((identity, index) => {
    const { cluster, key, namespace, name } = identity;
    const kind = view.get(key, access);
    if (kind === undefined || !isVisible(kind.visible, identity)) return [];
    return [[kind.kindId, cluster, namespace ?? '', name, index]];
  });
  const found = new Array<ObjectRow | null>(identities.length).fill(null);
  if (wanted.length === 0) return found;
  const body = projectionSql(projection);
  const rows = await lease.all(
    sql`SELECT j.value ->> 4, o.id, ${raw(objectColumns)}, ${body ?? raw(`'{}'`)}
      FROM json_each(${JSON.stringify(wanted)}) AS j CROSS JOIN object AS o ON o.kind = j.value ->> 0
        AND o.cluster = j.value ->> 1 AND o.namespace = j.value ->> 2 AND o.name = j.value ->> 3${raw(
          body === null ? '' : ' CROSS JOIN body AS b ON b.id = o.id',
        )}
      WHERE ${isPublishedOfAny(raw('o'))}`,
  );
  for (const [index, ...row] of rows) {
    const identity = identities[Number(index)];
    if (identity !== undefined) found[Number(index)] = objectRow(identity.key, row);
  }
  return found;
}
