/**
 * Lazy connections: rows, counts and cursors are read when their field is resolved, and once.
 *
 *   ready()                      refuses with CACHE_NOT_READY before the field is answered
 *   edges(), pageInfo()          read the page, once for both
 *   totalCount(), aggregated     read on their own, where selected
 */

import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { warnOfHiddenEnds } from '../../operation/hidden-ends.ts';
import { keysServedIn, missingFrom, requireClusters, servingClusters } from '../../operation/list-readiness.ts';
import type { CellRead, Operation } from '../../operation/operation.ts';
import type { ResponsePath } from '../../operation/parts/operation-trace.ts';
import { requireVisible } from '../../operation/require-visible.ts';
import { warnOfLetterCase, warnOfUnknownNames } from '../../operation/unknown-names.ts';
import { clustersIn, hopsIn } from '../../query/plan/filter.ts';
import { anyKind, hopsOf } from '../../query/plan/hop.ts';
import type { ListPlan, ListResult, ListRow } from '../../query/plan/plan.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import { listPage } from '../../query/read/list.ts';
import { notReady, type Readiness, readinessInCells } from '../../query/read/readiness.ts';
import { requireSearchable } from '../../query/sql/search.ts';
import { leasesOf, viewsOf } from '../../query/sql/view.ts';
import { type Aggregated, AggregatedList, requireRelated } from '../aggregates/aggregated.ts';
import { type ConnectionScope, changesCursorIn, listScope } from './list-scope.ts';
import { ObjectSource } from './object-source.ts';

export interface EdgeSource {
  readonly cursor: string;
  readonly node: ObjectSource;
  /** The paths of the references by which the node is related to the object of the connection. Absent in other lists. */
  via?(): Promise<readonly string[]>;
}

export interface PageInfoSource {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export interface ConnectionSource {
  edges(): Promise<readonly EdgeSource[]>;
  pageInfo(): Promise<PageInfoSource>;
  /** Counts up to `limit` when one is given; a result equal to the limit means "at least". */
  totalCount(limit: number | null): Promise<number | OverBudget>;
  /** A subscription with `since: changesCursor` continues exactly after this connection's snapshot. */
  changesCursor(): Promise<string>;
  /** The part of the connection's kinds that the caller may see. Absent where the kinds are not known before the objects. */
  scope?(): Promise<readonly ConnectionScope[]>;
  /** All objects of the connection, not only the page. */
  readonly aggregated: Aggregated;
}

/** The pageInfo of rows that have been read. */
export function pageOf(
  result: Pick<ListResult, 'hasNextPage' | 'hasPreviousPage'>,
  rows: readonly ListRow[],
): PageInfoSource {
  return {
    hasNextPage: result.hasNextPage,
    hasPreviousPage: result.hasPreviousPage,
    startCursor: rows[0]?.cursor ?? null,
    endCursor: rows.at(-1)?.cursor ?? null,
  };
}

export interface ListSettings {
  /** Values that the selection reads from each object. */
  readonly objectCost: number;
  /** The response path of the field. */
  readonly path?: ResponsePath;
  /** Where the caller may list nothing, the list is empty, and not FORBIDDEN. */
  readonly orEmpty?: boolean;
  /** Keys of kinds that may be missing if at least one of them is synced. Default: no kind may be missing. */
  readonly optional?: ReadonlySet<string>;
}

/** A list plan as a connection. */
export class ListConnection implements ConnectionSource {
  readonly #operation: Operation;
  readonly #plan: ListPlan;
  readonly #kinds: ReadonlyMap<string, CatalogKind>;
  readonly #optional: ReadonlySet<string>;
  readonly #orEmpty: boolean;
  readonly #objectCost: number;
  readonly #path: ResponsePath;
  #ready: Promise<void> | null = null;
  #result: Promise<ListResult> | null = null;
  #aggregated: Aggregated | null = null;
  #warned: Promise<void> | null = null;

  constructor(
    operation: Operation,
    plan: ListPlan,
    kinds: readonly CatalogKind[],
    { objectCost, orEmpty = false, optional = new Set(), path = [] }: ListSettings,
  ) {
    this.#operation = operation;
    this.#optional = optional;
    this.#path = path;
    this.#orEmpty = orEmpty;
    this.#objectCost = objectCost;
    this.#plan = plan;
    this.#kinds = new Map(kinds.map((kind) => [kind.key, kind]));
  }

  /**
   * Checks that the caller may see the kinds and that they have been synced; called before the field is answered.
   * @throws PortolanError FORBIDDEN; CACHE_NOT_READY when a required kind has not been synced in any requested cluster, or no optional kind has.
   */
  async ready(): Promise<this> {
    this.#ready ??= this.#inCells((cells) => this.#checkReady(cells));
    await this.#ready;
    return this;
  }

