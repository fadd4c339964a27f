import type { Resource } from '../../catalog/resources/resource.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';

/** The path to list and watch: of one namespace, or of the whole resource where `namespace` is empty. */
export function collectionPath(resource: Resource, { namespace }: { readonly namespace: string }): string {
  return namespace === '' ? resourcePath(resource) : resourcePath(resource, namespace);
}
