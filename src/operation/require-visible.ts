/**
 * Refuses operations of which the caller may see nothing. The decision depends on the rights and the request alone: it is the same for
 * objects, namespaces and kinds that do not exist.
 */

import { rbacKeys } from '../access/rbac-objects.ts';
import { type Access, isVisible, partIn, type Scope } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';
import { shortList } from '../base/text/short-list.ts';
import { isAbstractKey } from '../catalog/groups/api-group.ts';
import { clustersIn, type Filter, type Identity, namespacesIn } from '../query/plan/filter.ts';
import type { View } from '../query/sql/view.ts';
import type { Operation } from './operation.ts';

/** Repeats of reads whose caller turned out to have other rights. The rights to related kinds are asked one after the other. */
export const mostRepeats = 4;
/** Namespaces of one filter for which rights are asked. */
const mostWanted = 20;

/**
 * For a list over these kinds.
 * @param views of the cells that the filter is about
 * @throws PortolanError FORBIDDEN if the caller may list no object of any of the kinds in the clusters and namespaces that the filter names.
 */
export function requireVisible(
  views: readonly View[],
  keys: readonly string[],
  filter: Filter,
  access: Exclude<Access, 'get'> = 'list',
): void {
  const clusters = clustersIn(filter);
  const namespaces = namespacesIn(filter);
  for (const namespace of namespaces?.slice(0, mostWanted) ?? []) {
    for (const key of keys) for (const view of views) view.want(key, access, clusters, { namespace, name: '' });
  }
  const scopes = views.flatMap((view) => keys.map((key) => view.scopeOf(key, access)));
  if (scopes.length === 0 || scopes.some((scope) => mayMatch(scope, clusters, namespaces))) return;
  const verbs = access === 'watch' ? 'list and watch' : 'list';
  const where = [
    ...(namespaces === null ? [] : [`namespace ${named(namespaces)}`]),
    ...(clusters === null ? [] : [`cluster ${named(clusters)}`]),
  ];
  const place = where.length === 0 ? '' : ` in ${where.join(' of ')}`;
  const which = keys.map((key) => (isAbstractKey(key) ? `any member of ${key}` : key));
  throw new PortolanError('FORBIDDEN', `You may not ${verbs} ${named(which)}${place}; ask for a role that allows it.`, {
    details: { resources: keys },
  });
}

/** @throws PortolanError FORBIDDEN if the caller may not list all roles and bindings of the cluster. */
export function requireRoles(view: View, cluster: string): void {
  if (rbacKeys.every((key) => partIn(view.scopeOf(key, 'list'), cluster) === 'all')) return;
  throw new PortolanError(
    'FORBIDDEN',
    `Only callers who may list ${rbacKeys.join(', ')} in the whole cluster ${cluster} may ask who can do what.`,
  );
}

/** The error for a single object that the caller may not get; null for an object that the caller may get, if it exists. */
export function refusalOfObject(view: View, identity: Identity): PortolanError | null {
  const { key, cluster, namespace, name } = identity;
  view.want(key, 'get', [cluster], { namespace: namespace ?? '', name });
  if (isVisible(view.scopeOf(key, 'get'), identity)) return null;
  const where = namespace === null ? '' : ` in the namespace ${namespace}`;
  return new PortolanError(
    'FORBIDDEN',
    `You may not get this object of ${key}${where} of the cluster ${cluster}; ask for a role that allows it.`,
    { details: { resources: [key] } },
  );
}

function named(names: readonly string[]): string {
  return shortList(names, 5).join(', ');
}

function mayMatch(scope: Scope, clusters: readonly string[] | null, namespaces: readonly string[] | null): boolean {
  if (scope.rows !== 'some') return scope.rows === 'all';
  return [...scope.clusters].some(([cluster, part]) => {
    if (clusters !== null && !clusters.includes(cluster)) return false;
    if (part === 'all' || namespaces === null || part.names.has('')) return true;
    return namespaces.some((namespace) => part.namespaces.has(namespace) || part.names.has(namespace));
  });
}

/**
 * Reads of an operation that is not executed again, such as a mutation, with the rights that the API server grants. The first try requests
 * its decisions, so a refusal counts only after them. Nothing else may read meanwhile. @throws as `read`
 */
export async function withSettledRights<T>(
  operation: Pick<Operation, 'pendingRights' | 'renewSnapshot' | 'signal'>,
  read: () => Promise<T>,
): Promise<T> {
  for (let round = 0; round < mostRepeats; round += 1) {
    const outcome = read();
    await outcome.catch(() => {});
    if (operation.signal?.aborted === true || (await operation.pendingRights()) !== true) return outcome;
    operation.renewSnapshot();
  }
  return read();
}
