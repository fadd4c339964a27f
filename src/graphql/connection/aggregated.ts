/**
 * The objects of a connection, to be counted and added up: what the fields `aggregate` and `facets` ask, whatever the connection is.
 * What is asked twice in an operation is read once.
 */
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { foldCase } from '../../catalog/values/values.ts';
import type { Operation } from '../../operation/operation.ts';
import type { AggregatePlan, GroupResult, Leaf } from '../../query/plan/aggregate.ts';
import { everything, type Filter, type Identity } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import type { ListPlan } from '../../query/plan/plan.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { aggregateKinds } from '../../query/read/aggregate-kinds.ts';
import { type FacetResult, facet, facetOf } from '../../query/read/facet.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';

/** What is measured, and by what it is grouped. */
export type Asked = Pick<AggregatePlan, 'by' | 'measured'>;

export interface Aggregated {
  readonly operation: Operation;
  /** The kinds in which paths are looked up. */
  readonly kinds: readonly CatalogKind[];
  readonly filter: Filter;
  /** The object that they are related to; null for a list. */
  readonly of: Identity | null;
  /** The groups of all objects of the connection, not of its page; without `by` there is exactly one. */
  groups(asked: Asked): Promise<readonly GroupResult[] | OverBudget>;
  /** `contains` is as the caller gave it. */
  facet(leaf: Leaf, first: number, contains: string | null): Promise<FacetResult | OverBudget>;
}

type Read = <T>(work: (lease: Lease, view: View) => Promise<T>) => Promise<T>;

/** The objects of a list. */
export class AggregatedList implements Aggregated {
  readonly operation: Operation;
  readonly kinds: readonly CatalogKind[];
  readonly filter: Filter;
  readonly of = null;
  readonly #plan: Pick<ListPlan, 'kinds' | 'filter'>;
  readonly #read: Read;

  constructor(operation: Operation, { kinds, filter }: ListPlan, catalogKinds: readonly CatalogKind[], read: Read) {
    this.operation = operation;
    this.kinds = catalogKinds;
    this.filter = filter;
    this.#plan = { kinds, filter };
    this.#read = read;
  }

  groups(asked: Asked): Promise<readonly GroupResult[] | OverBudget> {
    return this.#once('groups', asked, (lease, view) =>
      aggregateKinds(lease, view, { ...this.#plan, ...asked }, this.operation.scans),
    );
  }

  facet(leaf: Leaf, first: number, contains: string | null): Promise<FacetResult | OverBudget> {
    return this.#once('facet', { leaf, first, contains }, (lease, view) =>
      facet(lease, view, { ...this.#plan, leaf, first, contains }, this.operation.scans),
    );
  }

  #once<T>(what: string, asked: unknown, work: (lease: Lease, view: View) => Promise<T>): Promise<T> {
    const kinds = this.#plan.kinds.map(({ key }) => key);
    const name = `${what} ${digest({ kinds, filter: this.filter, asked })}`;
    return this.operation.loader(name, () => this.#read(work));
  }
}

/** Objects related to another, whose groups are read together with those of its neighbours. */
export class AggregatedRelated implements Aggregated {
  readonly operation: Operation;
  readonly kinds: readonly CatalogKind[];
  readonly filter = everything;
  readonly of: Identity;
  readonly groups: (asked: Asked) => Promise<readonly GroupResult[] | OverBudget>;

  constructor(
    operation: Operation,
    kinds: readonly CatalogKind[],
    of: Identity,
    groups: (asked: Asked) => Promise<readonly GroupResult[] | OverBudget>,
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
