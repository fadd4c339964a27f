/** Which clusters a list depends on, and which of them cannot answer yet. The same for resolvers, subscriptions and prepared answers. */
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/resources/catalog.ts';
import { clustersIn, type Filter } from '../query/plan/filter.ts';
import { missingOf, type Readiness } from '../query/read/readiness.ts';
import type { Missing } from './operation.ts';
import type { ServedKinds } from './served-kinds.ts';

/**
 * The clusters that serve the kind, of those that the filter names at its top. Empty when none of them serves it: then there is nothing
 * to wait for.
 * @throws PortolanError BAD_USER_INPUT for a cluster that serves no kind at all: it would never answer.
 */
export function servingClusters(served: ServedKinds, kind: CatalogKind, filter: Filter): readonly string[] {
  const asked = clustersIn(filter);
  if (asked === null) return kind.clusters;
  const unknown = asked.find((cluster) => !served.clusters.has(cluster));
  if (unknown === undefined) return kind.clusters.filter((cluster) => asked.includes(cluster));
  throw new PortolanError(
    'BAD_USER_INPUT',
    `There is no cluster ${JSON.stringify(unknown)}; there is ${[...served.clusters].join(', ')}.`,
  );
}

/**
 * The resources of a list over this kind that are missing from its answer.
 * @param found what `readiness` says of the kind, perhaps of others too.
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
  const asked = found.filter(({ key, cluster }) => key === kind.key && clusters.includes(cluster));
  return missingOf(asked, [kind.key], clusters);
}
