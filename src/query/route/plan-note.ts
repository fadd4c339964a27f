/**
 * Plan notes: how a list or an aggregate was planned. Explanations, the slow query log and the index advisor use them.
 *
 *   observePlans(lease, observer) -> a list or an aggregate is planned in the lease -> notePlan -> observer(note)
 *
 * Text made from a note (shapeOfFilter) never contains the values that a query compares with. They may be secrets or their names.
 */

import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { isRolledUp, isThroughLists } from '../../catalog/tree/path.ts';
import type { PromotedSlot } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import { conjuncts, type Filter, readsRollUp } from '../plan/filter.ts';
import { isOfStoredKey, type OrderTerm } from '../plan/plan.ts';
import { isRange, surveyBound } from '../sql/access-path.ts';
import { isObjectLeaf } from '../sql/kind-tables.ts';
import type { KindView } from '../sql/view.ts';

/** A condition of the filter that an index serves, and the number of its rows. */
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
  readonly surveyedPaths: readonly SurveyedPath[];
}

type PlanObserver = (note: PlanNote) => void;

const observers = new WeakMap<Lease, PlanObserver>();

/** Calls the observer for each plan made in this lease. */
export function observePlans(lease: Lease, observer: PlanObserver): void {
  observers.set(lease, observer);
}

/** Passes a plan to the lease's observer, if it has one. */
export function notePlan(lease: Lease, note: PlanNote): void {
  observers.get(lease)?.(note);
}

/** A leaf that a list filters by a range of keys, or that is its first order term. */
export interface PathNeed {
  readonly path: string;
  readonly type: LeafType;
  /** The leaf's slot, ready or not; null without one. */
  readonly slot: PromotedSlot | null;
}

/** A scan of this many rows is as fast as an index. */
const fewRows = 1000;

/** The leaves of a plan that an index of their own serves or would serve. */
export function pathNeeds({ kind, filter, orderBy }: PlanNote): readonly PathNeed[] {
  const needs = new Map<string, PathNeed>();
  const add = ({ path, type }: Pick<OrderTerm, 'path' | 'type'>): void => {
    if (type === 'JSON' || path.text === '' || isObjectLeaf(path, type)) return;
    if (isThroughLists(path)) return;
    const slot = kind.slots.find((one) => one.path === path.text && one.type === type) ?? null;
    needs.set(`${type} ${path.text}`, { path: path.text, type, slot });
  };
  for (const part of conjuncts(filter)) {
    if (part.kind === 'compare' && part.cast === undefined && isRange(part)) add(part);
  }
  const [first] = orderBy;
  if (first !== undefined && first.cast === undefined && isOfStoredKey(first)) add(first);
  return [...needs.values()];
}

/** Does the plan scan few rows? Then an index on its other leaves would not help. */
export function isNarrow({ route, surveyedPaths }: PlanNote): boolean {
  return route === 'path' && surveyedPaths.some(({ rows }) => rows <= Math.min(fewRows, surveyBound));
}

/** Does the plan read rolled-up healths? */
export function readsRolledUp({ filter, orderBy }: PlanNote): boolean {
  return readsRollUp(filter) || orderBy.some(({ path, through }) => through === undefined && isRolledUp(path));
}
