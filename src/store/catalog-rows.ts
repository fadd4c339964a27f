/**
 * What the catalog is assembled from, read back from the store: so that the serve role, and a restart, need no discovery.
 */
import type { DescribedResource } from '../catalog/catalog.ts';
import { resourceKey } from '../catalog/resource.ts';
import type { IngestStatus, Lease, ResourceProgress, ResourceState } from './types.ts';

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

/** The same with descriptions. `described` may be handed in, by cluster and resourceKey, to spare parsing it again. */
export async function readResourceStates(
  lease: Lease,
  describedOf?: (cluster: string, key: string) => DescribedResource | undefined,
): Promise<readonly ResourceState[]> {
  const found = await readResourceProgress(lease);
  const find = describedOf ?? (await allDescribed(lease));
  const states: ResourceState[] = [];
  for (const progress of found) {
    const { id, cluster, key } = progress.handle;
    states.push({ ...progress, described: find(cluster, key) ?? (await describedById(lease, id)) });
  }
  return states;
}

async function allDescribed(lease: Lease): Promise<(cluster: string, key: string) => DescribedResource | undefined> {
  const { described } = await readDescribed(lease);
  const byName = new Map(described.map((one) => [`${one.cluster} ${resourceKey(one.resource)}`, one]));
  return (cluster, key) => byName.get(`${cluster} ${key}`);
}

async function describedById(lease: Lease, id: number): Promise<DescribedResource> {
  const [row] = await lease.all({ sql: 'SELECT json FROM description WHERE resource = ?', params: [id] });
  return JSON.parse(String(row?.[0])) as DescribedResource;
}
