/**
 * A resource: a served collection, as one API server announces it. Plain data, safe to send between threads.
 */
import { namePattern } from '../../base/text/name-pattern.ts';

/** The GVR of client-go, with its properties from discovery. */
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

/** Reverses `resourceKey`: `deployments.apps` -> [deployments, apps]. A plural has no dots, so the first dot ends it. */
export function splitResourceKey(key: string): readonly [plural: string, group: string] {
  const dot = key.indexOf('.');
  return dot === -1 ? [key, ''] : [key.slice(0, dot), key.slice(dot + 1)];
}

/** Does this name select the resource? It is `plural`, `plural.group` or the kind; `*` matches any text, and case is ignored. */
export function isNamed(resource: Pick<Resource, 'group' | 'plural' | 'kind'>, name: string): boolean {
  const expression = namePattern(name, 'i');
  const names = [resource.plural, resourceKey(resource), `${resource.plural}.${resource.group}`, resource.kind];
  return names.some((each) => expression.test(each));
}

/** `v1` or `apps/v1`, as manifests write it. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
