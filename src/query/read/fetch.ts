/** Reads objects by identity, and all objects of a kind. */

import { type Access, isVisible } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isPublishedOfAny } from '../../store/types/published.ts';
import { type Fragment, raw, sql } from '../../store/types/sql.ts';
import type { Identity } from '../plan/filter.ts';
import type { ObjectRow, Projection } from '../plan/plan.ts';
import { objectColumns, projectionSql } from '../sql/projection.ts';
import type { KindView, View } from '../sql/view.ts';
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

/** Which objects of a kind. */
interface KindRange {
  readonly cluster: string;
  /** Null for all. */
  readonly namespace: string | null;
  /** Only objects after this one; null for all. */
  readonly after: { readonly namespace: string; readonly name: string } | null;
}

/**
 * In the order of their namespaces and names.
 * @param kind of a view in which every row of the kind is visible
 * @param most objects; null for all
 */
export async function objectsOfKind(
  lease: Lease,
  kind: KindView,
  range: KindRange,
  projection: Projection,
  most: number | null = null,
): Promise<readonly ObjectRow[]> {
  const body = projectionSql(projection);
  const rows = await lease.all(
    sql`SELECT o.id, ${raw(objectColumns)}, ${body ?? raw(`'{}'`)}
      FROM object AS o${raw(body === null ? '' : ' CROSS JOIN body AS b ON b.id = o.id')}
      WHERE ${isInRange(kind, range)}
      ORDER BY o.namespace, o.name LIMIT ${BigInt(most ?? -1)}`,
  );
  return rows.map((row) => objectRow(kind.key, row));
}

function isInRange({ key, kindId, isWhole }: KindView, { cluster, namespace, after }: KindRange): Fragment {
  if (!isWhole) throw new PortolanError('FORBIDDEN', `Not every object of ${key} may be read here.`);
  const inNamespace = namespace === null ? raw('1') : sql`o.namespace = ${namespace}`;
  const isAfter = after === null ? raw('1') : sql`(o.namespace, o.name) > (${after.namespace}, ${after.name})`;
  return sql`o.kind = ${BigInt(kindId)} AND o.cluster = ${cluster} AND ${inNamespace} AND ${isAfter}
        AND ${isPublishedOfAny(raw('o'))}`;
}

/** The version of an object in the tables. */
export interface StoredVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * The versions of these objects, in the same order; null for one that is not there. No scope is checked: the caller of this
 * function has the objects from the API server.
 */
export async function storedVersions(
  lease: Lease,
  identities: readonly Identity[],
): Promise<readonly (StoredVersion | null)[]> {
  const wanted = identities.map(({ cluster, key, namespace, name }) => [key, cluster, namespace ?? '', name]);
  const rows = await lease.all(
    sql`SELECT j.key, o.uid, o.rv FROM json_each(${JSON.stringify(wanted)}) AS j
      CROSS JOIN kind AS k ON k.key = j.value ->> 0
      CROSS JOIN object AS o ON o.kind = k.id AND o.cluster = j.value ->> 1 AND o.namespace = j.value ->> 2
        AND o.name = j.value ->> 3
      WHERE ${isPublishedOfAny(raw('o'))}`,
  );
  const found = new Array<StoredVersion | null>(identities.length).fill(null);
  for (const [at, uid, rv] of rows) found[Number(at)] = { uid: String(uid), resourceVersion: String(rv) };
  return found;
}
