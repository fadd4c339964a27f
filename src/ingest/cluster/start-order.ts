import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { crdKey } from './crd-source.ts';

export const apiServiceKey = 'apiservices.apiregistration.k8s.io';

/** Definitions first, since others depend on them; Events last, since there are many and nothing does. */
export function startOrder(described: readonly DescribedResource[]): readonly DescribedResource[] {
  const rank = ({ resource }: DescribedResource): number => {
    const key = resourceKey(resource);
    if (key === crdKey || key === apiServiceKey || key === 'namespaces') return 0;
    return key === 'events' ? 2 : 1;
  };
  return described.toSorted((a, b) => rank(a) - rank(b));
}
