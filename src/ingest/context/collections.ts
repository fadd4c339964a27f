/** The collections of a resource: one over all namespaces, or one for each selected namespace. */
import type { Resource } from '../../catalog/resources/resource.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';

/** The namespaces of a resource's collections, from the selected namespaces. The empty string stands for all. */
export function collectionsOf(
  { namespaced }: Pick<Resource, 'namespaced'>,
  selected: readonly string[],
): readonly string[] {
  return namespaced && selected.length > 0 ? selected : [''];
}

/** The path to list and watch: of one namespace, or of the whole resource where `namespace` is empty. */
export function collectionPath(resource: Resource, { namespace }: { readonly namespace: string }): string {
  return namespace === '' ? resourcePath(resource) : resourcePath(resource, namespace);
}

/** The collection for people: `pods`, or `pods in shop`. Unique in a cluster. */
export function collectionName({ key, namespace }: { readonly key: string; readonly namespace: string }): string {
  return namespace === '' ? key : `${key} in ${namespace}`;
}
