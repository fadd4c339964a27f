/** Which clusters an answer about a kind depends on. */
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/resources/catalog.ts';
import { clustersIn, type Filter } from '../query/plan/filter.ts';
import type { ServedKinds } from './served-kinds.ts';

/**
 * The clusters that serve the kind, of those that the filter restricts itself to at its top; empty when none of them does, and then
 * there is nothing to wait for.
 * @throws PortolanError BAD_USER_INPUT for a cluster that serves nothing at all: waiting for it would be in vain.
 */
export function servingClusters(generation: ServedKinds, kind: CatalogKind, filter: Filter): readonly string[] {
  const asked = clustersIn(filter);
  if (asked === null) return kind.clusters;
  const unknown = asked.find((cluster) => !generation.clusters.has(cluster));
  if (unknown === undefined) return kind.clusters.filter((cluster) => asked.includes(cluster));
  throw new PortolanError(
    'BAD_USER_INPUT',
    `There is no cluster ${JSON.stringify(unknown)}; there is ${[...generation.clusters].join(', ')}.`,
  );
}
