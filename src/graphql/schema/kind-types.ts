/**
 * The types and root fields of one kind: object, connection, edge, filter, changes, and its three roots.
 *
 * They are made in two phases. `makeShells` makes the types of a kind without their fields, so that kinds can refer to each other
 * in any order. Fields are made at their first use. The builder of a generation uses them kind by kind.
 */

import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { must } from '../../base/must.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import { fieldName } from '../../catalog/names/field-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { shapeOf } from '../../catalog/tree/field-tree.ts';
import type { ConnectionSource, EdgeSource } from '../../reads/lists/list-connection.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { recordsKey } from '../../sets/record/set-record.ts';
import type { FilterTypes } from '../filter/filter-types.ts';
import type { OperationContext } from '../generation/generation.ts';
import { countedWhole } from '../selection/answer-size.ts';
import { recordFields } from '../sets/set-fields.ts';
import type { DefinitionTypes } from '../types/definition-types.ts';
import type { EnumTypes } from '../types/enum-types.ts';
import type { OperationTypeName } from '../types/root-types.ts';
import { listOf, nonNull } from '../types/type-wrappers.ts';
import { changeFields, changesFields, changesRoot } from './changes-field.ts';
import type { KindShells, ObjectFields, RelationFields, ShellsOf } from './kind-shells.ts';
import { listRoot } from './list-field.ts';
import { oneRoot } from './object-field.ts';
import { originFields } from './origin-fields.ts';
import { type AnyFilters, anyFilters, relatedFilters, relationFilters } from './relation-filters.ts';
import { isSecretData, secretDataField } from './secret-data-field.ts';
import type { FieldConfig, ShapeTypes } from './shape-types.ts';

type ConnectionFields = GraphQLFieldConfigMap<ConnectionSource, OperationContext>;

/** The shared inputs for making a kind's types. */
export interface Shared {
  readonly filters: FilterTypes;
  /** Conditions on related objects of any kind. */
  readonly anyFilters: AnyFilters;
  /** A type of the static schema by name. */
  readonly type: (name: string) => GraphQLNamedType;
  readonly object: GraphQLInterfaceType;
  /** The fields of the interface of all objects. */
  readonly objectFields: ObjectFields;
  /** The field `via` of an edge. */
  readonly via: GraphQLFieldConfig<EdgeSource, OperationContext>;
  /** The fields of a connection that do not mention its kind. */
  readonly connectionFields: ConnectionFields;
  readonly relations: RelationFields;
  /** The fields that only records of sets have. */
  readonly recordFields: ObjectFields;
}

/** The inputs for making the types of one kind. */
interface KindInputs {
  readonly shared: Shared;
  readonly shapes: ShapeTypes;
  readonly definitions: DefinitionTypes;
  readonly enums: EnumTypes;
}

/** The root fields of a kind, by operation type. */
export type KindRoots = Readonly<Record<OperationTypeName, Readonly<Record<string, FieldConfig>>>>;

/** Data fields that are also fields of the interface. */
const common = new Set(['apiVersion', 'kind', 'metadata']);

/** The parts of the static schema that the types of kinds use. */
export function sharedParts(
  type: (name: string) => GraphQLNamedType,
  filters: FilterTypes,
  relations: RelationFields,
): Shared {
  const object = type('KubernetesObject') as GraphQLInterfaceType;
  const {
    edges: _edges,
    nodes: _nodes,
    ...connectionFields
  } = configOf<ConnectionFields>(type('KubernetesObjectConnection') as GraphQLObjectType);
  const { via } = configOf<Record<string, Shared['via']>>(type('KubernetesObjectEdge') as GraphQLObjectType);
  return {
    filters,
    anyFilters: anyFilters(filters.object, filters.number),
    type,
    object,
    via: must(via, 'an edge has via'),
    objectFields: configOf<ObjectFields>(object),
    connectionFields,
    relations,
    recordFields: recordFields(type) as ObjectFields,
  };
}

function configOf<F>(type: GraphQLObjectType | GraphQLInterfaceType): F {
  return type.toConfig().fields as F;
}

