/**
 * Selects the ingested resources by lists of names. A name is `plural`, `plural.group`, the kind, a short name or a category. `*` matches
 * any text of the first three, and case is ignored. A name selects every resource that has it.
 */
import { servedSets } from '../../catalog/names/reserved-names.ts';
import { didYouMean } from '../../catalog/paths/did-you-mean.ts';
import { isNamed, type Resource, resourceKey } from '../../catalog/resources/resource.ts';

export interface Selection {
  /** Empty or absent: everything. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** resourceKeys that are ingested in any case. */
  readonly required?: readonly string[] | undefined;
}

type Named = Pick<Resource, 'group' | 'plural' | 'kind'> & Partial<Pick<Resource, 'shortNames' | 'categories'>>;

function isSelected(resource: Named, name: string): boolean {
  return isNamed(resource, name) || otherNames(resource).includes(name.toLowerCase());
}

/** API servers take both in lower case only. */
function otherNames({ shortNames = [], categories = [] }: Named): readonly string[] {
  return [...shortNames, ...categories];
}

/** Excluded unless named: hundreds of writes a second in a large cluster, and of no interest to consoles. */
const unlessNamed: readonly string[] = ['leases.coordination.k8s.io'];

/** Never ingested, also if it is named: a gateway would read from itself what it has already, as its own account. */
function isServedByPortolan({ kind, plural }: Named): boolean {
  return kind === servedSets.kind && plural === servedSets.plural;
}

/**
 * True if this resource is ingested. Exclusion wins over inclusion, unless the resource is required; `*` alone does not count as naming a
 * resource.
 */
export function selects(resource: Named, { include = [], exclude = [], required = [] }: Selection): boolean {
  if (isServedByPortolan(resource)) return false;
  if (required.includes(resourceKey(resource))) return true;
  if (exclude.some((pattern) => isSelected(resource, pattern))) return false;
  const named = include.some((pattern) => pattern !== '*' && isSelected(resource, pattern));
  if (named) return true;
  return (include.length === 0 || include.includes('*')) && !unlessNamed.includes(resourceKey(resource));
}

/** A name of --kinds that selects no resource, with the most similar name that would. */
export interface UnmatchedName {
  readonly name: string;
  readonly similar: string | null;
}

/** The names of `include` that select none of these resources. */
export function unmatchedNames(resources: readonly Named[], { include = [] }: Selection): readonly UnmatchedName[] {
  const unmatched = include.filter((pattern) => !resources.some((resource) => isSelected(resource, pattern)));
  if (unmatched.length === 0) return [];
  const names = resources.flatMap((resource) => {
    return [resource.plural, resourceKey(resource), resource.kind, ...otherNames(resource)];
  });
  return unmatched.map((name) => ({ name, similar: didYouMean(name, names) }));
}
