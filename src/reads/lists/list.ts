/**
 * Lists of objects of one or several kinds.
 *
 *   kinds, filter, order, page -> ListPlan -> ListConnection (lazy) -> page, counts, cursors, aggregates
 */
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { ListPlan } from '../../query/plan/plan.ts';
import { checkCursor } from '../../query/read/list.ts';
import { type OrderArgument, orderTerms } from '../paths/order-terms.ts';
import type { KindOf } from '../paths/related-path.ts';
import { ListConnection, type ListSettings } from './list-connection.ts';
import type { ObjectSelection } from './object-selection.ts';

/** The page of a list, and its order. Absent and null mean the same. */
export interface PageAndOrder {
  readonly orderBy?: readonly OrderArgument[] | null;
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly offset?: number | null;
}

/**
 * A list of the objects that the caller may see. It is ready to be read.
 * @throws PortolanError BAD_USER_INPUT for an argument, FORBIDDEN, CACHE_NOT_READY for a kind that is not synced
 */
export function readList(
  operation: Operation,
  kinds: readonly CatalogKind[],
  { filter, ...page }: PageAndOrder & { readonly filter: Filter },
  { projection, cost }: Omit<ObjectSelection, 'key'>,
  settings: Omit<ListSettings, 'objectCost'> = {},
): Promise<ListConnection> {
  const { maxPageSize } = operation.source.limits;
  const plan = { ...listPlan(kinds, filter, page, { maxPageSize, kindOf: operation.generation.kind }), projection };
  checkCursor(plan);
  return new ListConnection(operation, plan, kinds, { ...settings, objectCost: cost }).ready();
}

/** The plan of a list without its projection. @throws PortolanError BAD_USER_INPUT for arguments that cannot be used. */
export function listPlan(
  kinds: readonly CatalogKind[],
  filter: Filter,
  args: PageAndOrder,
  { maxPageSize, kindOf }: { readonly maxPageSize: number; readonly kindOf: KindOf },
): Omit<ListPlan, 'projection'> {
  return {
    kinds: kinds.map(({ key, tree }) => ({ key, tree })),
    filter,
    orderBy: orderTerms(kinds, filter, args.orderBy ?? [], kindOf),
    page: checkPage(args, { maximum: maxPageSize }),
  };
}
