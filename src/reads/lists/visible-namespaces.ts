/**
 * The namespaces in which a caller may see objects in lists, by the scopes alone. A namespace in which the caller may see nothing is not
 * among them, whether it exists or not.
 *
 *   list pods everywhere, list secrets in shop   ->   * pods, shop secrets
 */
import { type PartScope, partIn } from '../../access/scope.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { View } from '../../query/sql/view.ts';

export interface VisibleNamespace {
  readonly cluster: string;
  /** `*` for all namespaces of the cluster. */
  readonly name: string;
  /** resourceKeys of the kinds of which something is visible, sorted. Those of `*` are not repeated. */
  readonly kinds: readonly string[];
}

/** Those of one cluster, sorted by name, with `*` first. @param kinds with the clusters that serve them */
export function visibleNamespaces(
  view: View,
  kinds: readonly CatalogKind[],
  cluster: string,
): readonly VisibleNamespace[] {
  const everywhere: string[] = [];
  // Many kinds share a part, so each part is looked at once.
  const byPart = new Map<PartScope, string[]>();
  for (const kind of kinds) {
    if (!kind.resource.namespaced || isAbstract(kind) || !kind.clusters.includes(cluster)) continue;
    const part = partIn(view.scopeOf(kind.key, 'list'), cluster);
    if (part === 'all') everywhere.push(kind.key);
    else if (part !== null) byPart.set(part, [...(byPart.get(part) ?? []), kind.key]);
  }
  const found = new Map<string, (readonly string[])[]>();
  for (const [{ namespaces, names }, keys] of byPart) {
    for (const name of namespaces.union(new Set(names.keys()))) {
      // Names under '' are those of single objects in any namespace. They reveal no namespace.
      if (name !== '') found.set(name, [...(found.get(name) ?? []), keys]);
    }
  }
  const named = [...found].map(([name, keys]) => ({ cluster, name, kinds: keys.flat().toSorted() }));
  return [
    ...(everywhere.length === 0 ? [] : [{ cluster, name: '*', kinds: everywhere.toSorted() }]),
    ...named.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  ];
}