  async edges(): Promise<readonly EdgeSource[]> {
    const { rows } = await this.#page();
    return rows.flatMap((row) => {
      const kind = this.#kinds.get(row.key);
      return kind === undefined
        ? []
        : [{ cursor: row.cursor, node: new ObjectSource(this.#operation.at(row.cluster), kind, row) }];
    });
  }

  async pageInfo(): Promise<PageInfoSource> {
    const result = await this.#page();
    return pageOf(result, result.rows);
  }

  totalCount(limit: number | null): Promise<number | OverBudget> {
    return this.#read(async (cells) => {
      const counts = await Promise.all(
        cells.map(({ operation, lease, view }) =>
          operation.source.counts.count(lease, view, this.#plan, limit, operation.scans),
        ),
      );
      let count = 0;
      for (const found of counts) {
        if (typeof found !== 'number') return found;
        count += found;
      }
      if (count === 0) await this.#warn(cells);
      return limit === null ? count : Math.min(count, limit);
    });
  }

  get aggregated(): Aggregated {
    this.#aggregated ??= new AggregatedList(this.#operation, this.#plan, {
      catalogKinds: [...this.#kinds.values()],
      path: this.#path,
      read: (work, filter) => this.#read(work, filter),
    });
    return this.#aggregated;
  }

  scope(): Promise<readonly ConnectionScope[]> {
    return this.#inAllCells(async (cells) => {
      return listScope((cluster) => this.#operation.viewIn(cells, cluster), [...this.#kinds.values()]);
    });
  }

  changesCursor(): Promise<string> {
    return this.#read(async (cells) => changesCursorIn(this.#operation, cells, [...this.#kinds.values()]));
  }

  #page(): Promise<ListResult> {
    this.#result ??= this.#read(async (cells) => {
      const result = await listPage(cells, this.#plan);
      this.#operation.cost.charge(result.rows.length * this.#objectCost);
      if (result.found === 0) await this.#warn(cells);
      return result;
    });
    return this.#result;
  }

  /** For a list without a match. The page and the count of one list look once. */
  #warn(cells: readonly CellRead[]): Promise<void> {
    this.#warned ??= this.#warnOnce(cells);
    return this.#warned;
  }

  async #warnOnce(cells: readonly CellRead[]): Promise<void> {
    await warnOfUnknownNames(this.#operation, this.#plan.filter, this.#path);
    await warnOfLetterCase(this.#operation, this.#plan, this.#path, cells);
  }

  async #read<T>(work: (cells: readonly CellRead[]) => Promise<T>, filter = this.#plan.filter): Promise<T> {
    await this.ready();
    return this.#inCells(work, filter);
  }

  /** Reads the cells of the clusters that the filter names, or all of them. */
  #inCells<T>(work: (cells: readonly CellRead[]) => Promise<T>, filter = this.#plan.filter): Promise<T> {
    return this.#operation.readCells(work, this.#path, clustersIn(filter));
  }

  async #inAllCells<T>(work: (cells: readonly CellRead[]) => Promise<T>): Promise<T> {
    await this.ready();
    return this.#operation.readCells(work, this.#path);
  }

  async #checkReady(cells: readonly CellRead[]): Promise<void> {
    this.#requireVisible(cells);
    requireClusters(this.#operation, clustersIn(this.#plan.filter) ?? []);
    const leases = leasesOf(cells);
    const found = await readinessInCells(leases, [...this.#kinds.keys()]);
    const served = new Set(keysServedIn(this.#operation, cells, [...this.#optional]));
    const optional = found.filter(({ key }) => this.#optional.has(key));
    const some = optional.some(({ synced }) => synced);
    if (some) this.#operation.noteMissing(optional.filter(({ synced }) => !synced));
    for (const kind of this.#kinds.values()) {
      if (this.#optional.has(kind.key)) continue;
      this.#operation.noteMissing(missingFrom(this.#operation, kind, this.#plan.filter, found));
    }
    if (!some && served.size > 0) throw this.#noneReady(found);
    const { filter, orderBy } = this.#plan;
    const hops = hopsIn(filter);
    const ordered = orderBy.flatMap(hopsOf);
    await requireRelated(this.#operation, cells, [...hops, ...ordered]);
    const leadsToAll = hops.some(({ to }) => to.key === anyKind);
    const searchable = cells.map(({ lease, view }) => {
      warnOfHiddenEnds(this.#operation, view, { filter, hops: ordered }, this.#path);
      const keys = leadsToAll ? [...view.layouts.keys()] : [...this.#kinds.keys(), ...hops.map(({ to }) => to.key)];
      const ids = keys.map((key) => view.get(key)?.kindId).filter((id) => id !== undefined);
      return requireSearchable(lease, ids, filter);
    });
    await Promise.all(searchable);
  }

  #requireVisible(cells: readonly CellRead[]): void {
    try {
      requireVisible(viewsOf(cells), [...this.#kinds.keys()], this.#plan.filter);
    } catch (error) {
      if (!this.#orEmpty || !(error instanceof PortolanError) || error.code !== 'FORBIDDEN') throw error;
    }
  }

  /** No optional kind is synced; one would be enough. */
  #noneReady(found: readonly Readiness[]): PortolanError {
    const kinds = [...this.#kinds.values()].filter(({ key }) => this.#optional.has(key));
    const clusters = new Set(kinds.flatMap((kind) => servingClusters(this.#operation, kind, this.#plan.filter)));
    const keys = kinds.map(({ key }) => key);
    return notReady(found, keys, clusters.size === 0 ? undefined : [...clusters], true);
  }
}
