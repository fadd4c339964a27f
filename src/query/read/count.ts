/** Counts the objects of a list. */

import { must } from '../../base/must.ts';
import type { Lease } from '../../store/types/lease.ts';
import { conjuncts, type Filter } from '../plan/filter.ts';
import type { ListPlan } from '../plan/plan.ts';
import { OverBudget, rowCost, type ScanBudget } from '../plan/scan-budget.ts';
import { countRows, findRows } from '../route/aggregated-rows.ts';
import { populatedKinds } from '../route/populated-kinds.ts';
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

/** The clusters of a filter with cluster conditions only; 'all' without conditions; null for any other filter. */
function clustersOnly(filter: Filter): 'all' | readonly string[] | null {
  let found: 'all' | readonly string[] = 'all';
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'clusters') return null;
    const { in: named } = part;
    found = found === 'all' ? [...new Set(named)] : found.filter((cluster) => named.includes(cluster));
  }
  return found;
}
