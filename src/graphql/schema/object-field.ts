/** The root field that reads one object of a kind by name. */

import { GraphQLNonNull, type GraphQLObjectType, GraphQLString, getNamedType } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { readObject } from '../../reads/lists/objects-by-identity.ts';
import { projectionOfObject } from '../selection/list-selection.ts';
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
