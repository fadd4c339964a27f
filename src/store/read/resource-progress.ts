/** Reads the ingest progress of each resource, summed over its collections. Does not read descriptions, which are large. */
import { must } from '../../base/must.ts';
import type { Lease } from '../types/lease.ts';
import type { CollectionProgress, IngestStatus, ResourceProgress } from '../types/progress.ts';

/** Sorted by cluster and key. */
export async function readResourceProgress(lease: Lease): Promise<readonly ResourceProgress[]> {
  const rows = await lease.all({
    sql: `SELECT r.id, r.cluster, k.key, r.namespace, r.last_rv, r.synced, r.objects, r.status
          FROM resource r JOIN kind k ON k.id = r.kind ORDER BY r.cluster, k.key, r.namespace`,
    params: [],
  });
  const resources = new Map<string, CollectionProgress[]>();
  for (const [id, cluster, key, namespace, lastRv, synced, objects, status] of rows) {
    const of = `${String(cluster)} ${String(key)}`;
    const collections = resources.get(of) ?? [];
    resources.set(of, collections);
    collections.push({
      handle: { id: Number(id), cluster: String(cluster), key: String(key), namespace: String(namespace) },
      lastResourceVersion: lastRv === null || lastRv === undefined ? null : String(lastRv),
      synced: synced === 1,
      objects: Number(objects),
      status: JSON.parse(String(status)) as IngestStatus,
    });
  }
  return [...resources.values()].map(sumCollections);
}

/** From the worst phase to the best. */
const phases: readonly IngestStatus['phase'][] = [
  'PARKED',
  'BACKOFF',
  'IDLE',
  'LISTING',
  'STOPPED',
  'POLLING',
  'WATCHING',
];

/** The progress of a resource from its collections, at least one. */
function sumCollections(collections: readonly CollectionProgress[]): ResourceProgress {
  const first = must(collections[0], 'a collection');
  const { cluster, key } = first.handle;
  if (collections.length === 1) {
    const { lastResourceVersion, synced, objects, status } = first;
    return { cluster, key, lastResourceVersion, synced, objects, status, collections };
  }
  const statuses = collections.map(({ status }) => status);
  const restarts: Record<string, number> = {};
  for (const [reason, count] of statuses.flatMap((status) => Object.entries(status.restarts))) {
    restarts[reason] = (restarts[reason] ?? 0) + count;
  }
  return {
    cluster,
    key,
    lastResourceVersion: null,
    synced: collections.every(({ synced }) => synced),
    objects: collections.reduce((sum, { objects }) => sum + objects, 0),
    status: {
      phase: phases.find((phase) => statuses.some((status) => status.phase === phase)) ?? 'IDLE',
      lastEventAt: extreme(Math.max, statuses, 'lastEventAt'),
      lastSignAt: extreme(Math.min, statuses, 'lastSignAt'),
      staleSince: extreme(Math.min, statuses, 'staleSince'),
      error: errorOf(collections),
      restarts,
      refused: statuses.every(({ refused }) => refused),
    },
    collections,
  };
}

function extreme(
  of: (...values: number[]) => number,
  statuses: readonly IngestStatus[],
  member: 'lastEventAt' | 'lastSignAt' | 'staleSince',
): number | null {
  const values = statuses.flatMap((status) => status[member] ?? []);
  return values.length === 0 ? null : of(...values);
}

/** The errors of the failed collections, each with its namespace. */
function errorOf(collections: readonly CollectionProgress[]): string | null {
  const failed = collections.flatMap(({ handle, status }) =>
    status.error === null ? [] : [{ namespace: handle.namespace, error: status.error }],
  );
  return failed.length === 0 ? null : failed.map(({ namespace, error }) => `${namespace}: ${error}`).join('; ');
}