/** The types of a kind. @throws for names that GraphQL does not accept. Other errors of the kind are thrown when its fields are made. */
export function makeShells(
  kind: CatalogKind,
  { shared, shapes, definitions, enums }: KindInputs,
  shellsOf: ShellsOf,
): KindShells {
  const { names, resource } = kind;
  const object = new GraphQLObjectType<ObjectSource, OperationContext>({
    name: names.type,
    description: kind.description ?? `The kind ${resource.kind} of ${apiVersionOf(resource)}.`,
    interfaces: [shared.object],
    fields: () => {
      const ofSets = kind.key === recordsKey ? shared.recordFields : {};
      const own = { ...shared.objectFields, ...dataFields(kind, shapes), ...ofSets };
      if (isAbstract(kind)) return { ...own, ...originFields(kind, shellsOf, shared.object, shared.type) };
      return { ...own, ...without(shared.relations(kind, shellsOf, shared.type, shared.filters.object), own) };
    },
  });
  const edge = new GraphQLObjectType<EdgeSource, OperationContext>({
    name: names.edge,
    description: `One of the ${resource.kind} objects of a list, with its cursor.`,
    fields: () => ({
      cursor: {
        type: nonNull(GraphQLString),
        resolve: (edge, _args, context) => countedWhole(context, edge.cursor),
      },
      node: { type: nonNull(object) },
      via: shared.via,
    }),
  });
  const connection = new GraphQLObjectType<ConnectionSource, OperationContext>({
    name: names.connection,
    description: `A list of ${resource.kind} objects.`,
    fields: () => ({
      edges: { type: nonNull(listOf(nonNull(edge))), resolve: (source) => source.edges() },
      nodes: {
        type: nonNull(listOf(nonNull(object))),
        resolve: async (source) => (await source.edges()).map(({ node }) => node),
      },
      ...shared.connectionFields,
    }),
  });
  const change: GraphQLObjectType = new GraphQLObjectType({
    name: names.change,
    description: `A change of one of the ${resource.kind} objects.`,
    fields: () => changeFields(object as GraphQLObjectType, shared),
  });
  const changes: GraphQLObjectType = new GraphQLObjectType({
    name: names.changes,
    description: `A message of the subscription \`${names.subscription}\`.`,
    fields: () => changesFields(change, shared),
  });
  const filter = shared.filters.ofKind(kind, { definitions, enums }, () =>
    isAbstract(kind) ? {} : relationFilters(kind, shellsOf, shared.anyFilters),
  );
  return {
    kind,
    object: object as GraphQLObjectType,
    connection: connection as GraphQLObjectType,
    edge: edge as GraphQLObjectType,
    filter,
    ...relatedFilters(kind, filter, shared.filters.number),
    change,
    changes,
  };
}

/** The root fields of a kind. */
export function rootsOf({ kind, object, connection, filter, changes }: KindShells, shared: Shared): KindRoots {
  const { names } = kind;
  const list = listRoot(kind, connection, filter, shared);
  return {
    query: {
      [names.list]: list,
      // The records of sets are the sets.
      ...(kind.key === recordsKey ? { sets: list } : {}),
      [names.one]: oneRoot(kind, object),
    },
    mutation: {},
    subscription: { [names.subscription]: changesRoot(kind, changes, object, filter) },
  };
}

function dataFields(kind: CatalogKind, shapes: ShapeTypes): ObjectFields {
  const fields: ObjectFields = {};
  const { tree } = kind;
  for (const field of shapeOf(tree, tree.root).fields) {
    if (common.has(field.name)) continue;
    const config = shapes.field(field);
    if (isSecretData(kind, field)) {
      fields[fieldName(field.name, 'root')] = secretDataField(config, field);
      continue;
    }
    const resolve = must(config.resolve, 'a data field has a resolver');
    if (isAbstract(kind) && field.name === 'cluster') {
      // The cluster in the identity of such an object names the member too.
      fields['cluster'] = {
        ...config,
        type: nonNull(GraphQLString),
        resolve: (source, args, context, info) => resolve(source.body, args, context, info),
      };
      continue;
    }
    fields[fieldName(field.name, 'root')] = {
      ...config,
      resolve: (source, args, context, info) => resolve(source.body, args, context, info),
    };
  }
  return fields;
}

function without(fields: ObjectFields, taken: ObjectFields): ObjectFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(taken, name)));
}
