/** Type wrappers without graphql-js's static distinction of nullable types: TypeScript cannot infer it for types made at run time. */
import {
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLNullableType,
  type GraphQLOutputType,
} from 'graphql';

/** `T!` as an output type. The type must not be non-null already. */
export function nonNull(type: GraphQLOutputType | GraphQLNamedType): GraphQLOutputType {
  return new GraphQLNonNull(type as GraphQLNullableType) as GraphQLOutputType;
}

/** `[T]` as an output type. */
export function listOf(type: GraphQLOutputType | GraphQLNamedType): GraphQLOutputType {
  return new GraphQLList(type as GraphQLNullableType) as GraphQLOutputType;
}

/** `T!` as an input type. */
export function required(type: GraphQLInputType | GraphQLNamedType): GraphQLInputType {
  return new GraphQLNonNull(type as GraphQLNullableType) as GraphQLInputType;
}

/** `[T!]` as an input type. */
export function inputList(type: GraphQLInputType | GraphQLNamedType): GraphQLInputType {
  return new GraphQLList(new GraphQLNonNull(type as GraphQLNullableType)) as GraphQLInputType;
}
