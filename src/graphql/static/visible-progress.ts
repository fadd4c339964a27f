/** The ingest state of resources as a caller may see it: `resources` and `clusters` read it here. */
import type { View } from '../../query/sql/view.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';

/** Leaves out kinds of which the caller does not see all rows: their ingest state would reveal the other rows. */
export async function visibleProgress(lease: Lease, view: View): Promise<readonly ResourceProgress[]> {
  return (await readResourceProgress(lease)).filter(({ key }) => view.get(key)?.isWhole !== false);
}
