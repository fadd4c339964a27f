/** Reads of single objects by their identities. */
import { codeOf, PortolanError } from '../../base/errors.ts';
import type { Operation } from '../../operation/operation.ts';
import { refusalOfObject } from '../../operation/require-visible.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { notReady, readiness } from '../../query/read/readiness.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { ObjectSource } from './object-source.ts';

/**
 * Objects by identity, in request order. An entry is null where no object exists, or where its kind or cluster is no longer
 * served. An entry is an error where the caller may not get the object, or where its kind is not synced. So the others still
 * succeed.
 */
export async function readObjects(
  operation: Operation,
  identities: readonly Identity[],
  projection: Projection,
): Promise<readonly (ObjectSource | PortolanError | null)[]> {
  const found = new Array<ObjectSource | PortolanError | null>(identities.length).fill(null);
  const cells = Map.groupBy(identities.entries(), ([, { cluster }]) => operation.at(cluster));
  await Promise.all(
    [...cells].map(async ([cell, some]) => {
      const wanted = some.map(([, identity]) => identity);
      const objects = await cell.read((lease, view) => objectsIn(cell, lease, view, wanted, projection));
      for (const [index, [at]] of some.entries()) found[at] = objects[index] ?? null;
    }),
  );
  return found;
}

async function objectsIn(
  operation: Operation,
  lease: Lease,
  view: View,
  identities: readonly Identity[],
  projection: Projection,
): Promise<readonly (ObjectSource | PortolanError | null)[]> {
  const served = identities.map(({ key, cluster }) => {
    const kind = operation.generation.kind(key);
    return kind?.clusters.includes(cluster) === true ? kind : null;
  });
  const keys = [...new Set(served.flatMap((kind) => kind?.key ?? []))];
  if (keys.length === 0) return identities.map(() => null);
  const states = await readiness(lease, keys);
  const rows = await fetchObjects(lease, view, identities, projection);
  return identities.map(({ key, cluster }, index) => {
    const kind = served[index] ?? null;
    if (kind === null) return null;
    const identity = identities[index];
    const refusal = identity === undefined ? null : refusalOfObject(view, identity);
    if (refusal !== null) return refusal;
    const state = states.filter((state) => state.key === key && state.cluster === cluster);
    if (!state.some(({ synced }) => synced)) return notReady(state, [key], [cluster]);
    const row = rows[index] ?? null;
    return row === null ? null : new ObjectSource(operation, kind, row);
  });
}

/** Like readObjects, for one object. @throws PortolanError FORBIDDEN, CACHE_NOT_READY or RESOURCE_REFUSED */
export async function readObject(
  operation: Operation,
  identity: Identity,
  projection: Projection,
): Promise<ObjectSource | null> {
  const [found = null] = await readObjects(operation, [identity], projection);
  if (found instanceof PortolanError) throw found;
  return found;
}

/**
 * Objects by identity that the fields of an answer ask for one by one: they are read together.
 * @param place what the objects of one field have in common
 */
export function batchedObjects(
  operation: Operation,
  place: string,
  projection: Projection,
): { load(identity: Identity): Promise<ObjectSource | PortolanError | null> } {
  const loaderOf = (cell: Operation): ReturnType<typeof batchedObjects> =>
    cell.batched(
      `objects of ${place}`,
      (lease, view, identities: readonly Identity[]) => objectsIn(cell, lease, view, identities, projection),
      encodeObjectId,
    );
  return { load: (identity) => loaderOf(operation.at(identity.cluster)).load(identity) };
}

/** Null instead of the error FORBIDDEN. @throws any other error */
export function nullIfForbidden(error: unknown): null {
  if (codeOf(error) === 'FORBIDDEN') return null;
  throw error;
}
