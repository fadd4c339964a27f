/** The cluster of bench/rbac.ts: Pods in many namespaces, roles and bindings, and the callers whom they name. */

export interface RbacWorld {
  readonly pods: number;
  readonly namespaces: number;
  /** RoleBindings in all. */
  readonly bindings: number;
  /** Callers besides the measured ones. */
  readonly callers: number;
}

/** How many namespaces each measured caller sees. The token of a caller is its name. */
export const measured = [15, 500, 5000] as const;
export const nameOf = (namespaces: number): string => `sees-${namespaces}`;
/** A caller who sees everything. */
export const admin = 'admin';
/** The group of the subscribers, and the one namespace that it sees. */
export const subscribers = 'subscribers';
export const subscribed = 'ns-0';

/** The namespaces that a measured caller sees: evenly among all. */
export function seenBy(count: number, namespaces: number): string[] {
  const step = Math.max(1, Math.floor(namespaces / count));
  return Array.from({ length: Math.min(count, namespaces) }, (_, at) => namespaceOf(at * step));
}

export const namespaceOf = (index: number): string => `ns-${index}`;
export const callerOf = (index: number): string => `caller-${index}`;

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
}

const object = (kind: string, metadata: Metadata, rest: object): string =>
  JSON.stringify({
    apiVersion,
    kind,
    metadata: { ...metadata, uid: `${kind}-${metadata.namespace ?? ''}-${metadata.name}`, resourceVersion: '1' },
    ...rest,
  });

export function clusterRoles(): string[] {
  const verbs = ['get', 'list', 'watch'];
  return [
    object(
      'ClusterRole',
      { name: 'view' },
      { rules: [{ verbs, apiGroups: ['', 'apps'], resources: ['pods', 'deployments'] }] },
    ),
    object('ClusterRole', { name: 'all' }, { rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] }),
  ];
}

export function clusterRoleBindings(): string[] {
  return [object('ClusterRoleBinding', { name: 'admin' }, boundTo('all', { kind: 'User', name: admin }))];
}

/** A RoleBinding of a user to the role `view`. */
export function roleBinding(namespace: string, user: string, kind: 'User' | 'Group' = 'User'): string {
  return object('RoleBinding', { name: user, namespace }, boundTo('view', { kind, name: user }));
}

function boundTo(role: string, subject: { readonly kind: string; readonly name: string }): object {
  return {
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: group, ...subject }],
  };
}

/** The RoleBindings, sorted by namespace and name as an API server lists them. */
export function roleBindings({ namespaces, bindings, callers }: RbacWorld): string[] {
  const found: { readonly at: string; readonly text: string }[] = [];
  const bind = (namespace: string, user: string, kind: 'User' | 'Group' = 'User'): void => {
    found.push({ at: `${namespace}/${user}`, text: roleBinding(namespace, user, kind) });
  };
  bind(subscribed, subscribers, 'Group');
  for (const count of measured) {
    for (const namespace of seenBy(count, namespaces)) bind(namespace, nameOf(count));
  }
  for (let at = 0; found.length < bindings; at += 1) {
    bind(namespaceOf((at * 7919) % namespaces), callerOf(at % callers));
  }
  return found.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ text }) => text);
}
