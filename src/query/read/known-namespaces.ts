/** Which namespaces exist, for warnings about names that match nothing. */
import type { Lease } from '../../store/types/lease.ts';
import { all, isIn, raw, sql } from '../../store/types/sql.ts';
import { countsIn } from '../sql/counts.ts';
import type { View } from '../sql/view.ts';
import { readiness } from './readiness.ts';

const key = 'namespaces';

/** Those of the names that are namespaces of some cluster; null while not every cluster has synced its namespaces. */
export async function knownNamespaces(
  lease: Lease,
  view: View,
  names: readonly string[],
): Promise<ReadonlySet<string> | null> {
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
