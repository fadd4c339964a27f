/** The selection of a connection's objects: its projection and its cost. */

import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  responsePathAsArray,
  type SelectionSetNode,
} from 'graphql';
import { must } from '../../base/must.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Projection } from '../../query/plan/plan.ts';
import type { ObjectSelection } from '../../reads/lists/object-selection.ts';
import { costOfObject } from './cost.ts';
import { projectionOf } from './projection.ts';
import { fragmentsOf, selectionsAt } from './walk.ts';

/** The projection of the nodes of the connection that `info` resolves. */
export function projectionOfNodes(info: GraphQLResolveInfo): Projection {
  return projectionOf({ schema: info.schema, fragments: fragmentsOf(info) }, nodeSelections(info), nodeType(info));
}

/** The selection of the nodes of a connection inside an object. The objects of the parent's page share it. */
export function selectedNodes(operation: Operation, info: GraphQLResolveInfo): ObjectSelection {
  const key = nodesKeyOf(info);
  return operation.loader(`nodes ${key}`, () => ({
    projection: projectionOfNodes(info),
    cost: costOfNodes(info, operation.source.limits.maxPageSize, 'inner'),
    key,
  }));
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

/** The cost of one item of a list inside an object, in values. */
export function costOfItem(info: ListSelection, maxPageSize: number): number {
  const { schema, variableValues } = info;
  const costed = { schema, fragments: fragmentsOf(info), variableValues, maxPageSize };
  const sets = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  return costOfObject(costed, sets, getNamedType(info.returnType), 'once');
}

/** The selection sets of the nodes, below `nodes` and below `edges { node }`. */
function nodeSelections(info: ListSelection): readonly SelectionSetNode[] {
  const connection = info.fieldNodes.map((node) => node.selectionSet);
  return [
    ...selectionsAt(fragmentsOf(info), connection, ['nodes']),
    ...selectionsAt(fragmentsOf(info), connection, ['edges', 'node']),
  ];
}

/** The named type of the connection's nodes. */
function nodeType(info: ListSelection): GraphQLNamedType {
  const connection = getNamedType(info.returnType) as GraphQLObjectType;
  return getNamedType(must(connection.getFields()['nodes'], 'a connection has nodes').type);
}

const nodeNumbers = new WeakMap<object, number>();
let lastNumber = 0;

/**
 * A short key for the document nodes that a resolved field was merged from, such as `3+7`. Objects share a loader only under the same
 * key. All nodes are part of it: a fragment's field may be merged with different neighbours in two selections. It projects different
 * paths then.
 */
export function nodesKeyOf(info: GraphQLResolveInfo): string {
  return info.fieldNodes
    .map((node) => {
      const known = nodeNumbers.get(node);
      if (known !== undefined) return known;
      lastNumber += 1;
      nodeNumbers.set(node, lastNumber);
      return lastNumber;
    })
    .join('+');
}

/** The parts of the body that the selection needs. */
export function projectionOfObject(info: GraphQLResolveInfo, type: GraphQLNamedType): Projection {
  const fragments = fragmentsOf(info);
  const sets = info.fieldNodes.flatMap((node) => (node.selectionSet === undefined ? [] : [node.selectionSet]));
  return projectionOf({ schema: info.schema, fragments }, sets, type);
}

/** The place of a field in the answer, without the indexes of lists. */
export function fieldPlace({ path }: Pick<GraphQLResolveInfo, 'path'>): string {
  return responsePathAsArray(path)
    .filter((step) => typeof step === 'string')
    .join(' ');
}
