/**
 * The types and root fields of one kind: object, connection, edge, changes, and its three roots.
 */
import {
  type GraphQLFieldConfigMap,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { must } from '../../base/must.ts';
import { fieldName } from '../../catalog/names/field-names.ts';
import { nameShapes } from '../../catalog/names/shape-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { ConnectionSource, EdgeSource } from '../connection/connection-source.ts';
import type { ObjectSource } from '../connection/object-source.ts';
import type { FilterTypes } from '../filter/filter-types.ts';
import type { OperationContext } from '../generation/generation.ts';
import { listOf, nonNull } from '../types/type-wrappers.ts';
import { changeFields, changesFields, changesRoot } from './changes-field.ts';
import { listRoot } from './list-field.ts';
import { oneRoot } from './object-field.ts';
import type { FieldConfig, ShapeTypes } from './shape-types.ts';

export interface Shared {
  readonly shapes: ShapeTypes;
  readonly filters: FilterTypes;
  /** A type of the static schema by name. */
  readonly type: (name: string) => GraphQLNamedType;
  readonly object: GraphQLInterfaceType;
}

export interface KindRoots {
  readonly object: GraphQLObjectType;
  readonly query: Record<string, FieldConfig>;
  readonly subscription: Record<string, FieldConfig>;
}

/** Data fields that the interface has under the same name. */
const common = new Set(['apiVersion', 'kind', 'metadata']);

/** Builds everything of one kind. Throws when the kind's names cannot be used; the caller leaves the kind out and says so. */
export function buildKind(kind: CatalogKind, shared: Shared): KindRoots {
  const { names, tree } = kind;
  const shapeNames = nameShapes(names.type, tree);
  const root = must(tree.shapes[tree.root], 'a tree has its root');
  const inherited = shared.object.toConfig().fields as GraphQLFieldConfigMap<ObjectSource, OperationContext>;

  const object = new GraphQLObjectType<ObjectSource, OperationContext>({
    name: names.type,
    ...(kind.description === undefined ? {} : { description: kind.description }),
    interfaces: [shared.object],
    fields: () => {
      const fields: GraphQLFieldConfigMap<ObjectSource, OperationContext> = { ...inherited };
      for (const field of root.fields) {
        if (common.has(field.name)) continue;
        const config = shared.shapes.field(tree, shapeNames, field.name, field.type, field.description);
        const resolve = must(config.resolve, 'a data field has a resolver');
        fields[fieldName(field.name, 'root')] = {
          ...config,
          resolve: (source, args, context, info) => resolve(source.body, args, context, info),
        };
      }
      return fields;
    },
  });

  const edge = new GraphQLObjectType<EdgeSource, OperationContext>({
    name: names.edge,
    fields: {
      cursor: { type: nonNull(GraphQLString) },
      node: { type: nonNull(object) },
    },
  });

  const {
    edges: _edges,
    nodes: _nodes,
    ...overAnyKind
  } = (shared.type('KubernetesObjectConnection') as GraphQLObjectType<ConnectionSource, OperationContext>).toConfig()
    .fields;
  const connection = new GraphQLObjectType<ConnectionSource, OperationContext>({
    name: names.connection,
    fields: {
      edges: { type: nonNull(listOf(nonNull(edge))), resolve: (source) => source.edges() },
      nodes: {
        type: nonNull(listOf(nonNull(object))),
        resolve: async (source) => (await source.edges()).map(({ node }) => node),
      },
      ...overAnyKind,
    },
  });

  const filter = shared.filters.ofKind(kind);
  const change = new GraphQLObjectType({ name: names.change, fields: changeFields(object, shared) });
  const changes = new GraphQLObjectType({ name: names.changes, fields: changesFields(change, shared) });

  return {
    object: object as GraphQLObjectType,
    query: {
      [names.list]: listRoot(kind, connection, filter, shared),
      [names.one]: oneRoot(kind, object),
    },
    subscription: { [names.subscription]: changesRoot(kind, changes, object, filter) },
  };
}
