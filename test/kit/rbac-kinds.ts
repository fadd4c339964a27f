/** The kinds of RBAC in an engine fixture, and their objects. */
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { describedCrd, made, type Schema } from './engine-fixture.ts';

const group = 'rbac.authorization.k8s.io';
export const rolesKey = `roles.${group}`;
export const clusterRolesKey = `clusterroles.${group}`;
export const roleBindingsKey = `rolebindings.${group}`;
export const clusterRoleBindingsKey = `clusterrolebindings.${group}`;

export function rbacKinds(cluster = 'east'): readonly DescribedResource[] {
  const kind = (name: string, namespaced: boolean): DescribedResource =>
    describedCrd({ cluster, group, kind: name, plural: `${name.toLowerCase()}s`, namespaced, properties: {} });
  return [kind('Role', true), kind('ClusterRole', false), kind('RoleBinding', true), kind('ClusterRoleBinding', false)];
}

export interface GivenRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A ClusterRole, or a Role of a namespace. */
export function role(name: string, namespace: string | null, ...rules: readonly GivenRule[]): Schema {
  return made({ name, namespace, rules });
}

/** A binding of users to a ClusterRole: a RoleBinding in a namespace, or a ClusterRoleBinding. */
export function binding(name: string, namespace: string | null, clusterRole: string, ...users: string[]): Schema {
  return made({
    name,
    namespace,
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: clusterRole },
    subjects: users.map((user) => ({ apiGroup: group, kind: 'User', name: user })),
  });
}
