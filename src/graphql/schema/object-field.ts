/** The root field that reads one object of a kind by name. */

import { GraphQLNonNull, type GraphQLObjectType, GraphQLString, getNamedType } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import { splitMemberCluster } from '../../catalog/abstract/abstract-kind.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { unservedCluster } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { ObjectSource } from '../../reads/lists/object-source.ts';
import { readObject, readObjects } from '../../reads/lists/objects-by-identity.ts';
import { facts } from '../selection/field-facts.ts';
import { projectionOfObject } from '../selection/list-selection.ts';
import type { FieldConfig } from './shape-types.ts';

/** `pod(namespace:, name:, cluster:)`; null when there is no such object. */
export function oneRoot(kind: CatalogKind, object: GraphQLObjectType): FieldConfig {
  if (isAbstract(kind)) return oneOfMembers(kind, object);
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
        cluster: clusterFor(portolan, kind, args['cluster']),
        key: kind.key,
        namespace: kind.resource.namespaced ? String(args['namespace']) : null,
        name: String(args['name']),
      };
      return readObject(portolan, identity, projectionOfObject(info, getNamedType(info.returnType)));
    },
  };
}

/** `appInstance(namespace:, name:, member:, cluster:)`: two members may have objects of the same name. */
function oneOfMembers(kind: CatalogKind, object: GraphQLObjectType): FieldConfig {
  const text = new GraphQLNonNull(GraphQLString);
  return {
    type: object,
    description: `One ${kind.resource.kind} by name; null when there is none.`,
    // Each part is looked up.
    extensions: facts({ cost: { own: kind.clusters.length } }),
    args: {
      namespace: { type: GraphQLString, description: 'Absent for an object without a namespace.' },
      name: { type: text },
      cluster: { type: GraphQLString, description: 'Needed when objects of several clusters have the name.' },
      member: { type: GraphQLString, description: 'Needed when objects of several members have the name.' },
    },
    resolve: async (_root, { namespace, name, cluster, member }, { portolan }, info) => {
      const parts = kind.clusters.filter((part) => {
        const of = splitMemberCluster(part);
        return (cluster == null || of.cluster === cluster) && (member == null || of.member === member);
      });
      const identities = parts.map(
        (part): Identity => ({
          cluster: part,
          key: kind.key,
          namespace: typeof namespace === 'string' ? namespace : null,
          name: String(name),
        }),
      );
      const found = await readObjects(portolan, identities, projectionOfObject(info, getNamedType(info.returnType)));
      const objects = found.filter((each) => each instanceof ObjectSource);
      if (objects.length > 1) {
        const where = objects.map(({ row }) => splitMemberCluster(row.cluster));
        throw new PortolanError(
          'BAD_USER_INPUT',
          `Several objects have this name; say which with \`member\` and \`cluster\`: ${where.map((of) => `${of.member} of ${of.cluster}`).join(', ')}.`,
        );
      }
      const refused = found.find((each) => each instanceof PortolanError);
      if (objects.length === 0 && refused !== undefined && found.every((each) => each instanceof PortolanError))
        throw refused;
      return objects[0] ?? null;
    },
  };
}

/** @throws PortolanError BAD_USER_INPUT; CACHE_NOT_READY for a configured cluster that serves no kind yet. */
function clusterFor(operation: Operation, kind: CatalogKind, requested: unknown): string {
  if (typeof requested === 'string') {
    if (kind.clusters.includes(requested)) return requested;
    if (!operation.generation.clusters.has(requested) && operation.source.isConfigured(requested))
      throw unservedCluster(operation, requested);
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
