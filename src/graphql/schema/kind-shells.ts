/** The types of kinds before their fields are made, by which kinds refer to each other. */
import type { GraphQLFieldConfigMap, GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import type { OperationContext } from '../generation/generation.ts';

export type ObjectFields = GraphQLFieldConfigMap<ObjectSource, OperationContext>;

/** The types of a kind that other kinds may refer to. */
export interface KindShells {
  readonly kind: CatalogKind;
  readonly object: GraphQLObjectType;
  readonly connection: GraphQLObjectType;
  readonly edge: GraphQLObjectType;
  readonly filter: GraphQLInputObjectType;
  /** Conditions on this kind at the end of a to-one relation, and of a to-many relation. */
  readonly filterOne: GraphQLInputObjectType;
  readonly filterList: GraphQLInputObjectType;
  readonly change: GraphQLObjectType;
  readonly changes: GraphQLObjectType;
}

/** The shells of another kind by its key; undefined for a kind that is not served. */
export type ShellsOf = (key: string) => KindShells | undefined;

/**
 * Fields of a kind's type that lead to other kinds. A data field of the kind with the same name takes precedence.
 * @param type a type of the static schema by name.
 * @param objectFilter conditions on objects of any kind.
 */
export type RelationFields = (
  kind: CatalogKind,
  shellsOf: ShellsOf,
  type: (name: string) => GraphQLNamedType,
  objectFilter: GraphQLInputObjectType,
) => ObjectFields;
