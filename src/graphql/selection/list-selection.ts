/** The selection of a connection's objects: its projection and its cost. */

import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  type SelectionSetNode,
} from 'graphql';
import { must } from '../../base/must.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { costOfObject } from './cost.ts';
import { projectionOf } from './projection.ts';
import { fragmentsOf, selectionsAt } from './walk.ts';

/** The projection of the nodes of the connection that `info` resolves. */
export function projectionOfNodes(info: GraphQLResolveInfo): Projection {
  return projectionOf({ schema: info.schema, fragments: fragmentsOf(info) }, nodeSelections(info), nodeType(info));
}

/** The parts of a resolver's `info` that describe a connection's selection. */
export type ListSelection = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'variableValues' | 'fieldNodes' | 'returnType'
>;

/**
 * The cost of one node, in values.
 *
 * @param place `inner` for a connection inside an object. Before its answer, an outer connection was charged for what the connections
 *   inside its nodes have once.
 */
export function costOfNodes(info: ListSelection, maxPageSize: number, place: 'outer' | 'inner' = 'outer'): number {
  const { schema, variableValues } = info;
  const costed = { schema, fragments: fragmentsOf(info), variableValues, maxPageSize };
  return costOfObject(costed, nodeSelections(info), nodeType(info), place === 'inner' ? 'once' : 'none');
}

/** The selection sets of the nodes, below `nodes` and below `edges { node }`. */
export function nodeSelections(info: ListSelection): readonly SelectionSetNode[] {
  const connection = info.fieldNodes.map((node) => node.selectionSet);
  return [
    ...selectionsAt(fragmentsOf(info), connection, ['nodes']),
    ...selectionsAt(fragmentsOf(info), connection, ['edges', 'node']),
  ];
}

/** The named type of the connection's nodes. */
export function nodeType(info: ListSelection): GraphQLNamedType {
  const connection = getNamedType(info.returnType) as GraphQLObjectType;
  return getNamedType(must(connection.getFields()['nodes'], 'a connection has nodes').type);
}
