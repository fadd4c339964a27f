/**
 * The clusters that a list depends on, and those of them that are not ready. Resolvers, subscriptions and prepared answers share
 * it.
 */
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/resources/catalog.ts';
import { clustersIn, type Filter } from '../query/plan/filter.ts';
import { missingOf, type Readiness } from '../query/read/readiness.ts';
import type { Missing } from './answers/answer-extensions.ts';
import type { ServedKinds } from './served-kinds.ts';

/**
 * The clusters that serve the kind. If a top-level conjunct of the filter names clusters, only the named ones. It is empty when
 * no named cluster serves the kind; then the list has nothing to wait for.
 * @throws PortolanError BAD_USER_INPUT for a named cluster that serves no kind: it would never be ready.
 */
export function servingClusters(served: ServedKinds, kind: CatalogKind, filter: Filter): readonly string[] {
  const named = clustersIn(filter);
  if (named === null) return kind.clusters;
  requireClusters(served, named);
  return kind.clusters.filter((cluster) => named.includes(cluster));
}

/** @throws PortolanError BAD_USER_INPUT for a named cluster that serves no kind. */
export function requireClusters({ clusters }: Pick<ServedKinds, 'clusters'>, named: readonly string[]): void {
  const unknown = named.find((cluster) => !clusters.has(cluster));
  if (unknown === undefined) return;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `There is no cluster ${JSON.stringify(unknown)}; there is ${[...clusters].join(', ')}.`,
  );
}

/**
 * The resources that are missing from the answer of a list over this kind.
 * @param found the result of `readiness` for this kind, possibly among other kinds.
 * @throws PortolanError CACHE_NOT_READY when no cluster that the list depends on has synced the kind.
 */
export function missingFrom(
  served: ServedKinds,
  kind: CatalogKind,
  filter: Filter,
  found: readonly Readiness[],
): readonly Missing[] {
  const clusters = servingClusters(served, kind, filter);
  if (clusters.length === 0) return [];
  const relevant = found.filter(({ key, cluster }) => key === kind.key && clusters.includes(cluster));
  return missingOf(relevant, [kind.key], clusters);
}
