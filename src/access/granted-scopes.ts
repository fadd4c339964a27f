/**
 * The scopes of a caller, from the grants of the caller in each cluster.
 *
 *   access   rows
 *   list     `list` in the namespace of the row, or `list` or `get` by the name of the row
 *   get      `get` or `list` in the namespace of the row, or by its name
 *   watch    those of `list` for which the caller has `watch` too
 *
 * `get` of everything in a namespace without `list` shows no row in lists: the API server would not tell the names either.
 *
 * A Namespace is in itself. For a request to one Namespace, the API server takes its name as the namespace of the request
 * (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go). So a Namespace is in lists too if a binding in it grants `get`.
 */

import type { Grants, NamedObjects, Reach } from './grants.ts';
import { resourceOf } from './policy-rule.ts';
import type { Access, ClusterScope, PartScope, Scope, Scopes } from './scope.ts';
import { allRows, noRows } from './scope.ts';

/**
 * @param grants by cluster. Rows of other clusters are not visible.
 * @param isComplete these are all clusters of the gateway.
 */
export function grantedScopes(grants: ReadonlyMap<string, Grants>, isComplete: boolean): Scopes {
  const id = JSON.stringify([...grants].map(([cluster, grant]) => [cluster, grant.id]));
  const known = new Map<string, Scope>();
  // Many kinds have the same namespaces. Then they share a scope, its text and its parameters.
  const ofNamespaces = new Map<ReadonlySet<string>, ClusterScope>();
  const shared = new Map<string, Scope>();
  const scopeOf = (key: string, access: Access): Scope => {
    const clusters = new Map<string, ClusterScope>();
    for (const [cluster, granted] of grants) {
      const part = clusterScope(granted, key, access, partOf);
      if (part === 'all' || part.namespaces.size > 0 || part.names.size > 0) clusters.set(cluster, part);
    }
    if (clusters.size === 0) return noRows;
    const parts = [...clusters.values()];
    if (isComplete && clusters.size === grants.size && parts.every((part) => part === 'all')) return allRows;
    const text = JSON.stringify([...clusters].map(([cluster, part]) => [cluster, numberOf(part)]));
    const known = shared.get(text) ?? { rows: 'some', clusters };
    shared.set(text, known);
    return known;
  };
  const partOf = (namespaces: Reach, names: NamedObjects): ClusterScope => {
    if (namespaces === 'all') return 'all';
    const known = names.size === 0 ? ofNamespaces.get(namespaces) : undefined;
    const part = known ?? { namespaces, names: withoutNamespaces(names, namespaces) };
    if (names.size === 0) ofNamespaces.set(namespaces, part);
    return part;
  };
  return {
    id: `rbac ${id}${isComplete ? '' : ' of some'}`,
    of(key, access = 'list') {
      const of = `${access} ${key}`;
      const found = known.get(of) ?? scopeOf(key, access);
      known.set(of, found);
      return found;
    },
  };
}

type PartOf = (namespaces: Reach, names: NamedObjects) => ClusterScope;

function clusterScope(grants: Grants, key: string, access: Access, partOf: PartOf): ClusterScope {
  const of = resourceOf(key);
  if (key === 'namespaces') return namespacesScope(grants, of, access);
  switch (access) {
    case 'get':
      return partOf(grants.reach(['get', 'list'], of), grants.named(['get', 'list'], of));
    case 'list':
      return partOf(grants.reach(['list'], of), grants.named(['get', 'list'], of));
    case 'watch': {
      const listed = clusterScope(grants, key, 'list', partOf);
      return both(listed, partOf(grants.reach(['watch'], of), grants.named(['watch'], of)));
    }
  }
}

/**
 * Namespaces are cluster-scoped: their scope has names alone. A RoleBinding counts for requests to the one Namespace that it is in.
 */
function namespacesScope(grants: Grants, of: { group: string; resource: string }, access: Access): ClusterScope {
  const visible = (whole: readonly string[], named: readonly string[], inItself: string): ClusterScope => {
    if (grants.reach(whole, of) === 'all') return 'all';
    const names = new Set(grants.boundIn([inItself], of));
    for (const name of grants.named(named, of).get('') ?? []) names.add(name);
    for (const [namespace, some] of grants.named([inItself], of)) if (some.has(namespace)) names.add(namespace);
    return { namespaces: new Set(), names: names.size === 0 ? new Map() : new Map([['', names]]) };
  };
  if (access === 'get') return visible(['get', 'list'], ['get', 'list'], 'get');
  const listed = visible(['list'], ['get', 'list'], 'get');
  return access === 'list' ? listed : both(listed, visible(['watch'], ['watch'], 'watch'));
}

/** The rows that are visible in both. */
function both(a: ClusterScope, b: ClusterScope): ClusterScope {
  if (a === 'all') return b;
  if (b === 'all') return a;
  if (a.namespaces === b.namespaces && a.names.size === 0 && b.names.size === 0) return a;
  const names = new Map<string, Set<string>>();
  const add = (namespace: string, name: string): void => {
    const some = names.get(namespace) ?? new Set();
    names.set(namespace, some);
    some.add(name);
  };
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    for (const [namespace, some] of one.names) {
      for (const name of some) {
        const everywhere = other.names.get('')?.has(name) === true;
        if (everywhere || (namespace !== '' && isIn(other, namespace, name))) add(namespace, name);
        // A name of all namespaces is visible in the namespaces of the other.
        else if (namespace === '') for (const each of other.namespaces) add(each, name);
      }
    }
  }
  return { namespaces: a.namespaces.intersection(b.namespaces), names };
}

function isIn({ namespaces, names }: PartScope, namespace: string, name: string): boolean {
  return namespaces.has(namespace) || names.get(namespace)?.has(name) === true;
}

/** The names that the namespaces do not cover. */
function withoutNamespaces(names: NamedObjects, namespaces: ReadonlySet<string>): NamedObjects {
  return new Map([...names].filter(([namespace]) => !namespaces.has(namespace)));
}

const numbers = new WeakMap<object, number>();
let last = 0;

function numberOf(part: ClusterScope): number {
  if (part === 'all') return 0;
  const known = numbers.get(part);
  if (known !== undefined) return known;
  last += 1;
  numbers.set(part, last);
  return last;
}
