/**
 * The filter of a list with what the caller's scope says of clusters and namespaces. A route is chosen for it, so a list of a caller
 * who sees few namespaces reads their rows. It decides no row: every statement has the whole condition of the scope
 * (src/query/sql/counts.ts).
 */
import { conjunction } from '../plan/comparison.ts';
import type { Filter } from '../plan/filter.ts';
import type { KindView } from '../sql/view.ts';

/** With more namespaces, an index over the whole kind is better. */
const mostNamespaces = 100;

/** The filter, and conditions on the clusters and namespaces of which the caller sees rows. */
export function scopedFilter({ visible }: KindView, filter: Filter): Filter {
  if (visible.rows !== 'some') return filter;
  const clusters: Filter = { kind: 'clusters', in: [...visible.clusters.keys()] };
  const namespaces = new Set<string>();
  for (const part of visible.clusters.values()) {
    // Names under '' may be in any namespace.
    if (part === 'all' || part.names.has('')) return conjunction([filter, clusters]);
    for (const namespace of [...part.namespaces, ...part.names.keys()]) namespaces.add(namespace);
  }
  if (namespaces.size > mostNamespaces) return conjunction([filter, clusters]);
  return conjunction([filter, clusters, { kind: 'namespaces', in: [...namespaces] }]);
}
