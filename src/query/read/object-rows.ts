/** Reads objects by their ids in the store, and parses rows. */
import { must } from '../../base/must.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { storedHealth } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isPublishedOfAny } from '../../store/types/published.ts';
import { type Fragment, raw, sql } from '../../store/types/sql.ts';
import type { Row } from '../../store/types/statement.ts';
import type { ObjectRow, Projection } from '../plan/plan.ts';
import { objectColumns, projectionSql } from '../sql/projection.ts';

/** The object in a row with the columns id, those of {@link objectColumns}, body. */
export function objectRow(key: string, row: Row): ObjectRow {
  const [id, cluster, namespace, name, uid, resourceVersion, seq, health, reason, message, source, body] = row;
  return {
    objectId: Number(id),
    cluster: String(cluster),
    key,
    namespace: namespace === '' ? null : String(namespace),
    name: String(name),
    uid: uid === null || uid === '' ? null : String(uid),
    resourceVersion: String(resourceVersion),
    seq: Number(seq),
    health: storedHealth([health, reason, message, source]),
    body: parseExact(String(body)),
  };
}

/** Does the snapshot contain the object with this id? */
export async function isStored(lease: Lease, id: number): Promise<boolean> {
  return (await lease.all(sql`SELECT 1 FROM object WHERE id = ${BigInt(id)}`)).length > 0;
}

/** The objects of these ids, in the same order. The lease's snapshot must contain them. `key` is an object's resourceKey. */
export async function objectsById(
  lease: Lease,
  objects: readonly { readonly id: number; readonly key: string }[],
  projection: Projection,
): Promise<readonly ObjectRow[]> {
  const rows = await rowsById(
    lease,
    objects.map(({ id }) => id),
    projection,
    raw('1'),
  );
  return objects.map(({ id, key }) => objectRow(key, must(rows.get(id), 'an object of this snapshot')));
}

/** Those of these objects that are published and have not changed since the revision, by id. */
export async function unchangedById(
  lease: Lease,
  ids: readonly number[],
  { key, revision, projection }: { readonly key: string; readonly revision: number; readonly projection: Projection },
): Promise<ReadonlyMap<number, ObjectRow>> {
  const isUnchanged = sql`o.seq <= ${revision} AND ${isPublishedOfAny(raw('o'))}`;
  const rows = await rowsById(lease, ids, projection, isUnchanged);
  return new Map([...rows].map(([id, row]) => [id, objectRow(key, row)]));
}

/** Rows of {@link objectRow}, by id. */
async function rowsById(
  lease: Lease,
  ids: readonly number[],
  projection: Projection,
  condition: Fragment,
): Promise<ReadonlyMap<number, Row>> {
  if (ids.length === 0) return new Map();
  const body = projectionSql(projection);
  const rows = await lease.all(
    sql`SELECT o.id, ${raw(objectColumns)}, ${body ?? raw(`'{}'`)}
      FROM json_each(${JSON.stringify(ids)}) AS j CROSS JOIN object AS o ON o.id = j.value${raw(
        body === null ? '' : ' CROSS JOIN body AS b ON b.id = o.id',
      )}
      WHERE ${condition}`,
  );
  return new Map(rows.map((row) => [Number(row[0]), row]));
}
