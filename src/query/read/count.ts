/** Counts the objects of a list. */

import { must } from '../../base/must.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Statement } from '../../store/types/statement.ts';
import { conjunction } from '../plan/comparison.ts';
import { conjuncts, type Filter } from '../plan/filter.ts';
import type { ListPlan } from '../plan/plan.ts';
import { OverBudget, rowCost, type ScanBudget } from '../plan/scan-budget.ts';
import { countRows, findRows } from '../route/aggregated-rows.ts';
import { populatedKinds } from '../route/populated-kinds.ts';
import { accessPaths, type SizedPath } from '../sql/access-path.ts';
import { keptCount } from '../sql/counts.ts';
import { countStatement } from '../sql/sql-aggregate.ts';
import type { KindView, View } from '../sql/view.ts';

/**
 * The number of matching objects, at most `limit`. An answer equal to the limit means "at least". A null limit counts all.
 *
 * If the budget does not cover a scan of all rows, half of the remaining budget is spent to find at least `limit` matches.
 */
export async function countMatches(
  lease: Lease,
  view: View,
  { kinds, filter }: Pick<ListPlan, 'kinds' | 'filter'>,
  limit: number | null,
  budget: ScanBudget,
): Promise<number | OverBudget> {
  let count = 0;
  const keys = [...new Set(kinds.map((kind) => kind.key))];
  for (const key of await populatedKinds(lease, view, keys, filter)) {
    const kind = view.get(key);
    if (kind === undefined) continue;
    if (limit !== null && count >= limit) break;
    const found = await countKind(lease, kind, filter, limit === null ? null : limit - count, budget);
    if (found instanceof OverBudget) return found;
    count += found;
  }
  return limit === null ? count : Math.min(count, limit);
}

async function countKind(
  lease: Lease,
  kind: KindView,
  filter: Filter,
  limit: number | null,
  budget: ScanBudget,
): Promise<number | OverBudget> {
  const clusters = clustersOnly(filter);
  const kept = clusters === null ? null : keptCount(kind, clusters === 'all' ? null : clusters);
  if (kept !== null) {
    const [row] = await lease.all(kept);
    return Number(row?.[0]);
  }
  const complement = await countComplement(lease, kind, filter, budget);
  if (complement !== null) return complement;
  let found = await findRows(lease, kind, filter);
  const whole = countStatement(found.rows, { limit, within: null });
  const { cost } = whole;
  if (cost >= rowCost.body) found = await countRows(lease, found, budget.left(cost));
  const count = async (statement: typeof whole.statement): Promise<number> => {
    const [row] = await lease.all(statement);
    return Number(must(row, 'a count')[0]);
  };
  const overBudget = budget.take({ estimate: found.estimate, cost });
  if (overBudget === null) return count(whole.statement);
  const within = Math.floor(budget.left(cost) / 2);
  if (limit === null || within === 0) return overBudget;
  budget.take({ estimate: within, cost });
  const partial = await count(countStatement(found.rows, { limit, within }).statement);
  return partial < limit ? overBudget : partial;
}

/** The most rows that a short count looks at. */
const mostShort = 400;

/**
 * A statement that counts the matches exactly, if few rows satisfy a condition that an index serves, and no body is read. Null for any
 * other filter. It stays valid as long as the route of a page (line-page.ts).
 * @param best the access path with the fewest rows (choosePaths)
 */
export function shortCount(kind: KindView, filter: Filter, best: SizedPath | null): Statement | null {
  if (best === null || best.rows > mostShort || clustersOnly(filter) !== null) return null;
  // Rows that do not count may come later.
  const rows = { kind, filter, path: best.path, allCount: false, set: null };
  const { statement, cost } = countStatement(rows, { limit: null, within: null });
  return cost < rowCost.body ? statement : null;
}

/**
 * The count of a negative condition whose positive form has an index, from the kept count of all objects:
 *
 *   not (status.phase eq Running)     all - those with status.phase eq Running
 *   labels app NotIn [web]            all - those with app In [web]
 *
 * Null for any other filter, and where the positive form is over budget.
 */
async function countComplement(
  lease: Lease,
  kind: KindView,
  filter: Filter,
  budget: ScanBudget,
): Promise<number | null> {
  const parts = conjuncts(filter);
  const others = parts.filter((part) => part.kind !== 'clusters');
  const [only] = others;
  const positive = only === undefined || others.length > 1 ? null : positiveOf(only);
  if (positive === null || accessPaths(kind, positive).length === 0) return null;
  const clusters = clustersOnly(conjunction(parts.filter((part) => part !== only)));
  const kept = clusters === null ? null : keptCount(kind, clusters === 'all' ? null : clusters);
  if (kept === null) return null;
  const matched = await countKind(
    lease,
    kind,
    conjunction(parts.map((part) => (part === only ? positive : part))),
    null,
    budget,
  );
  if (matched instanceof OverBudget) return null;
  const [row] = await lease.all(kept);
  return Number(row?.[0]) - matched;
}

/** The condition that exactly the other objects match; null for conditions that are not negative. */
function positiveOf(filter: Filter): Filter | null {
  if (filter.kind === 'not') return filter.of;
  const [requirement, ...more] = filter.kind === 'labels' ? filter.requirements : [];
  if (requirement === undefined || more.length > 0) return null;
  if (requirement.operator === 'NotIn') return { kind: 'labels', requirements: [{ ...requirement, operator: 'In' }] };
  if (requirement.operator === 'DoesNotExist') {
    return { kind: 'labels', requirements: [{ ...requirement, operator: 'Exists' }] };
  }
  return null;
}

/** The clusters of a filter with cluster conditions only; 'all' without conditions; null for any other filter. */
export function clustersOnly(filter: Filter): 'all' | readonly string[] | null {
  let found: 'all' | readonly string[] = 'all';
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'clusters') return null;
    const { in: named } = part;
    found = found === 'all' ? [...new Set(named)] : found.filter((cluster) => named.includes(cluster));
  }
  return found;
}
