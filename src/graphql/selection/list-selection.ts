/** What is selected of a connection's objects: what of their bodies is read, and what that costs. */

import type {
  FragmentDefinitionNode,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLResolveInfo,
  SelectionSetNode,
} from 'graphql';
import type { Projection } from '../../query/plan/plan.ts';
import { costOfObject } from '../document/cost.ts';
import { projectionOf, selectionsAt } from './needs.ts';

/** What the nodes of the connection resolved by `info` need of their bodies. */
export function projectionOfNodes(info: GraphQLResolveInfo): Projection {
  return projectionOf({ schema: info.schema, fragments: fragmentsOf(info) }, nodeSelections(info), nodeType(info));
}

/** What is selected of a connection. */
export type ListSelection = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'variableValues' | 'fieldNodes' | 'returnType'
>;

/** The values that are asked of each of those nodes. */
export function costOfNodes(info: ListSelection, maxPageSize: number): number {
  const { schema, variableValues } = info;
  const costed = { schema, fragments: fragmentsOf(info), variableValues, maxPageSize };
  return costOfObject(costed, nodeSelections(info), nodeType(info));
}

export function nodeSelections(info: ListSelection): readonly SelectionSetNode[] {
  const connection = info.fieldNodes.map((node) => node.selectionSet);
  return [
    ...selectionsAt(fragmentsOf(info), connection, ['nodes']),
    ...selectionsAt(fragmentsOf(info), connection, ['edges', 'node']),
  ];
}

export function fragmentsOf(info: ListSelection): Readonly<Record<string, FragmentDefinitionNode>> {
  return info.fragments as Readonly<Record<string, FragmentDefinitionNode>>;
}

/** The named type of the connection's nodes. */
export function nodeType(info: ListSelection): GraphQLNamedType {
  let type: unknown = info.returnType;
  while (typeof type === 'object' && type !== null && 'ofType' in type) type = type.ofType;
  const nodes = (type as GraphQLObjectType).getFields()['nodes']?.type as unknown;
  let node = nodes;
  while (typeof node === 'object' && node !== null && 'ofType' in node) node = node.ofType;
  return node as GraphQLNamedType;
}
