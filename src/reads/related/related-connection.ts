/**
 * The connection of objects that are related to one object.
 *
 *   { services(first: 50) { nodes { pods(first: 5) { nodes { id } } } } }
 *     50 connections -> one loader, 50 ids -> one relatedPages(…) for 50 objects -> 50 pages
 *
 * Never: shares a loader between selections or arguments that differ.
 */

import { joinCellCursors } from '../../live/log/live-cursor.ts';
import { warnOfHiddenEnds } from '../../operation/hidden-ends.ts';
import type { Operation } from '../../operation/operation.ts';
import type { GroupResult } from '../../query/plan/aggregate.ts';
import { hopsOf } from '../../query/plan/hop.ts';
import type { ListResult, ListRow } from '../../query/plan/plan.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { aggregateRelated, type RelatedObjects } from '../../query/read/aggregate-kinds.ts';
import { pageOfWhole, type WholeList, type WholeOrder } from '../../query/related/whole-list.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { type Aggregated, type AggregateRequest, requireRelated } from '../aggregates/aggregated.ts';
import { type ConnectionSource, type EdgeSource, type PageInfoSource, pageOf } from '../lists/list-connection.ts';
import { changesCursorOf } from '../lists/list-scope.ts';
import { ObjectSource } from '../lists/object-source.ts';

/** One object's page and its `changesCursor`. Both come from one snapshot, even where every read has its own lease. */
export interface Related<P extends ListResult = ListResult> {
  readonly page: P;
  readonly cursor: string;
}

/**
 * The pages with their cursor of changes. In other cells the client holds nothing.
 * @param keys the kinds of the related objects; null for any
 */
export async function related<P extends ListResult>(
  lease: Lease,
  view: View,
  keys: readonly string[] | null,
  pages: Promise<readonly P[]>,
): Promise<readonly Related<P>[]> {
  const cursor = changesCursorOf(lease, view, keys);
  return (await pages).map((page) => ({ page, cursor }));
}

/** The reads of a connection, for one object. */
interface RelatedReads {
  read(): Promise<Related>;
  count(limit: number | null): Promise<number>;
  readonly aggregated: Aggregated;
  /** The paths of the references to a related object, or from it. */
  via?(related: ListRow): Promise<readonly string[]>;
}

/** What a connection reads of a list that is loaded whole. */
export function readsOfWhole(
  load: () => Promise<Related<WholeList>>,
  order: WholeOrder,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Pick<RelatedReads, 'read' | 'count'> {
  return {
    async read() {
      const { page, cursor } = await load();
      return { page: pageOfWhole(page, order, limit, after), cursor };
    },
    count: async (most) => Math.min((await load()).page.rows.length, most ?? Number.POSITIVE_INFINITY),
  };
}

/** A lazy page of related objects. Its rows are read when one of its fields is resolved. */
export class RelatedConnection implements ConnectionSource {
  readonly aggregated: Aggregated;
  readonly #operation: Operation;
  readonly #reads: RelatedReads;
  readonly #objectCost: number;
  #charged = false;

  /** @param objectCost values of one object */
  constructor(operation: Operation, objectCost: number, reads: RelatedReads) {
    this.#operation = operation;
    this.#objectCost = objectCost;
    this.#reads = reads;
    this.aggregated = reads.aggregated;
  }

  /** The page is charged here, once, because several parents may share the objects that were read. */
  async edges(): Promise<readonly EdgeSource[]> {
    const { page } = await this.#reads.read();
    if (!this.#charged) {
      this.#charged = true;
      this.#operation.cost.charge(page.rows.length * this.#objectCost);
    }
    return page.rows.flatMap((row: ListRow) => {
      const kind = this.#operation.generation.kind(row.key);
      if (kind === undefined) return [];
      const { via } = this.#reads;
      const edge = { cursor: row.cursor, node: new ObjectSource(this.#operation, kind, row) };
      return via === undefined ? edge : { ...edge, via: () => via(row) };
    });
  }

  async pageInfo(): Promise<PageInfoSource> {
    const { page } = await this.#reads.read();
    return pageOf(page, page.rows);
  }

  totalCount(limit: number | null): Promise<number> {
    return this.#reads.count(limit);
  }

  async changesCursor(): Promise<string> {
    const { cursor } = await this.#reads.read();
    const { cell } = this.#operation.source;
    if (cell === undefined) return cursor;
    return joinCellCursors(Array.from({ length: cell.count }, (_, index) => (index === cell.index ? cursor : '')));
  }
}

/**
 * The groups of each of `count` objects, in their order. Every entry is OverBudget when the statement is over budget.
 * @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED for kinds that the request reads through relations
 */
export async function groupsOf(
  operation: Operation,
  lease: Lease,
  view: View,
  related: readonly RelatedObjects[],
  request: AggregateRequest,
  count: number,
): Promise<readonly (readonly GroupResult[] | OverBudget)[]> {
  const hops = [...request.by, ...request.measured].flatMap(hopsOf);
  await requireRelated(operation, [{ operation, lease, view }], hops);
  warnOfHiddenEnds(operation, view, { hops }, []);
  const found = await aggregateRelated(lease, view, related, request, operation.scans, count);
  return found instanceof OverBudget ? Array.from({ length: count }, () => found) : found;
}

/** The groups of the objects of a page that is the whole list. */
export async function groupsOfWhole(
  operation: Operation,
  { rows }: ListResult,
  request: AggregateRequest,
): Promise<readonly GroupResult[] | OverBudget> {
  const related = [...Map.groupBy(rows, ({ key }) => key)].map(([key, some]) => ({
    key,
    count: some.length,
    pairs: JSON.stringify(some.map(({ objectId }) => [0, objectId])),
  }));
  const [groups] = await operation.read((lease, view) => groupsOf(operation, lease, view, related, request, 1));
  return groups ?? [];
}
