/**
 * Owners and owned objects, for a batch of objects in one statement.
 *
 *   ownedBy([{ cluster: east, uid: u-deployment }])   ->   the page of its ReplicaSets
 *   ownersOf([<id of a Pod>])                         ->   its ReplicaSet
 *
 * An owner reference contains the owner's uid. Owner and owned object must be in one cluster. Only rows that count are returned
 * (src/query/sql/counts.ts). A page is in identity order (group, plural, namespace, name), so a cursor is an identity.
 */

import { PortolanError } from '../../base/errors.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import type { Row } from '../../store/types/statement.ts';
import { decodeCursor } from '../plan/cursor.ts';
import { digest } from '../plan/fingerprint.ts';
import type { ListResult, ListRow, Projection } from '../plan/plan.ts';
import type { RelatedObjects } from '../read/aggregate-kinds.ts';
import { listRow } from '../read/list.ts';
import { objectRow } from '../read/object-rows.ts';
import { countsOfAny } from '../sql/counts.ts';
import { objectColumns, projectionSql } from '../sql/projection.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';
import type { WholeList, WholeOrder } from './whole-list.ts';

/** An owner as in the owner references of its objects. */
export interface OwnerReference {
  readonly cluster: string;
  readonly uid: string;
}

export interface OwnedOptions {
  /** resourceKeys of the requested kinds; null for all. */
  readonly keys: readonly string[] | null;
  /** Page size for each owner. */
  readonly limit: number;
  /** A cursor of a page with the same `keys`. It applies to each owner. */
  readonly after: string | null;
}

const tick = tickAt('o.id', 256);

/**
 * The objects that each of `owners` owns, in the order of `owners`.
 * @throws PortolanError BAD_USER_INPUT for a cursor that is malformed or of other kinds.
 */
export async function ownedBy(
  lease: Lease,
  view: View,
  owners: readonly OwnerReference[],
  { keys, limit, after }: OwnedOptions,
  projection: Projection,
): Promise<ListResult[]> {
  const fingerprint = digest({ owned: keys === null ? null : [...keys].sort() });
  const conditions = [tick, countsOfAny(view), ofKinds(view, keys)];
  if (after !== null) {
    const { identity } = decodeCursor(after, fingerprint);
    const kind = view.get(identity.key);
    if (kind === undefined) {
      throw new PortolanError(
        'BAD_USER_INPUT',
        `The cursor names the kind ${identity.key}, which is not served any more; start again.`,
      );
    }
    conditions.push(sql`(k.grp, k.plural, o.namespace, o.name) > ((SELECT grp FROM kind WHERE id = ${BigInt(kind.kindId)}),
      (SELECT plural FROM kind WHERE id = ${BigInt(kind.kindId)}), ${identity.namespace ?? ''}, ${identity.name})`);
  }
  const rows = await lease.all(objectsOf(withKind(ownedFrom(owners)), all(conditions), projection, limit + 1));
  return pages(rows, owners.length, fingerprint).map((found) => ({
    rows: found.slice(0, limit),
    hasNextPage: found.length > limit,
    hasPreviousPage: after !== null,
  }));
}

/** The number of objects that each of `owners` owns, at most `limit` each. */
export async function countOwned(
  lease: Lease,
  view: View,
  owners: readonly OwnerReference[],
  { keys, limit }: { readonly keys: readonly string[] | null; readonly limit: number | null },
): Promise<number[]> {
  const rows = await lease.all(
    sql`SELECT j.key, count(*) FROM ${ownedFrom(owners)}
      WHERE ${all([tick, countsOfAny(view), ofKinds(view, keys)])} GROUP BY j.key`,
  );
  const counts = new Array<number>(owners.length).fill(0);
  for (const [place, count] of rows) counts[Number(place)] = Math.min(Number(count), limit ?? Number.POSITIVE_INFINITY);
  return counts;
}

/** The ids of the objects that each of `owners` owns, for each kind in the order of the identity. Reads no bodies. */
export async function ownedObjects(
  lease: Lease,
  view: View,
  owners: readonly OwnerReference[],
  keys: readonly string[] | null,
): Promise<readonly RelatedObjects[]> {
  return idsByKind(lease, withKind(ownedFrom(owners)), all([tick, countsOfAny(view), ofKinds(view, keys)]));
}

