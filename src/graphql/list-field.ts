/**
 * The root field of a kind's list: arguments and selection become a ListPlan, the plan becomes a connection.
 */
import {
  type FragmentDefinitionNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql';
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/catalog.ts';
import { parsePath } from '../catalog/path.ts';
import { resolvePath } from '../catalog/resolve-path.ts';
import { checkPage } from '../query/check-page.ts';
import type { Filter } from '../query/filter.ts';
import type { ListPlan, OrderTerm, Projection } from '../query/plan.ts';
import { ListConnection } from './connection-source.ts';
import { filterFrom } from './filter-input.ts';
import { projectionOf, selectionsAt } from './needs.ts';
import type { Operation } from './operation.ts';
import type { FieldConfig } from './shape-types.ts';
import { inputList } from './wrap.ts';

export interface OrderArgument {
  readonly path: string;
  readonly direction?: 'ASC' | 'DESC' | null;
  readonly nulls?: 'FIRST' | 'LAST' | null;
}

export interface ListArguments {
  readonly filter?: unknown;
  readonly orderBy?: readonly OrderArgument[] | null;
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
}

/** Arguments that every list takes besides its filter. */
export function pageArguments(
  order: GraphQLNamedType,
): Record<string, { type: GraphQLInputType; description?: string }> {
  return {
    orderBy: { type: inputList(order) },
    first: {
      type: GraphQLInt,
      description: 'Objects on a page, going forward; 50 when neither first nor last is given.',
    },
    after: { type: GraphQLString },
    last: { type: GraphQLInt, description: 'Objects on a page, going backward. The order of the page is the same.' },
    before: { type: GraphQLString },
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
    args: { filter: { type: filter }, ...pageArguments(shared.type('Order')) },
    resolve: (_root, args, { portolan }, info) =>
      list(portolan, [kind], filterFrom(filter, args['filter']), args as ListArguments, projectionOfNodes(info)),
  };
}

/** A connection over one or several kinds, refused when nothing of it has been synced. */
export function list(
  operation: Operation,
  kinds: readonly CatalogKind[],
  filter: Filter,
  args: ListArguments,
  projection: Projection,
): Promise<ListConnection> {
  const plan: ListPlan = {
    kinds: kinds.map(({ key, tree }) => ({ key, tree })),
    filter,
    orderBy: (args.orderBy ?? []).map((term) => orderTerm(kinds, term)),
    page: checkPage(args, { maximum: operation.source.limits.maxPageSize }),
    projection,
  };
  return new ListConnection(operation, plan, kinds).ready();
}

function orderTerm(kinds: readonly CatalogKind[], term: OrderArgument): OrderTerm {
  let path = parsePath(term.path);
  const types = kinds.map((kind) => {
    const { type, many, path: canonical } = resolvePath(kind.tree, path);
    path = canonical;
    if (many) {
      throw new PortolanError(
        'BAD_USER_INPUT',
        `An order needs one value for each object; ${path.text} goes through a list.`,
      );
    }
    if (type.kind !== 'leaf') {
      throw new PortolanError(
        'BAD_USER_INPUT',
        `An order needs a value that can be compared; ${path.text} is a ${type.kind}.`,
      );
    }
    return type.type;
  });
  const [type] = types;
  if (type === undefined || types.some((other) => other !== type)) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${path.text} has different types in these kinds; order by something they share.`,
    );
  }
  return { path, type, direction: term.direction ?? 'ASC', nulls: term.nulls ?? 'LAST' };
}

/** What the nodes of the connection resolved by `info` need of their bodies. */
export function projectionOfNodes(info: GraphQLResolveInfo): Projection {
  const fragments = info.fragments as Readonly<Record<string, FragmentDefinitionNode>>;
  const connection = info.fieldNodes.map((node) => node.selectionSet);
  const sets = [
    ...selectionsAt(fragments, connection, ['nodes']),
    ...selectionsAt(fragments, connection, ['edges', 'node']),
  ];
  return projectionOf({ schema: info.schema, fragments }, sets, nodeType(info));
}

/** The named type of the connection's nodes. */
function nodeType(info: GraphQLResolveInfo): GraphQLNamedType {
  let type: unknown = info.returnType;
  while (typeof type === 'object' && type !== null && 'ofType' in type) type = type.ofType;
  const nodes = (type as GraphQLObjectType).getFields()['nodes']?.type as unknown;
  let node = nodes;
  while (typeof node === 'object' && node !== null && 'ofType' in node) node = node.ofType;
  return node as GraphQLNamedType;
}
