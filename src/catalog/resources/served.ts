/** Selects which served resources are ingested, and in which version. */
import { type Resource, resourceKey } from './resource.ts';

/** A version of a resource as discovery announces it. */
export interface ServedLike extends Resource {
  /** True for the version that the API server prefers. */
  readonly preferred?: boolean;
}

interface SkippedResource {
  readonly resource: ServedLike;
  /** Part of a sentence, for users. */
  readonly reason: string;
}

/** Resources that two groups serve as the same objects, as `plural.group`. The first is left out if the second is served. */
const sameObjects: readonly (readonly [string, string])[] = [
  ['events.events.k8s.io', 'events'],
  ['ingresses.extensions', 'ingresses.networking.k8s.io'],
  ['networkpolicies.extensions', 'networkpolicies.networking.k8s.io'],
  ['daemonsets.extensions', 'daemonsets.apps'],
  ['deployments.extensions', 'deployments.apps'],
  ['replicasets.extensions', 'replicasets.apps'],
  ['podsecuritypolicies.extensions', 'podsecuritypolicies.policy'],
  ['roles.authorization.openshift.io', 'roles.rbac.authorization.k8s.io'],
  ['rolebindings.authorization.openshift.io', 'rolebindings.rbac.authorization.k8s.io'],
  ['clusterroles.authorization.openshift.io', 'clusterroles.rbac.authorization.k8s.io'],
  ['clusterrolebindings.authorization.openshift.io', 'clusterrolebindings.rbac.authorization.k8s.io'],
  ['securitycontextconstraints', 'securitycontextconstraints.security.openshift.io'],
];

/**
 * One version of every resource that can be listed: the preferred one, else the most stable and newest. A resource without the
 * verb `watch` is included, and is polled. Subresources and other versions are left out without a diagnostic.
 */
export function chooseResources(served: readonly ServedLike[]): {
  readonly chosen: readonly Resource[];
  readonly skipped: readonly SkippedResource[];
} {
  const best = new Map<string, ServedLike>();
  const skipped: SkippedResource[] = [];
  const unlisted = new Map<string, ServedLike>();
  for (const resource of served) {
    if (resource.plural.includes('/')) continue;
    const key = resourceKey(resource);
    if (!resource.verbs.includes('list')) {
      unlisted.set(key, resource);
      continue;
    }
    const other = best.get(key);
    if (other === undefined || isBetter(resource, other)) best.set(key, resource);
  }
  for (const [key, resource] of unlisted) {
    if (!best.has(key)) skipped.push({ resource, reason: 'it cannot be listed' });
  }
  const doubles = new Map(sameObjects);
  const chosen: Resource[] = [];
  for (const [key, resource] of best) {
    const same = doubles.get(key);
    if (same !== undefined && best.has(same)) skipped.push({ resource, reason: `its objects are those of ${same}` });
    else chosen.push(resource);
  }
  return { chosen, skipped };
}

function isBetter(resource: ServedLike, other: ServedLike): boolean {
  if ((resource.preferred === true) !== (other.preferred === true)) return resource.preferred === true;
  return compareVersions(resource.version, other.version) > 0;
}

const versionText = /^v([0-9]+)(?:(alpha|beta)([0-9]+))?$/;

/** Kubernetes' order of versions: v2 > v1 > v2beta1 > v1beta2 > v2alpha1 > anything else by text. Positive when `a` comes first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionText.exec(a), versionText.exec(b)];
  if (left === null || right === null) {
    if (left === null && right === null) return a < b ? 1 : a > b ? -1 : 0;
    return left === null ? -1 : 1;
  }
  return (
    stability(left[2]) - stability(right[2]) ||
    Number(left[1]) - Number(right[1]) ||
    Number(left[3] ?? 0) - Number(right[3] ?? 0)
  );
}

function stability(stage: string | undefined): number {
  return stage === undefined ? 2 : stage === 'beta' ? 1 : 0;
}