/** The ids of the owners of each of `objectIds`, for each kind in the order of the identity. Reads no bodies. */
export async function ownerObjects(
  lease: Lease,
  view: View,
  objectIds: readonly number[],
): Promise<readonly RelatedObjects[]> {
  view.dependOnAnyKind();
  return idsByKind(lease, ownersFrom(objectIds), countsOfAny(view));
}

async function idsByKind(lease: Lease, from: Fragment, where: Fragment): Promise<readonly RelatedObjects[]> {
  const rows = await lease.all(
    sql`SELECT k.key, count(*), json_group_array(json_array(j.key, o.id) ORDER BY j.key, o.namespace, o.name)
      FROM ${from} WHERE ${where} GROUP BY k.key`,
  );
  return rows.map(([key, count, pairs]) => ({ key: String(key), count: Number(count), pairs: String(pairs) }));
}

/** The owners of each of `objectIds`, in the order of `objectIds`. Owners that are not in the store are left out. */
export async function ownersOf(
  lease: Lease,
  view: View,
  objectIds: readonly number[],
  projection: Projection,
): Promise<WholeList[]> {
  view.dependOnAnyKind();
  const rows = await lease.all(objectsOf(ownersFrom(objectIds), countsOfAny(view), projection, null));
  return pages(rows, objectIds.length, ownersOrder.fingerprint).map((found) => ({
    rows: found,
    keys: [],
    hasNextPage: false,
    hasPreviousPage: false,
  }));
}

/** The list of the owners of an object. */
export const ownersOrder: WholeOrder = { orderBy: [], fingerprint: digest({ owners: true }) };

function withKind(from: Fragment): Fragment {
  return sql`${from} CROSS JOIN kind AS k ON k.id = o.kind`;
}

function ownedFrom(owners: readonly OwnerReference[]): Fragment {
  const list = JSON.stringify(owners.map(({ cluster, uid }) => [cluster, uid]));
  return sql`json_each(${list}) AS j CROSS JOIN edge AS e ON e.owner_uid = j.value ->> 1
    CROSS JOIN object AS o ON o.id = e.id AND +o.cluster = j.value ->> 0`;
}

function ownersFrom(objectIds: readonly number[]): Fragment {
  return withKind(sql`json_each(${JSON.stringify(objectIds)}) AS j CROSS JOIN object AS owned ON owned.id = j.value
    CROSS JOIN edge AS e ON e.id = owned.id
    CROSS JOIN object_by_uid AS u ON u.uid = e.owner_uid
    CROSS JOIN object AS o ON o.id = u.id AND +o.cluster = owned.cluster`);
}

function ofKinds(view: View, keys: readonly string[] | null): Fragment {
  if (keys === null) {
    view.dependOnAnyKind();
    return raw('1');
  }
  const ids = keys.flatMap((key) => view.get(key)?.kindId ?? []);
  return isIn(raw('e.kind'), ids.map(BigInt));
}

/** Reads the first `limit` objects of each place, with their projected bodies. */
function objectsOf(from: Fragment, where: Fragment, projection: Projection, limit: number | null): Fragment {
  const body = projectionSql(projection);
  const related = sql`SELECT j.key AS place, o.id AS id, k.key AS kind_key,
      row_number() OVER (PARTITION BY j.key ORDER BY k.grp, k.plural, o.namespace, o.name) AS nth
    FROM ${from} WHERE ${where}`;
  return sql`SELECT f.place, f.kind_key, o.id, ${raw(objectColumns)}, ${body ?? raw(`'{}'`)}
    FROM (${related}) AS f CROSS JOIN object AS o ON o.id = f.id${raw(
      body === null ? '' : ' CROSS JOIN body AS b ON b.id = f.id',
    )}
    ${limit === null ? raw('') : sql`WHERE f.nth <= ${BigInt(limit)}`} ORDER BY f.place, f.nth`;
}

function pages(rows: readonly Row[], count: number, fingerprint: string): ListRow[][] {
  const found = Array.from({ length: count }, (): ListRow[] => []);
  for (const [place, key, ...row] of rows) {
    found[Number(place)]?.push(listRow(objectRow(String(key), row), [], fingerprint));
  }
  return found;
}
