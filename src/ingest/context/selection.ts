/**
 * Which resources are ingested, by lists of names: `plural`, `plural.group` or the kind, with `*` for any text, in any case.
 */
import { namePattern, type Resource, resourceKey } from '../../catalog/resources/resource.ts';

export interface Selection {
  /** Empty or absent: everything. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

type Named = Pick<Resource, 'group' | 'plural' | 'kind'>;

/** Left out unless they are named: hundreds of writes a second in a large cluster, and of no interest to consoles. */
const unlessNamed: readonly string[] = ['leases.coordination.k8s.io'];

/** Is this resource ingested? What is excluded is not, whatever includes it; `*` alone names nothing in particular. */
export function selects(resource: Named, { include = [], exclude = [] }: Selection): boolean {
  if (exclude.some((pattern) => matches(resource, pattern))) return false;
  const named = include.some((pattern) => pattern !== '*' && matches(resource, pattern));
  if (named) return true;
  return (include.length === 0 || include.includes('*')) && !unlessNamed.includes(resourceKey(resource));
}

function matches(resource: Named, pattern: string): boolean {
  const expression = namePattern(pattern, 'i');
  const names = [resource.plural, resourceKey(resource), `${resource.plural}.${resource.group}`, resource.kind];
  return names.some((name) => expression.test(name));
}
