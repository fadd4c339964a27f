/** Reads the clusters of a store, with the result of the last attempt to read each. */
import type { Lease } from '../types/lease.ts';
import type { ClusterStatus } from '../types/progress.ts';

export interface ClusterRow extends ClusterStatus {
  readonly name: string;
}

/** Sorted by name. */
export async function readClusters(lease: Lease): Promise<readonly ClusterRow[]> {
  const rows = await lease.all({ sql: 'SELECT name, version, error FROM cluster ORDER BY name', params: [] });
  const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return rows.map(([name, version, error]) => ({
    name: String(name),
    version: textOrNull(version),
    error: textOrNull(error),
  }));
}
