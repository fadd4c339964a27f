/**
 * The root field of a kind's list: arguments and selection become a ListPlan, the plan becomes a connection.
 */

import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ResponsePath } from '../../operation/operation-trace.ts';
import { checkPage, defaultPageSize, mostSkipped } from '../../query/plan/check-page.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { ListPlan } from '../../query/plan/plan.ts';
import { checkCursor } from '../../query/read/list.ts';
import { ListConnection } from '../connection/connection-source.ts';
import { type OrderArgument, orderTerms } from '../filter/order-terms.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import type { KindOf } from '../filter/related-path.ts';
import { facts } from '../selection/field-facts.ts';
import { costOfNodes, projectionOfNodes } from '../selection/list-selection.ts';
import { inputList } from '../types/type-wrappers.ts';
import type { FieldConfig } from './shape-types.ts';

export interface ListArguments {
  readonly filter?: unknown;
  readonly orderBy?: readonly OrderArgument[] | null;
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly offset?: number | null;
}

/** Arguments that every list takes besides its filter. */
export function pageArguments(
  order: GraphQLNamedType,
): Record<string, { type: GraphQLInputType; description?: string }> {
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

/**
 * A connection over one or several kinds. Rejected when one of them has not been synced. The kinds with a key in `optional` may be
 * missing if at least one of them is synced.
 */
export function list(
  operation: Operation,
  kinds: readonly CatalogKind[],
  filter: Filter,
  args: ListArguments,
  info: GraphQLResolveInfo,
  optional: ReadonlySet<string> = new Set(),
): Promise<ListConnection> {
  const { maxPageSize } = operation.source.limits;
  const plan = {
    ...listPlan(kinds, filter, args, { maxPageSize, kindOf: operation.generation.kind }),
    projection: projectionOfNodes(info),
  };
  checkCursor(plan);
  const settings = { objectCost: costOfNodes(info, maxPageSize), optional, path: pathOf(info) };
  return new ListConnection(operation, plan, kinds, settings).ready();
}

/** The plan of a list without its projection. @throws PortolanError BAD_USER_INPUT for arguments that cannot be used. */
export function listPlan(
  kinds: readonly CatalogKind[],
  filter: Filter,
  args: ListArguments,
  { maxPageSize, kindOf }: { readonly maxPageSize: number; readonly kindOf: KindOf },
): Omit<ListPlan, 'projection'> {
  return {
    kinds: kinds.map(({ key, tree }) => ({ key, tree })),
    filter,
    orderBy: orderTerms(kinds, filter, args.orderBy ?? [], kindOf),
    page: checkPage(args, { maximum: maxPageSize }),
  };
}

/** The response path of a field. */
function pathOf({ path }: GraphQLResolveInfo): ResponsePath {
  const keys: (string | number)[] = [];
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev) keys.unshift(at.key);
  return keys;
}
