/**
 * What the catalog is assembled from, read back from the store: so that the serve role, and a restart, need no discovery.
 */
import type { DescribedResource } from '../catalog/catalog.ts';
import type { IngestStatus, Lease, ResourceProgress } from './types.ts';

export interface DescribedCatalog {
  /** Moves with every change of a description. */
  readonly version: number;
  readonly described: readonly DescribedResource[];
}

/** The catalog version alone, to see whether reading all of it is worth while. */
export async function readCatalogVersion(lease: Lease): Promise<number> {
  const [row] = await lease.all({ sql: 'SELECT catalog_version FROM state', params: [] });
  return Number(row?.[0]);
}

/** The descriptions of all resources of all clusters, sorted by cluster and kind. */
export async function readDescribed(lease: Lease): Promise<DescribedCatalog> {
  const version = await readCatalogVersion(lease);
  const rows = await lease.all({
    sql: `SELECT d.json FROM resource r JOIN description d ON d.resource = r.id JOIN kind k ON k.id = r.kind
          ORDER BY r.cluster, k.key`,
    params: [],
  });
  return { version, described: rows.map(([json]) => JSON.parse(String(json)) as DescribedResource) };
}

/** How ingest stands with each resource: small rows, whatever the size of the descriptions. */
export async function readResourceProgress(lease: Lease): Promise<readonly ResourceProgress[]> {
  const rows = await lease.all({
    sql: `SELECT r.id, r.cluster, k.key, r.last_rv, r.synced, r.objects, r.status FROM resource r JOIN kind k ON k.id = r.kind
          ORDER BY r.cluster, k.key`,
    params: [],
  });
  return rows.map(([id, cluster, key, lastRv, synced, objects, status]) => ({
    handle: { id: Number(id), cluster: String(cluster), key: String(key) },
    lastResourceVersion: lastRv === null || lastRv === undefined ? null : String(lastRv),
    synced: synced === 1,
    objects: Number(objects),
    status: JSON.parse(String(status)) as IngestStatus,
  }));
}
