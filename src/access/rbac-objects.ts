/** Reads Roles, ClusterRoles and their bindings from the bodies that an API server serves. */
import { recordOr, records, strings } from '../base/json.ts';
import type { UserInfo } from './caller.ts';
import type { PolicyRule } from './policy-rule.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** The resourceKeys of the kinds that decide rights. */
export const rbacKeys: readonly string[] = ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'].map(
  (plural) => `${plural}.${rbacGroup}`,
);

/** A Role or a ClusterRole. */
export interface RoleObject {
  /** Empty for a ClusterRole. */
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

/** A RoleBinding or a ClusterRoleBinding. */
export interface BindingObject {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly role: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string };
  /** The subjects as `subjectKey` writes them. */
  readonly subjects: readonly string[];
}

const serviceAccounts = 'system:serviceaccount:';

/** `u:alice`, `g:devs`. A service account is the user of its name, as it is for the API server. */
function subjectKey(kind: 'User' | 'Group', name: string): string {
  return `${kind === 'User' ? 'u' : 'g'}:${name}`;
}

/** The keys of all subjects that mean this user. */
export function subjectsOf({ user, groups }: UserInfo): readonly string[] {
  return [subjectKey('User', user), ...new Set(groups.map((group) => subjectKey('Group', group)))];
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  /** Of a service account; else empty. */
  readonly namespace: string;
  readonly name: string;
}

/** The subject that a key of `BindingObject.subjects` means. A user named like a service account is that account. */
export function subjectOf(key: string): Subject {
  const name = key.slice(2);
  if (key.startsWith('g:')) return { kind: 'Group', namespace: '', name };
  const account = readServiceAccountName(name);
  return account === null ? { kind: 'User', namespace: '', name } : { kind: 'ServiceAccount', ...account };
}

/** The subject of the binding that means the user; null if none does. */
export function matchingSubject({ subjects }: BindingObject, user: UserInfo): Subject | null {
  const key = subjectsOf(user).find((each) => subjects.includes(each));
  return key === undefined ? null : subjectOf(key);
}

/** `system:serviceaccount:shop:robot` -> robot in shop; null for the name of another user. */
export function readServiceAccountName(user: string): { readonly namespace: string; readonly name: string } | null {
  if (!user.startsWith(serviceAccounts)) return null;
  const [namespace = '', name = '', ...more] = user.slice(serviceAccounts.length).split(':');
  return namespace === '' || name === '' || more.length > 0 ? null : { namespace, name };
}

/** @param body the object as served. Aggregated ClusterRoles have their rules from the API server's controller. */
export function readRole(namespace: string, name: string, body: unknown): RoleObject {
  return { namespace, name, rules: records(recordOr(body)['rules']).map(readRule) };
}

/** Null for a binding to a role of an unknown kind: it grants nothing. @param body the object as served. */
export function readBinding(namespace: string, name: string, body: unknown): BindingObject | null {
  const { roleRef, subjects } = recordOr(body);
  const { kind, name: role } = recordOr(roleRef);
  if ((kind !== 'Role' && kind !== 'ClusterRole') || typeof role !== 'string') return null;
  // A ClusterRoleBinding cannot refer to a Role: there is no namespace to find it in.
  if (kind === 'Role' && namespace === '') return null;
  const keys = records(subjects).flatMap((subject) => readSubject(subject, namespace));
  return { namespace, name, role: { kind, name: role }, subjects: [...new Set(keys)] };
}

/** The namespace of a service account is that of the binding if the subject states none. */
function readSubject({ kind, name, namespace }: Record<string, unknown>, within: string): readonly string[] {
  if (typeof name !== 'string') return [];
  if (kind === 'User' || kind === 'Group') return [subjectKey(kind, name)];
  if (kind !== 'ServiceAccount') return [];
  const home = typeof namespace === 'string' && namespace !== '' ? namespace : within;
  return home === '' ? [] : [subjectKey('User', `${serviceAccounts}${home}:${name}`)];
}

function readRule(rule: Record<string, unknown>): PolicyRule {
  return {
    verbs: strings(rule['verbs']),
    apiGroups: strings(rule['apiGroups']),
    resources: strings(rule['resources']),
    resourceNames: strings(rule['resourceNames']),
    nonResourceURLs: strings(rule['nonResourceURLs']),
  };
}
