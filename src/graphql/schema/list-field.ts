/**
 * The root field of a kind's list: arguments and selection become a ListPlan, the plan becomes a connection.
 */

import {
  GraphQLBoolean,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
  responsePathAsArray,
} from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import { defaultPageSize, mostSkipped } from '../../query/plan/check-page.ts';
import type { Filter } from '../../query/plan/filter.ts';
import { type PageAndOrder, readList } from '../../reads/lists/list.ts';
import type { ListConnection } from '../../reads/lists/list-connection.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import { facts } from '../selection/field-facts.ts';
import { costOfNodes, projectionOfNodes } from '../selection/list-selection.ts';
import { inputList } from '../types/type-wrappers.ts';
import type { FieldConfig } from './shape-types.ts';

/** The arguments of a list field. */
export type ListArguments = PageAndOrder & { readonly filter?: unknown; readonly orEmpty?: boolean | null };

/** Arguments that every list takes besides its filter. */
export function pageArguments(
  order: GraphQLNamedType,
): Record<string, { type: GraphQLInputType; description?: string; defaultValue?: unknown }> {
  return {
    orderBy: { type: inputList(order) },
    first: {
      type: GraphQLInt,
      description: `Objects on a page, going forward; ${defaultPageSize} when neither first nor last is given.`,
    },
    after: { type: GraphQLString },
    last: { type: GraphQLInt, description: 'Objects on a page, going backward. The order of the page is the same.' },
    before: { type: GraphQLString },
    offset: {
      type: GraphQLInt,
      description: `Objects to skip, for pages with numbers; goes with first. At most ${mostSkipped}, and each counts as a value.`,
    },
    orEmpty: {
      type: GraphQLBoolean,
      defaultValue: false,
      description: 'Where you may list nothing: an empty list, and not FORBIDDEN.',
    },
  };
}

/** `pods(filter:, orderBy:, first:, after:, last:, before:)`. */
export function listRoot(
  kind: CatalogKind,
  connection: GraphQLObjectType,
  filter: GraphQLInputObjectType,
  shared: { readonly type: (name: string) => GraphQLNamedType },
): FieldConfig {
  return {
    type: connection,
    description: `All ${kind.resource.kind} objects.`,
    args: { filter: { type: filter }, ...pageArguments(shared.type('ObjectOrder')) },
    extensions: facts({ plain: { is: 'list', kind, filter }, cost: { repeats: 'page' } }),
    resolve: (_root, args, { portolan }, info) =>
      list(
        portolan,
        [kind],
        filterFrom(filter, args['filter'], filterContext(portolan, [kind])),
        args as ListArguments,
        info,
      ),
  };
}

/** A connection over one or several kinds, as src/reads/lists/list.ts reads it. */
export function list(
  operation: Operation,
  kinds: readonly CatalogKind[],
  filter: Filter,
  args: ListArguments,
  info: GraphQLResolveInfo,
  optional: ReadonlySet<string> = new Set(),
): Promise<ListConnection> {
  const cost = costOfNodes(info, operation.source.limits.maxPageSize);
  const selection = { projection: projectionOfNodes(info), cost };
  const { orEmpty, ...page } = args;
  return readList(operation, kinds, { ...page, filter }, selection, {
    optional,
    orEmpty: orEmpty === true,
    path: responsePathAsArray(info.path),
  });
}
