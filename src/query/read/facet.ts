/**
 * Facets: the values of one path with the number of objects of each, for a filter menu or for completion of typed text.
 *
 * The facet ignores the filter's conditions on its own path, because a menu also shows the other choices. Example: a list of Pods
 * filtered by `status.phase eq Failed` and `spec.size eq 5`. The facet of status.phase counts the Pods with `spec.size eq 5`:
 *
 *   Running 40, Failed 2
 */

import { identityIn, joinPaths, type Path, pathOf } from '../../catalog/tree/path.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { compareKeys, foldCase, type OrderKey } from '../../catalog/values/values.ts';
import { type GroupResult, type Leaf, mostGroups } from '../plan/aggregate.ts';
import { conjuncts, type Filter, type LabelRequirement } from '../plan/filter.ts';
import type { PlannedKind } from '../plan/plan.ts';
import { OverBudget, type ScanBudget } from '../plan/scan-budget.ts';
import type { CellView } from '../sql/view.ts';
import { aggregateKinds } from './aggregate-kinds.ts';

interface FacetPlan {
  readonly kinds: readonly PlannedKind[];
  /** The whole filter of the list. */
  readonly filter: Filter;
  readonly leaf: Leaf;
  /** The most values to return. */
  readonly first: number;
  /** Only values whose text contains this text, with ASCII letters folded. Null for all values, also the absent value. */
  readonly contains: string | null;
}

export interface FacetResult {
  /** By descending count, then by value. The absent value (a null key) comes last among equal counts. */
  readonly values: readonly { readonly key: OrderKey | null; readonly count: number }[];
  /** Are there further values? */
  readonly more: boolean;
}

/** The filter of the objects that the facet counts. */
export function facetFilter(filter: Filter, leaf: Leaf): Filter {
  return leaf.through === undefined ? filterWithout(filter, leaf.path) : filter;
}

/** The values of the plan's leaf. `OverBudget` if reading them would exceed the budget. */
export async function facet(
  cells: readonly CellView[],
  { kinds, filter, leaf, first, contains }: FacetPlan,
  budget: ScanBudget,
): Promise<FacetResult | OverBudget> {
  const plan = {
    kinds,
    filter: facetFilter(filter, leaf),
    by: [leaf],
    measured: [],
  };
  const needle = contains === null ? null : foldCase(contains.toWellFormed());
  const inSql = needle !== null && leaf.type === 'String';
  // The groups of several kinds and cells must be merged before the limit applies.
  const isOne = cells.length === 1 && new Set(kinds.map(({ key }) => key)).size === 1;
  const limited = isOne && (needle === null || inSql);
  const groups = await aggregateKinds(cells, plan, budget, {
    limit: limited ? Math.min(first, mostGroups) + 1 : mostGroups + 1,
    frequent: limited,
    ...(inSql ? { contains: needle } : {}),
  });
  if (groups instanceof OverBudget) return groups;
  return facetOf(groups, leaf, first, inSql ? null : needle);
}

/** The facet of these groups, which are grouped by the leaf alone. `needle` is folded. */
export function facetOf(
  groups: readonly GroupResult[],
  { type }: Leaf,
  first: number,
  needle: string | null,
): FacetResult {
  const all = groups
    .map(({ keys, count }) => ({ key: keys[0] ?? null, count }))
    .filter(
      ({ key }) => needle === null || (key !== null && foldCase(displayText(valueOfKey(type, key))).includes(needle)),
    )
    .sort((a, b) => b.count - a.count || nullsLast(a.key, b.key));
  return { values: all.slice(0, first), more: all.length > first };
}

/** The text of a value as clients display it. */
function displayText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRawJson(value) ? value.rawJSON : String(value);
}

function nullsLast(a: OrderKey | null, b: OrderKey | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compareKeys(a, b);
}

/** The filter without the top-level conjuncts that only concern this path. */
export function filterWithout(filter: Filter, path: Path): Filter {
  const parts = conjuncts(filter);
  const kept = parts.flatMap((part): readonly Filter[] => {
    if (part.kind !== 'labels') return concernsOnly(part, path, pathOf([])) ? [] : [part];
    const requirements = part.requirements.filter((requirement) => !isOfLabel(requirement, path));
    if (requirements.length === part.requirements.length) return [part];
    return requirements.length === 0 ? [] : [{ ...part, requirements }];
  });
  return kept.length === parts.length && kept.every((part, index) => part === parts[index])
    ? filter
    : { kind: 'and', of: kept };
}

/** Do all conditions of the filter concern this path? The filter's paths are relative to `base`. */
function concernsOnly(filter: Filter, path: Path, base: Path): boolean {
  switch (filter.kind) {
    case 'compare':
    case 'exists':
      return joinPaths(base, filter.path).text === path.text;
    case 'not':
      return concernsOnly(filter.of, path, base);
    case 'and':
    case 'or':
      return filter.of.length > 0 && filter.of.every((part) => concernsOnly(part, path, base));
    case 'some':
      return concernsOnly(filter.of, path, joinPaths(base, filter.path, everyElement));
    case 'clusters':
      return identityIn(path) === 'cluster';
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
