/**
 * Facets: the values of one path with how many objects have each, for a filter menu. A menu shows the other choices too, so what the
 * filter says of the path itself is left out. Narrowed by a text, they complete what somebody types.
 */

import { joinPaths, type Path, pathOf } from '../../catalog/tree/path.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { compareKeys, foldCase, type OrderKey } from '../../catalog/values/values.ts';
import type { Lease } from '../../store/types/lease.ts';
import { type GroupResult, type Leaf, mostGroups } from '../plan/aggregate.ts';
import { conjuncts, type Filter, type LabelRequirement } from '../plan/filter.ts';
import type { PlannedKind } from '../plan/plan.ts';
import { OverBudget, type ScanBudget } from '../plan/scan-budget.ts';
import type { View } from '../sql/view.ts';
import { aggregateKinds } from './aggregate-kinds.ts';

export interface FacetPlan {
  readonly kinds: readonly PlannedKind[];
  /** The whole filter of the list. */
  readonly filter: Filter;
  readonly leaf: Leaf;
  /** Values wanted. */
  readonly first: number;
  /** Only values whose text contains this one, ASCII letters folded; null for all values and for objects that have none. */
  readonly contains: string | null;
}

export interface FacetResult {
  /** The most frequent first, then by value, the objects without a value behind all others of their number. */
  readonly values: readonly { readonly key: OrderKey | null; readonly count: number }[];
  /** Are there further values? */
  readonly more: boolean;
}

export async function facet(
  lease: Lease,
  view: View,
  { kinds, filter, leaf, first, contains }: FacetPlan,
  budget: ScanBudget,
): Promise<FacetResult | OverBudget> {
  const plan = { kinds, filter: filterWithout(filter, leaf.path), by: [leaf], measured: [] };
  const needle = contains === null ? null : foldCase(contains.toWellFormed());
  const inSql = needle !== null && leaf.type === 'String';
  // Several kinds have to be merged before anything can be cut off.
  const cut = new Set(kinds.map(({ key }) => key)).size === 1 && (needle === null || inSql);
  const groups = await aggregateKinds(lease, view, plan, budget, {
    limit: cut ? Math.min(first, mostGroups) + 1 : mostGroups + 1,
    frequent: cut,
    ...(inSql ? { contains: needle } : {}),
  });
  if (groups instanceof OverBudget) return groups;
  return facetOf(groups, leaf, first, inSql ? null : needle);
}

/** The facet that these groups (by the leaf alone) make; `needle` is folded. */
export function facetOf(
  groups: readonly GroupResult[],
  { type }: Leaf,
  first: number,
  needle: string | null,
): FacetResult {
  const all = groups
    .map(({ keys, count }) => ({ key: keys[0] ?? null, count }))
    .filter(({ key }) => needle === null || (key !== null && foldCase(shown(valueOfKey(type, key))).includes(needle)))
    .sort((a, b) => b.count - a.count || nullsLast(a.key, b.key));
  return { values: all.slice(0, first), more: all.length > first };
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRawJson(value) ? value.rawJSON : String(value);
}

function nullsLast(a: OrderKey | null, b: OrderKey | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compareKeys(a, b);
}

/** The filter without those of its top conjuncts that speak of nothing but this path. */
export function filterWithout(filter: Filter, path: Path): Filter {
  const parts = conjuncts(filter);
  const left = parts.flatMap((part): readonly Filter[] => {
    if (part.kind !== 'labels') return speaksOnlyOf(part, path, pathOf([])) ? [] : [part];
    const requirements = part.requirements.filter((requirement) => !isOfLabel(requirement, path));
    if (requirements.length === part.requirements.length) return [part];
    return requirements.length === 0 ? [] : [{ ...part, requirements }];
  });
  return left.length === parts.length && left.every((part, index) => part === parts[index])
    ? filter
    : { kind: 'and', of: left };
}

/** `base` is where the filter's own paths begin. */
function speaksOnlyOf(filter: Filter, path: Path, base: Path): boolean {
  switch (filter.kind) {
    case 'compare':
    case 'exists':
      return joinPaths(base, filter.path).text === path.text;
    case 'not':
      return speaksOnlyOf(filter.of, path, base);
    case 'and':
    case 'or':
      return filter.of.length > 0 && filter.of.every((part) => speaksOnlyOf(part, path, base));
    case 'some':
      return speaksOnlyOf(filter.of, path, joinPaths(base, filter.path, everyElement));
    case 'namespaces':
      return base.steps.length === 0 && path.text === 'metadata.namespace';
    case 'labels':
      return filter.requirements.length > 0 && filter.requirements.every((each) => isOfLabel(each, path));
    default:
      return false;
  }
}

const everyElement = pathOf([{ kind: 'each' }]);

function isOfLabel({ key }: LabelRequirement, path: Path): boolean {
  return path.text === `metadata.labels[${JSON.stringify(key)}]`;
}
