/** The objects of the consistency test, the filters of its clients, and which objects a user may see by the roles in the cluster. */

/** An object as a client shows it, or its body in the API server or the store. */
export interface Shown {
  readonly id: string;
  readonly kind?: string;
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>> | null;
  };
  readonly data?: Readonly<Record<string, string>> | null;
}

export const namespaces = ['a', 'b', 'c'] as const;
export const names = Array.from({ length: 12 }, (_, index) => `o${index}`);
export const colors = ['red', 'green', 'blue'] as const;
/** The names of objects that one of the roles tells. */
export const named = ['o1', 'o2'];

/** The kinds that clients follow, with the paths of their collections. */
export const kinds = ['ConfigMap', 'ServiceAccount'] as const;
export type WatchedKind = (typeof kinds)[number];

export function collection(kind: string, namespace: string): string {
  return `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
}

/** What a document selects of an object. */
export type Selection = 'narrow' | 'wide' | 'related';

export const selections: Readonly<Record<Selection, string>> = {
  narrow: 'id kind metadata { namespace name resourceVersion }',
  wide: 'id kind metadata { namespace name uid resourceVersion labels }',
  // Its result depends on the caller, so it is executed for each.
  related: 'id kind metadata { namespace name resourceVersion } usedBy(first: 1) { totalCount } viewerCan(verb: "get")',
};

/** One line for an object, with what the selection has of it. */
export function lineOf({ kind, metadata, data }: Shown, selection: Selection): string {
  const { namespace, name, uid, resourceVersion, labels } = metadata;
  const line = `${kind} ${namespace}/${name} at ${resourceVersion}`;
  if (selection !== 'wide') return line;
  return `${line} ${uid} ${labels?.['color']} ${kind === 'ConfigMap' ? data?.['value'] : ''}`;
}

export interface WatchedFilter {
  readonly filter: object | null;
  matches(object: Shown): boolean;
}

const color = ({ metadata: { labels } }: Shown): string | undefined => labels?.['color'];

const isIn =
  (...among: readonly string[]) =>
  ({ metadata }: Shown): boolean =>
    among.includes(metadata.namespace ?? '');

export const filters: readonly WatchedFilter[] = [
  { filter: null, matches: () => true },
  { filter: { namespaces: ['a'] }, matches: isIn('a') },
  { filter: { namespaces: ['b', 'c'] }, matches: isIn('b', 'c') },
  { filter: { labelSelector: 'color=red' }, matches: (object) => color(object) === 'red' },
  { filter: { labelSelector: 'color!=red' }, matches: (object) => color(object) !== 'red' },
  {
    filter: { labelSelector: 'color in (green,blue)', namespaces: ['a', 'b'] },
    matches: (object) => ['green', 'blue'].includes(color(object) ?? '') && isIn('a', 'b')(object),
  },
  { filter: { metadata: { name: { in: named } } }, matches: ({ metadata }) => named.includes(metadata.name) },
  {
    filter: { not: { metadata: { name: { startsWith: 'o1' } } } },
    matches: ({ metadata }) => !metadata.name.startsWith('o1'),
  },
  {
    filter: { or: [{ labelSelector: 'color=blue' }, { namespaces: ['c'] }] },
    matches: (object) => color(object) === 'blue' || isIn('c')(object),
  },
];

/** A role binding, as far as it counts here. */
export interface Binding {
  readonly metadata: { readonly namespace?: string; readonly name: string };
  readonly roleRef: { readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

/** What each ClusterRole lets a user see. */
const roles: Readonly<Record<string, (object: Shown) => boolean>> = {
  everything: () => true,
  maps: ({ kind }) => kind === 'ConfigMap',
  accounts: ({ kind }) => kind === 'ServiceAccount',
  named: ({ metadata }) => named.includes(metadata.name),
};

export const roleNames = Object.keys(roles);

export const roleManifests: readonly object[] = [
  clusterRole('everything', ['configmaps', 'serviceaccounts']),
  clusterRole('maps', ['configmaps']),
  clusterRole('accounts', ['serviceaccounts']),
  clusterRole('named', ['configmaps', 'serviceaccounts'], named),
];

function clusterRole(name: string, resources: readonly string[], resourceNames?: readonly string[]): object {
  const rule = { apiGroups: [''], resources, verbs: ['get', 'list', 'watch'] };
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [resourceNames === undefined ? rule : { ...rule, resourceNames }],
  };
}

export const administrator = 'admin';
export const users = [administrator, 'alice', 'bob', 'carol'] as const;

/** May the user see the object, by these bindings? */
export function maySee(user: string, bindings: readonly Binding[], object: Shown): boolean {
  if (user === administrator) return true;
  return bindings.some(
    ({ metadata, roleRef, subjects }) =>
      (metadata.namespace === undefined || metadata.namespace === object.metadata.namespace) &&
      subjects?.some(({ name }) => name === user) === true &&
      roles[roleRef.name]?.(object) === true,
  );
}

export function bindingManifest(user: string, role: string, namespace: string | null): object {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: namespace === null ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `${user}-${role}`, ...(namespace === null ? {} : { namespace }) },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  };
}

export function bindingPath(user: string, role: string, namespace: string | null): string {
  return `${bindingCollection(namespace)}/${user}-${role}`;
}

export function bindingCollection(namespace: string | null): string {
  const group = '/apis/rbac.authorization.k8s.io/v1';
  return namespace === null ? `${group}/clusterrolebindings` : `${group}/namespaces/${namespace}/rolebindings`;
}
