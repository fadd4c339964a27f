/** The scope of a list as data: which objects of each kind and cluster the caller may see. */
import { type ClusterScope, partIn } from '../../access/scope.ts';
import type { View } from '../../query/sql/view.ts';

/** What is visible of a kind in a cluster. */
export interface ConnectionScope {
  /** resourceKey */
  readonly key: string;
  readonly cluster: string;
  readonly all: boolean;
  /** Sorted. */
  readonly namespaces: readonly string[];
  readonly names: number;
}

/** One entry for each kind and cluster of a list. @param kinds with the clusters that serve them */
export function listScope(
  view: View,
  kinds: readonly { readonly key: string; readonly clusters: readonly string[] }[],
): readonly ConnectionScope[] {
  return kinds.flatMap(({ key, clusters }) => {
    const scope = view.scopeOf(key, 'list');
    return clusters.map((cluster) => ({ key, cluster, ...factsOf(partIn(scope, cluster)) }));
  });
}

function factsOf(part: ClusterScope | null): Omit<ConnectionScope, 'key' | 'cluster'> {
  if (part === null || part === 'all') return { all: part === 'all', namespaces: [], names: 0 };
  const names = [...part.names.values()].reduce((sum, some) => sum + some.size, 0);
  return { all: false, namespaces: [...part.namespaces].sort(), names };
}
