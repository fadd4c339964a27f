/**
 * The kinds that may be members of sets: namespaced ones without those of RBAC, Events and sets. An operator may allow some of them alone.
 *
 *   --set-kinds deployments.apps,services      a ConfigMap cannot be a member
 *
 * Both doors ask here: GraphQL and kubectl. An object that is a member already may leave its set, and be deleted with it.
 */
import { isNamed, resourceKey } from '../../catalog/resources/resource.ts';
import { recordResource } from '../record/set-record.ts';

interface MemberKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/**
 * Why no object of the kind can be a member, as one sentence; null if it can.
 * @param allowed names of kinds as `isNamed` takes them; empty for all
 */
export function refusalOfKind(resource: MemberKind, allowed: readonly string[]): string | null {
  const { group, kind, namespaced } = resource;
  if (!namespaced) return `A ${kind} belongs to no namespace, so it cannot be a member of a set.`;
  const isSet = kind === 'ShadowResource' || (group === recordResource.group && kind === recordResource.kind);
  if (isSet) return 'A set cannot be a member of a set.';
  const isOther =
    group === 'rbac.authorization.k8s.io' || group === 'events.k8s.io' || (group === '' && kind === 'Event');
  if (isOther) return `A ${kind} cannot be a member of a set.`;
  if (allowed.length === 0 || allowed.some((name) => isNamed(resource, name))) return null;
  return `A ${kind} cannot be a member of a set here: --set-kinds does not name ${resourceKey(resource)}.`;
}
