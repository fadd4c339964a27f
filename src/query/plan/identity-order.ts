/**
 * The identity order, which breaks every tie: cluster, group, plural, namespace, name, compared by code point. A cluster-scoped
 * object has the empty string as its namespace.
 */
import { splitResourceKey } from '../../catalog/resources/resource.ts';
import { compareText } from '../../catalog/values/values.ts';
import type { Identity } from './filter.ts';

export function compareIdentity(a: Identity, b: Identity): -1 | 0 | 1 {
  return (
    compareText(a.cluster, b.cluster) ||
    compareKinds(a.key, b.key) ||
    compareText(a.namespace ?? '', b.namespace ?? '') ||
    compareText(a.name, b.name)
  );
}

/** Orders two resource keys by group, then plural. */
export function compareKinds(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  const [pluralA, groupA] = splitResourceKey(a);
  const [pluralB, groupB] = splitResourceKey(b);
  return compareText(groupA, groupB) || compareText(pluralA, pluralB);
}
