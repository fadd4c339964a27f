/** The root field that reads one object of a kind by name, and the reading of objects by identity that `object(id)` shares. */
import {
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
  getNamedType,
} from 'graphql';
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/catalog.ts';
import { fetchObjects } from '../query/fetch.ts';
import type { Identity } from '../query/filter.ts';
import type { Projection } from '../query/plan.ts';
import { requireReady } from '../query/readiness.ts';
import { projectionOf } from './needs.ts';
import { ObjectSource } from './object-source.ts';
import type { Operation } from './operation.ts';
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
    resolve: async (_root, args, { portolan }, info) => {
      const identity: Identity = {
        cluster: clusterFor(kind, args['cluster']),
        key: kind.key,
        namespace: kind.resource.namespaced ? String(args['namespace']) : null,
        name: String(args['name']),
      };
      const [found] = await readObjects(portolan, [identity], projectionOfObject(info, getNamedType(info.returnType)));
      return found ?? null;
    },
  };
}

function clusterFor(kind: CatalogKind, asked: unknown): string {
  if (typeof asked === 'string') {
    if (kind.clusters.includes(asked)) return asked;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `No cluster ${JSON.stringify(asked)} serves ${kind.key}; there is ${kind.clusters.join(', ')}.`,
    );
  }
  const [only] = kind.clusters;
  if (only !== undefined && kind.clusters.length === 1) return only;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `Several clusters serve ${kind.key}; say which one with \`cluster\`: ${kind.clusters.join(', ')}.`,
  );
}

/** What an object selected by this field needs of its body. */
export function projectionOfObject(info: GraphQLResolveInfo, type: GraphQLNamedType): Projection {
  const fragments = info.fragments as Readonly<Record<string, FragmentDefinitionNode>>;
  const sets = info.fieldNodes.flatMap((node) => (node.selectionSet === undefined ? [] : [node.selectionSet]));
  return projectionOf({ schema: info.schema, fragments }, sets, type);
}

/** Objects by identity, in the order asked, null where there is none or its kind is unknown. CACHE_NOT_READY before the sync. */
export async function readObjects(
  operation: Operation,
  identities: readonly Identity[],
  projection: Projection,
): Promise<readonly (ObjectSource | null)[]> {
  const known = identities.filter(({ key }) => operation.generation.kind(key) !== undefined);
  const found = await operation.read(async (lease, layouts) => {
    for (const key of new Set(known.map((identity) => identity.key))) {
      const clusters = new Set(known.filter((identity) => identity.key === key).map(({ cluster }) => cluster));
      operation.noteMissing(await requireReady(lease, [key], [...clusters]));
    }
    return fetchObjects(lease, layouts, known, projection);
  });
  const sources = new Map(
    known.map((identity, index) => {
      const row = found[index];
      const kind = operation.generation.kind(identity.key);
      return [
        identity,
        row === null || row === undefined || kind === undefined ? null : new ObjectSource(operation, kind, row),
      ];
    }),
  );
  return identities.map((identity) => sources.get(identity) ?? null);
}
