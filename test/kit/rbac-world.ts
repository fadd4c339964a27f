/** Random roles, bindings and requests, with the names that make them meet often. */

import type { UserInfo } from '../../src/access/caller.ts';
import type { PathAttributes, ResourceAttributes } from '../../src/access/policy-rule.ts';
import type { Dice } from '../fuzz/dice.ts';
import { userOf } from './user.ts';

export const rbacNamespaces = ['rbac-a', 'rbac-b', 'rbac-c'];
const users = ['alice', 'bob', 'system:serviceaccount:rbac-a:robot', 'system:serviceaccount:rbac-b:robot'];
const groups = ['devs', 'ops', 'system:serviceaccounts', 'system:serviceaccounts:rbac-a'];
const verbs = ['get', 'list', 'watch', 'create', 'deletecollection'];
const apiGroups = ['', 'apps', 'example.com'];
const resources = ['pods', 'deployments', 'foos', 'namespaces'];
const subresources = ['log', 'scale'];
const names = ['x', 'y', 'rbac-a', ''];
const paths = ['/metrics', '/metrics/cadvisor', '/logs', '/debug/pprof'];

/** Label of the ClusterRoles that one aggregated ClusterRole collects. */
const aggregated = { 'example.com/aggregate-to-all': 'true' };

export interface RbacManifest {
  readonly kind: 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** The path of an object's collection. */
export function rbacPath({ kind, metadata: { namespace } }: RbacManifest): string {
  const plural = `${kind.toLowerCase()}s`;
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `/apis/rbac.authorization.k8s.io/v1${within}/${plural}`;
}

/** A role or a binding under one of a few names, so that a later one replaces it. */
export function randomRbac(dice: Dice): RbacManifest {
  const namespace = dice.pick(rbacNamespaces);
  const head = (kind: RbacManifest['kind'], metadata: RbacManifest['metadata']) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata,
  });
  const name = `r${dice.below(4)}`;
  return dice.choose<RbacManifest>([
    [3, () => ({ ...head('Role', { name, namespace }), rules: rules(dice, false) })],
    [
      3,
      () => ({
        ...head('ClusterRole', { name: `rbac-${name}`, labels: dice.chance(0.3) ? aggregated : {} }),
        rules: rules(dice, true),
      }),
    ],
    [
      1,
      () => ({
        ...head('ClusterRole', { name: 'rbac-all' }),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregated }] },
        rules: null,
      }),
    ],
    [
      4,
      () => ({
        ...head('RoleBinding', { name: `b${dice.below(5)}`, namespace }),
        roleRef: roleRef(dice, dice.chance(0.5) ? 'Role' : 'ClusterRole'),
        subjects: subjects(dice),
      }),
    ],
    [
      2,
      () => ({
        ...head('ClusterRoleBinding', { name: `rbac-b${dice.below(4)}` }),
        roleRef: roleRef(dice, 'ClusterRole'),
        subjects: subjects(dice).filter((subject) => subject['kind'] !== 'ServiceAccount' || 'namespace' in subject),
      }),
    ],
  ]);
}

function roleRef(dice: Dice, kind: 'Role' | 'ClusterRole'): object {
  const name = kind === 'Role' ? `r${dice.below(5)}` : dice.pick(['rbac-r0', 'rbac-r1', 'rbac-r2', 'rbac-all', 'view']);
  return { apiGroup: 'rbac.authorization.k8s.io', kind, name };
}

function subjects(dice: Dice): Record<string, unknown>[] {
  const rbac = { apiGroup: 'rbac.authorization.k8s.io' };
  return dice.times(dice.between(0, 4), () =>
    dice.choose<Record<string, unknown>>([
      [3, () => ({ ...rbac, kind: 'User', name: dice.pick(users) })],
      [3, () => ({ ...rbac, kind: 'Group', name: dice.pick(groups) })],
      [2, () => ({ kind: 'ServiceAccount', name: 'robot', namespace: dice.pick(rbacNamespaces) })],
      [1, () => ({ kind: 'ServiceAccount', name: 'robot' })],
    ]),
  );
}

function rules(dice: Dice, hasPaths: boolean): object[] {
  const some = (from: readonly string[]): string[] =>
    dice.chance(0.3) ? ['*'] : dice.sample(from, dice.between(1, 3));
  return dice.times(dice.between(0, 4), () => {
    if (hasPaths && dice.chance(0.2)) {
      return { verbs: some(['get', 'post']), nonResourceURLs: some([...paths, '/metrics/*', '/logs*', '/debug/**']) };
    }
    const subs = subresources.flatMap((sub) => [`*/${sub}`, ...resources.map((resource) => `${resource}/${sub}`)]);
    return {
      verbs: some(verbs),
      apiGroups: some(apiGroups),
      resources: some([...resources, ...dice.sample(subs, 3)]),
      ...(dice.chance(0.3) ? { resourceNames: dice.sample(names, 2) } : {}),
    };
  });
}

export function randomUser(dice: Dice): UserInfo {
  const masters = dice.chance(0.02) ? ['system:masters'] : [];
  return userOf(dice.pick([...users, 'nobody']), [...dice.sample(groups, dice.below(3)), ...masters]);
}

export function randomRequest(dice: Dice): ResourceAttributes | PathAttributes {
  if (dice.chance(0.15)) {
    return {
      verb: dice.pick(['get', 'post', 'put']),
      path: dice.pick([...paths, '/', '/metricsx', '/api', '/healthz']),
    };
  }
  const or = (from: readonly string[], other: string, chance = 0.05): string =>
    dice.chance(chance) ? other : dice.pick(from);
  return {
    verb: or(verbs, dice.pick(['*', 'impersonate', 'delete'])),
    group: or(apiGroups, dice.pick(['*', 'other.example.com'])),
    resource: or(resources, dice.pick(['*', 'secrets', 'configmaps'])),
    subresource: dice.chance(0.25) ? or(subresources, 'status', 0.2) : '',
    namespace: dice.chance(0.2) ? '' : or(rbacNamespaces, 'nowhere'),
    name: dice.chance(0.5) ? '' : or(names, 'z', 0.2),
  };
}

/** The body of a SubjectAccessReview. */
export function reviewOf({ user, groups, uid, extra }: UserInfo, request: ResourceAttributes | PathAttributes): object {
  const attributes =
    'path' in request ? { nonResourceAttributes: request } : { resourceAttributes: { ...request, version: '*' } };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups, uid, extra, ...attributes },
  };
}
