/**
 * What a field is worth, in values. Some of our own fields are worth more than one: whole objects, and what counts or looks through
 * many rows. The fields of objects' data are worth one, whatever they are called: containers have `resources` and events a `count`.
 */
import { type GraphQLNamedType, type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql';

/** What a type is to the cost: ours, by its part in an answer, or a part of an object's data. */
export type CostRole = 'query' | 'connection' | 'aggregate' | 'object' | 'data';

const looksThroughAll = 100;
const counts = 50;

const weights: Readonly<Record<CostRole, ReadonlyMap<string, number>>> = {
  query: new Map([['resources', 500]]),
  connection: new Map([['totalCount', counts]]),
  aggregate: new Map([
    ['count', counts],
    ['sum', looksThroughAll],
    ['avg', looksThroughAll],
    ['min', looksThroughAll],
    ['max', looksThroughAll],
  ]),
  object: new Map([
    ['raw', 50],
    ['yaml', 50],
    ['columns', 5],
  ]),
  data: new Map(),
};

/** The values that a field of a type with this role is worth, without what is selected below it. */
export function weightOf(role: CostRole, field: string): number {
  return weights[role].get(field) ?? 1;
}

const objectInterface = 'KubernetesObject';
const aggregates: ReadonlySet<string> = new Set(['Aggregate', 'GroupAggregate']);

/** The part that a type of this schema has. */
export function roleOf(type: GraphQLNamedType, schema: GraphQLSchema): CostRole {
  if (isInterfaceType(type)) return type.name === objectInterface ? 'object' : 'data';
  if (!isObjectType(type)) return 'data';
  if (type === schema.getQueryType()) return 'query';
  if (aggregates.has(type.name)) return 'aggregate';
  if (type.getInterfaces().some(({ name }) => name === objectInterface)) return 'object';
  return type.getFields()['pageInfo'] === undefined ? 'data' : 'connection';
}
