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
import { missingFrom, requireClusters, servingClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ResponsePath } from '../../operation/operation-trace.ts';
import { requireVisible } from '../../operation/require-visible.ts';
import { warnOfLetterCase, warnOfUnknownNames } from '../../operation/unknown-names.ts';
import { clustersIn, hopsIn } from '../../query/plan/filter.ts';
import { anyKind, hopsOf } from '../../query/plan/hop.ts';
import type { ListPlan, ListResult, ListRow } from '../../query/plan/plan.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import { listPage } from '../../query/read/list.ts';
import { notReady, type Readiness, readiness } from '../../query/read/readiness.ts';
import { requireSearchable } from '../../query/sql/search.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { type Aggregated, AggregatedList, requireRelated } from '../aggregates/aggregated.ts';
import { type ConnectionScope, changesCursorOf, listScope } from './list-scope.ts';
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
    this.#ready ??= this.#operation.read((lease, view) => this.#checkReady(lease, view), this.#path);
    await this.#ready;
    return this;
  }

  async edges(): Promise<readonly EdgeSource[]> {
    const { rows } = await this.#page();
    return rows.flatMap((row) => {
      const kind = this.#kinds.get(row.key);
      return kind === undefined ? [] : [{ cursor: row.cursor, node: new ObjectSource(this.#operation, kind, row) }];
    });
  }

  async pageInfo(): Promise<PageInfoSource> {
    const result = await this.#page();
    return pageOf(result, result.rows);
  }

  totalCount(limit: number | null): Promise<number | OverBudget> {
    return this.#read(async (lease, view) => {
      const { source, scans: budget } = this.#operation;
      const count = await source.counts.count(lease, view, this.#plan, limit, budget);
      if (count === 0) await this.#warn(lease, view);
      return count;
    });
  }

  get aggregated(): Aggregated {
    this.#aggregated ??= new AggregatedList(this.#operation, this.#plan, {
      catalogKinds: [...this.#kinds.values()],
      path: this.#path,
      read: (work) => this.#read(work),
    });
    return this.#aggregated;
  }

  scope(): Promise<readonly ConnectionScope[]> {
    return this.#read(async (_lease, view) => listScope(view, [...this.#kinds.values()]));
  }

  changesCursor(): Promise<string> {
    return this.#read(async (lease, view) => changesCursorOf(lease, view, [...this.#kinds.keys()]));
  }

  #page(): Promise<ListResult> {
    this.#result ??= this.#read(async (lease, view) => {
      const result = await listPage(lease, view, this.#plan);
      this.#operation.cost.charge(result.rows.length * this.#objectCost);
      if (result.found === 0) await this.#warn(lease, view);
      return result;
    });
    return this.#result;
  }

  /** For a list without a match. The page and the count of one list look once. */
  #warn(lease: Lease, view: View): Promise<void> {
    this.#warned ??= this.#warnOnce(lease, view);
    return this.#warned;
  }

  async #warnOnce(lease: Lease, view: View): Promise<void> {
    await warnOfUnknownNames(this.#operation, this.#plan.filter, this.#path, lease, view);
    await warnOfLetterCase(this.#operation, this.#plan, this.#path, lease, view);
  }

  async #read<T>(work: (lease: Lease, view: View) => Promise<T>): Promise<T> {
    await this.ready();
    return this.#operation.read(work, this.#path);
  }

  async #checkReady(lease: Lease, view: View): Promise<void> {
    this.#requireVisible(view);
    requireClusters(this.#operation, clustersIn(this.#plan.filter) ?? []);
    const found = await readiness(lease, [...this.#kinds.keys()]);
    const optional = found.filter(({ key }) => this.#optional.has(key));
    const some = optional.some(({ synced }) => synced);
    if (some) this.#operation.noteMissing(optional.filter(({ synced }) => !synced));
    for (const kind of this.#kinds.values()) {
      if (this.#optional.has(kind.key)) continue;
      this.#operation.noteMissing(missingFrom(this.#operation, kind, this.#plan.filter, found));
    }
    if (!some && this.#optional.size > 0) throw this.#noneReady(found);
    const { filter, orderBy } = this.#plan;
    const hops = hopsIn(filter);
    const ordered = orderBy.flatMap(hopsOf);
    await requireRelated(this.#operation, lease, [...hops, ...ordered]);
    warnOfHiddenEnds(this.#operation, view, { filter, hops: ordered }, this.#path);
    const leadsToAll = hops.some(({ to }) => to.key === anyKind);
    const keys = leadsToAll ? [...view.layouts.keys()] : [...this.#kinds.keys(), ...hops.map(({ to }) => to.key)];
    const ids = keys.map((key) => view.get(key)?.kindId).filter((id) => id !== undefined);
    await requireSearchable(lease, ids, filter);
  }

  #requireVisible(view: View): void {
    try {
      requireVisible(view, [...this.#kinds.keys()], this.#plan.filter);
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
