/** The root field that reads one object of a kind by name, and the reads by identity that it shares with `object(id)`. */

import {
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
  getNamedType,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import { refusalOfObject } from '../../operation/require-visible.ts';
import type { Identity } from '../../query/plan/filter.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { notReady, readiness } from '../../query/read/readiness.ts';
import type { View } from '../../query/sql/view.ts';
import { ObjectSource } from '../../reads/lists/object-source.ts';
import type { Lease } from '../../store/types/lease.ts';
import { projectionOf } from '../selection/projection.ts';
import { fragmentsOf } from '../selection/walk.ts';
import type { FieldConfig } from './shape-types.ts';

/** `pod(namespace:, name:, cluster:)`; null when there is no such object. */
export function oneRoot(kind: CatalogKind, object: GraphQLObjectType): FieldConfig {
  const text = new GraphQLNonNull(GraphQLString);
  return {
    type: object,
    description: `One ${kind.resource.kind} by name; null when there is none.`,
    args: {
      ...(kind.resource.namespaced ? { namespace: { type: text } } : {}),
      name: { type: text },
      cluster: { type: GraphQLString, description: 'Needed when several clusters serve this kind.' },
    },
    resolve: (_root, args, { portolan }, info) => {
      const identity: Identity = {
        cluster: clusterFor(kind, args['cluster']),
        key: kind.key,
        namespace: kind.resource.namespaced ? String(args['namespace']) : null,
        name: String(args['name']),
      };
      return readObject(portolan, identity, projectionOfObject(info, getNamedType(info.returnType)));
    },
  };
}

function clusterFor(kind: CatalogKind, requested: unknown): string {
  if (typeof requested === 'string') {
    if (kind.clusters.includes(requested)) return requested;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `No cluster ${JSON.stringify(requested)} serves ${kind.key}; there is ${kind.clusters.join(', ')}.`,
    );
  }
  const [only] = kind.clusters;
  if (only !== undefined && kind.clusters.length === 1) return only;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `Several clusters serve ${kind.key}; say which one with \`cluster\`: ${kind.clusters.join(', ')}.`,
  );
}

/** The parts of the body that the selection needs. */
export function projectionOfObject(info: GraphQLResolveInfo, type: GraphQLNamedType): Projection {
  const fragments = fragmentsOf(info);
  const sets = info.fieldNodes.flatMap((node) => (node.selectionSet === undefined ? [] : [node.selectionSet]));
  return projectionOf({ schema: info.schema, fragments }, sets, type);
}

/**
 * Objects by identity, in request order. An entry is null where no object exists, or where its kind or cluster is no longer
 * served. An entry is an error where the caller may not get the object, or where its kind is not synced, so that the others still
 * succeed.
 */
export function readObjects(
  operation: Operation,
  identities: readonly Identity[],
  projection: Projection,
): Promise<readonly (ObjectSource | PortolanError | null)[]> {
  return operation.read((lease, view) => objectsIn(operation, lease, view, identities, projection));
}

/** Like readObjects, in a lease. */
export async function objectsIn(
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
