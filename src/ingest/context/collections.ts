/** The collections of a resource: over all namespaces, or one in each of those that are asked for. */
import type { Resource } from '../../catalog/resources/resource.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';

/** The namespaces of a resource's collections, of those that are asked for: the empty one stands for all. */
export function collectionsOf(
  { namespaced }: Pick<Resource, 'namespaced'>,
  asked: readonly string[],
): readonly string[] {
  return namespaced && asked.length > 0 ? asked : [''];
}

/** The path to list and watch: of one namespace, or of the whole resource where `namespace` is empty. */
export function collectionPath(resource: Resource, { namespace }: { readonly namespace: string }): string {
  return namespace === '' ? resourcePath(resource) : resourcePath(resource, namespace);
}
