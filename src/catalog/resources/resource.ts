/**
 * A resource: a served collection, as one API server announces it. Plain data, safe to send between threads.
 */

/** What client-go calls a GVR, with what discovery says of it. */
export interface Resource {
  /** API group; the empty string is the core group. */
  readonly group: string;
  /** The one served version that is ingested. An attribute, never part of an identity. */
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** The text that names a resource across versions and clusters: `plural.group`, or `plural` for the core group. */
export function resourceKey(resource: { readonly group: string; readonly plural: string }): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** `v1` or `apps/v1`, as manifests write it. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/**
 * Tests whole names against a pattern, as lists of resources and kinds are written: `*` stands for any text, everything else for
 * itself. `flags` are those of a regular expression: `i` takes letters in any case.
 */
export function namePattern(pattern: string, flags = ''): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, flags);
}
