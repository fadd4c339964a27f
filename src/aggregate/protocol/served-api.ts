/** The kind that the door serves, as its group and version name it. */
import { servedSets } from '../../catalog/names/reserved-names.ts';

/** The group and the version are options; the names of the kind are not. */
export interface ServedApi {
  readonly group: string;
  readonly version: string;
}

export const { kind, plural } = servedSets;
export const listKind = 'ShadowResourceList';
export const singular = 'shadowresource';

/**
 * The verbs of discovery. `delete` and `deletecollection` are left out, although kubectl deletes: it does not look at them. The garbage
 * collector, the controller of quotas and that of namespaces look at them. So they ask nothing of the door, and an ill door does not hold
 * them up.
 */
export const discoveredVerbs = ['create', 'get', 'list', 'patch', 'update', 'watch'] as const;

/** `shadow.portolan.dev/v1alpha1` */
export function apiVersionOf({ group, version }: ServedApi): string {
  return `${group}/${version}`;
}

/** `shadowresources.shadow.portolan.dev`, as messages of Kubernetes name the resource. */
export function resourceOf({ group }: ServedApi): string {
  return `${plural}.${group}`;
}
