/**
 * The clusters that a list depends on, and those of them that are not ready. Resolvers, subscriptions and prepared answers share
 * it.
 */
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/resources/catalog.ts';
import { clustersIn, type Filter } from '../query/plan/filter.ts';
import { missingOf, type Readiness } from '../query/read/readiness.ts';
import type { Missing } from './answers/answer-extensions.ts';
import type { Operation } from './operation.ts';
import type { OperationSource } from './operation-source.ts';
import type { ServedKinds } from './served-kinds.ts';

/** The clusters that serve a kind, and the configured clusters. An operation has both. */
export interface KnownClusters {
  readonly generation: Pick<ServedKinds, 'clusters'>;
  readonly source: Pick<OperationSource, 'isConfigured'>;
}

/**
 * The clusters that serve the kind. If a top-level conjunct of the filter names clusters, only the named ones. It is empty when
 * no named cluster serves the kind; then the list has nothing to wait for.
 * @throws PortolanError as requireClusters
 */
export function servingClusters(known: KnownClusters, kind: CatalogKind, filter: Filter): readonly string[] {
  const named = clustersIn(filter);
  if (named === null) return kind.clusters;
  requireClusters(known, named);
  return kind.clusters.filter((cluster) => named.includes(cluster));
}

/** @throws PortolanError CACHE_NOT_READY or BAD_USER_INPUT for a named cluster that serves no kind. */
export function requireClusters(known: KnownClusters, named: readonly string[]): void {
  const unknown = named.find((cluster) => !known.generation.clusters.has(cluster));
  if (unknown !== undefined) throw unservedCluster(known, unknown);
}

/**
 * The refusal of a cluster that serves no kind. A configured cluster is CACHE_NOT_READY, because it may still be reached. Another one is
 * BAD_USER_INPUT, because it would never be ready.
 */
export function unservedCluster({ generation, source }: KnownClusters, cluster: string): PortolanError {
  if (source.isConfigured(cluster)) return new PortolanError('CACHE_NOT_READY', notReached(cluster));
  const served = [...generation.clusters].join(', ');
  return new PortolanError('BAD_USER_INPUT', `There is no cluster ${JSON.stringify(cluster)}; there is ${served}.`);
}

/** Says that a configured cluster serves no kind yet. */
export function notReached(cluster: string): string {
  return `The cluster ${JSON.stringify(cluster)} has not been read yet; try again in a moment. \`clusters { name error }\` says why, if it cannot be reached.`;
}

/**
 * Those of the kinds that a question waits for in the cells that it reads. A kind that only clusters of other cells serve has no object
 * there, and is no reason to wait.
 * @param cells that are read
 */
export function keysServedIn(
  { generation, source }: Pick<Operation, 'generation' | 'source'>,
  cells: readonly { readonly operation: Pick<Operation, 'source'> }[],
  keys: readonly string[],
): readonly string[] {
  const indexes = new Set(cells.map(({ operation }) => operation.source.cell?.index));
  if (indexes.has(undefined)) return keys;
  return keys.filter((key) => {
    const clusters = generation.kind(key)?.clusters ?? [];
    return clusters.length === 0 || clusters.some((cluster) => indexes.has(source.cellOf?.(cluster) ?? 0));
  });
}

/**
 * The resources that are missing from the answer of a list over this kind.
 * @param found the result of `readiness` for this kind, possibly among other kinds.
 * @throws PortolanError CACHE_NOT_READY when no cluster that the list depends on has synced the kind.
 */
export function missingFrom(
  known: KnownClusters,
  kind: CatalogKind,
  filter: Filter,
  found: readonly Readiness[],
): readonly Missing[] {
  const clusters = servingClusters(known, kind, filter);
  if (clusters.length === 0) return [];
  const relevant = found.filter(({ key, cluster }) => key === kind.key && clusters.includes(cluster));
  return missingOf(relevant, [kind.key], clusters);
}
