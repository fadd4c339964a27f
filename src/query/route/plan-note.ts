/**
 * What is noted of how a list or an aggregate was planned, for explanations, the log of slow queries and the promotion of paths.
 *
 *   observePlans(lease, observer) -> whoever plans in that lease: notePlan -> the observer hears of it
 *
 * Never: what a query compares with. Values may be secrets, or name them.
 */

import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { PromotedSlot } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import { conjuncts, type Filter } from '../plan/filter.ts';
import type { OrderTerm } from '../plan/plan.ts';
import { isRange, surveyBound } from '../sql/access-path.ts';
import { isObjectLeaf } from '../sql/kind-tables.ts';
import type { KindView } from '../sql/view.ts';

/** A condition of the filter that an index serves, and the rows that were counted behind it. */
export interface SurveyedPath {
  readonly on: string;
  /** `surveyBound + 1` means more than the bound. */
  readonly rows: number;
}

export interface PlanNote {
  readonly kind: KindView;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly route: 'order' | 'identity' | 'path' | 'scan';
  readonly ways: readonly SurveyedPath[];
}

export type PlanObserver = (note: PlanNote) => void;

const observers = new WeakMap<Lease, PlanObserver>();

/** Lets the observer hear of everything that is planned in this lease. */
export function observePlans(lease: Lease, observer: PlanObserver): void {
  observers.set(lease, observer);
}

/** Tells of a plan where somebody listens. */
export function notePlan(lease: Lease, note: PlanNote): void {
  observers.get(lease)?.(note);
}

/** A leaf that a list filters by a range of keys or is ordered by first. */
export interface PathNeed {
  readonly path: string;
  readonly type: LeafType;
  /** The slot that it has, be it ready or not. */
  readonly slot: PromotedSlot | null;
}

/** So few rows are looked through as fast as an index is. */
const fewRows = 1000;

/** The leaves of a plan that an index of their own serves, or would. */
export function pathNeeds({ kind, filter, orderBy }: PlanNote): readonly PathNeed[] {
  const needs = new Map<string, PathNeed>();
  const add = ({ path, type }: Pick<OrderTerm, 'path' | 'type'>): void => {
    if (type === 'JSON' || path.text === '' || isObjectLeaf(path, type)) return;
    if (path.steps.some(({ kind }) => kind === 'each')) return;
    const slot = kind.slots.find((one) => one.path === path.text && one.type === type) ?? null;
    needs.set(`${type} ${path.text}`, { path: path.text, type, slot });
  };
  for (const part of conjuncts(filter)) {
    if (part.kind === 'compare' && isRange(part)) add(part);
  }
  const [first] = orderBy;
  if (first !== undefined && first.natural !== true && first.rank === undefined) add(first);
  return [...needs.values()];
}

/** Does the plan look at few rows, whatever else has no index? */
export function isNarrow({ route, ways }: PlanNote): boolean {
  return route === 'path' && ways.some(({ rows }) => rows <= Math.min(fewRows, surveyBound));
}
