/**
 * What the catalog is assembled from, read back from the store: so that the serve role, and a restart, need no discovery.
 */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { Lease } from '../types/lease.ts';

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
    sql: 'SELECT d.json FROM description d JOIN kind k ON k.id = d.kind ORDER BY d.cluster, k.key',
    params: [],
  });
  return { version, described: rows.map(([json]) => JSON.parse(String(json)) as DescribedResource) };
}
