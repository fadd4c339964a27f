/**
 * The objects of a connection, for its fields `aggregate` and `facets`. A list and a relation implement the same interface.
 * An operation reads equal requests once.
 */
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { foldCase } from '../../catalog/values/values.ts';
import { warnOfHiddenEnds } from '../../operation/hidden-ends.ts';
import { keysServedIn } from '../../operation/list-readiness.ts';
import type { CellRead, Operation } from '../../operation/operation.ts';
import type { ResponsePath } from '../../operation/parts/operation-trace.ts';
import type { AggregatePlan, GroupResult, Leaf } from '../../query/plan/aggregate.ts';
import { clustersIn, everything, type Filter, type Identity } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { anyKind, type Hop, hopsOf } from '../../query/plan/hop.ts';
import type { ListPlan } from '../../query/plan/plan.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { aggregateKinds } from '../../query/read/aggregate-kinds.ts';
import { type FacetResult, facet, facetFilter, facetOf } from '../../query/read/facet.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { leasesOf } from '../../query/sql/view.ts';

/** The paths to measure, and the paths to group by. */
export type AggregateRequest = Pick<AggregatePlan, 'by' | 'measured'>;

export interface Aggregated {
  readonly operation: Operation;
  /** The kinds in which paths are looked up. */
  readonly kinds: readonly CatalogKind[];
  readonly filter: Filter;
  /** The object that they are related to; null for a list. */
  readonly of: Identity | null;
  /** The groups of all objects of the connection, not only of its page. Without `by` the result is exactly one group. */
  groups(request: AggregateRequest): Promise<readonly GroupResult[] | OverBudget>;
  /** `contains` is the caller's text, not folded. */
  facet(leaf: Leaf, first: number, contains: string | null): Promise<FacetResult | OverBudget>;
}

/** Reads the cells of objects that match the filter. */
type Read = <T>(work: (cells: readonly CellRead[]) => Promise<T>, filter: Filter) => Promise<T>;

/** The objects of a list. */
export class AggregatedList implements Aggregated {
  readonly operation: Operation;
  readonly kinds: readonly CatalogKind[];
  readonly filter: Filter;
  readonly of = null;
  readonly #plan: Pick<ListPlan, 'kinds' | 'filter'>;
  readonly #path: ResponsePath;
  readonly #read: Read;

  constructor(
    operation: Operation,
    { kinds, filter }: ListPlan,
    {
      catalogKinds,
      path,
      read,
    }: { readonly catalogKinds: readonly CatalogKind[]; readonly path: ResponsePath; readonly read: Read },
  ) {
    this.operation = operation;
    this.kinds = catalogKinds;
    this.filter = filter;
    this.#plan = { kinds, filter };
    this.#path = path;
    this.#read = read;
  }

  groups(request: AggregateRequest): Promise<readonly GroupResult[] | OverBudget> {
    return this.#once('groups', request, this.filter, async (cells) => {
      const hops = [...request.by, ...request.measured].flatMap(hopsOf);
      await requireRelated(this.operation, cells, hops);
      this.#warn(cells, hops);
      return aggregateKinds(cells, { ...this.#plan, ...request }, this.operation.scans);
    });
  }

  facet(leaf: Leaf, first: number, contains: string | null): Promise<FacetResult | OverBudget> {
    const asked = { leaf, first, contains };
    return this.#once('facet', asked, facetFilter(this.filter, leaf), async (cells) => {
      await requireRelated(this.operation, cells, hopsOf(leaf));
      this.#warn(cells, hopsOf(leaf));
      return facet(cells, { ...this.#plan, leaf, first, contains }, this.operation.scans);
    });
  }

  /** The list itself warns of its filter. */
  #warn(cells: readonly CellRead[], hops: readonly Hop[]): void {
    for (const { view } of cells) {
      warnOfHiddenEnds(this.operation, view, { hops, clusters: clustersIn(this.filter) }, this.#path);
    }
  }

  #once<T>(
    what: string,
    request: unknown,
    filter: Filter,
    work: (cells: readonly CellRead[]) => Promise<T>,
  ): Promise<T> {
    const kinds = this.#plan.kinds.map(({ key }) => key);
    const name = `${what} ${digest({ kinds, filter: this.filter, request })}`;
    return this.operation.loader(name, () => this.#read(work, filter));
  }
}

/** Objects related to one object. Their groups are read in one statement with those of its neighbours in the list. */
export class AggregatedRelated implements Aggregated {
  readonly operation: Operation;
  readonly kinds: readonly CatalogKind[];
  readonly filter = everything;
  readonly of: Identity;
  readonly groups: (request: AggregateRequest) => Promise<readonly GroupResult[] | OverBudget>;

  constructor(
    operation: Operation,
    kinds: readonly CatalogKind[],
    of: Identity,
    groups: (request: AggregateRequest) => Promise<readonly GroupResult[] | OverBudget>,
  ) {
    this.operation = operation;
    this.kinds = kinds;
    this.of = { cluster: of.cluster, key: of.key, namespace: of.namespace, name: of.name };
    this.groups = groups;
  }

  async facet(leaf: Leaf, first: number, contains: string | null): Promise<FacetResult | OverBudget> {
    const groups = await this.groups({ by: [leaf], measured: [] });
    return groups instanceof OverBudget
      ? groups
      : facetOf(groups, leaf, first, contains === null ? null : foldCase(contains.toWellFormed()));
  }
}

/**
 * Asserts that the kinds at the ends of these hops are synced. Objects of a kind that is synced in some clusters only are noted as missing.
 * @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED
 */
export async function requireRelated(
  operation: Operation,
  cells: readonly CellRead[],
  hops: readonly Hop[],
): Promise<void> {
  const ends = [...new Set(hops.map(({ to }) => to.key))].filter((key) => key !== anyKind);
  const keys = keysServedIn(operation, cells, ends);
  // The syncs of all kinds decide, and no read of the answer depends on them.
  if (hops.some(({ to }) => to.key === anyKind)) operation.noteMore();
  if (keys.length > 0) operation.noteMissing(await requireReady(leasesOf(cells), keys));
}
