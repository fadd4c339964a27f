/** Which namespaces exist, for warnings about names that match nothing. */
import { all, isIn, raw, sql } from '../../store/types/sql.ts';
import { countsIn } from '../sql/counts.ts';
import type { CellView } from '../sql/view.ts';
import { readiness } from './readiness.ts';

const key = 'namespaces';

/** Those of the names that are namespaces of some cluster; null while not every cluster has synced its namespaces. */
export async function knownNamespaces(
  cells: readonly CellView[],
  names: readonly string[],
): Promise<ReadonlySet<string> | null> {
  // A cell without clusters has no namespaces.
  const some = cells.filter(({ view }) => view.get(key) !== undefined);
  if (some.length === 0) return null;
  const known = await Promise.all(some.map((cell) => knownIn(cell, names)));
  return known.reduce((all, some) => (all === null || some === null ? null : all.union(some)), new Set<string>());
}

async function knownIn({ lease, view }: CellView, names: readonly string[]): Promise<ReadonlySet<string> | null> {
  const kind = view.get(key);
  if (kind === undefined) return null;
  const states = await readiness(lease, [key]);
  if (states.length === 0 || states.some(({ whole }) => !whole)) return null;
  const rows = await lease.all(
    sql`SELECT DISTINCT o.name FROM object AS o
      WHERE ${all([sql`o.kind = ${BigInt(kind.kindId)}`, isIn(raw('o.name'), names), countsIn(kind, raw('o'))])}`,
  );
  return new Set(rows.map(([name]) => String(name)));
}
