/** How many objects a list has in all. */
import type { KindLayout, Lease } from '../store/types.ts';
import { accessPaths, narrowest, survey } from './access-path.ts';
import { conjuncts, type Filter } from './filter.ts';
import type { ListPlan } from './plan.ts';
import { populatedKinds } from './populated-kinds.ts';
import { isIn, raw, sql } from './sql.ts';
import { countStatement } from './sql-list.ts';

/** Objects that match, at most `limit`: an answer equal to the limit means "at least". Null counts them all. */
export async function countMatches(
  lease: Lease,
  layouts: ReadonlyMap<string, KindLayout>,
  plan: Pick<ListPlan, 'kinds' | 'filter'>,
  limit: number | null,
): Promise<number> {
  let count = 0;
  const keys = [...new Set(plan.kinds.map((kind) => kind.key))];
  for (const key of await populatedKinds(lease, layouts, keys, plan.filter)) {
    const layout = layouts.get(key);
    if (layout === undefined) continue;
    if (limit !== null && count >= limit) break;
    count += await countKind(lease, key, layout, plan.filter, limit === null ? null : limit - count);
  }
  return limit === null ? count : Math.min(count, limit);
}

async function countKind(
  lease: Lease,
  key: string,
  layout: KindLayout,
  filter: Filter,
  limit: number | null,
): Promise<number> {
  const clusters = clustersOnly(filter);
  if (clusters !== null) {
    // The store keeps this count with every commit.
    const [row] = await lease.all(
      sql`SELECT coalesce(sum(objects), 0) FROM resource WHERE kind = ${BigInt(layout.kindId)} AND synced = 1
        AND ${clusters === 'all' ? raw('1') : isIn(raw('cluster'), clusters)}`,
    );
    return Number(row?.[0]);
  }
  const paths = accessPaths(key, layout, filter);
  const best =
    paths.length > 1 ? (narrowest(paths, await survey(lease, layout, paths))?.path ?? null) : (paths[0] ?? null);
  const [row] = await lease.all(countStatement({ key, layout, filter }, best, limit));
  return Number(row?.[0]);
}

/** The clusters of a filter that says nothing else; null when it says more. */
function clustersOnly(filter: Filter): 'all' | readonly string[] | null {
  let found: 'all' | readonly string[] = 'all';
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'clusters') return null;
    const { in: named } = part;
    found = found === 'all' ? [...new Set(named)] : found.filter((cluster) => named.includes(cluster));
  }
  return found;
}
