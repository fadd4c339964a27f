/**
 * Reads a request from words, as `portolan can` takes them:
 *
 *   list pods                     the collection, in all namespaces or in one
 *   get deployments.apps/scale web    a subresource of one object
 *   update Deployment             the kind, its singular or a short name instead of the plural
 *   get /metrics                  a path that is no resource
 */
import type { PathAttributes, ResourceAttributes } from '../../access/policy-rule.ts';
import { PortolanError } from '../../base/errors.ts';
import { didYouMean } from '../../catalog/paths/did-you-mean.ts';
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';

export interface RequestWords {
  readonly verb: string;
  /** `RESOURCE[.GROUP][/SUBRESOURCE]`, or a path that begins with a slash. */
  readonly target: string;
  /** Empty for none. */
  readonly name: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

/** A resource as discovery announces it, with its subresources. */
export type ServedResource = Pick<Resource, 'group' | 'plural' | 'singular' | 'kind' | 'namespaced' | 'shortNames'> & {
  readonly subresources: readonly string[];
};

type Target = Pick<ServedResource, 'group' | 'plural' | 'namespaced' | 'subresources'>;

/** Is the target a path that is no resource? */
export function isPath(target: string): boolean {
  return target.startsWith('/');
}

/** @throws PortolanError BAD_USER_INPUT for a name or a namespace. */
export function pathRequest({ verb, target, name, namespace }: RequestWords): PathAttributes {
  if (name !== '' || namespace !== '') {
    throw new PortolanError('BAD_USER_INPUT', `${target} is a path: leave the name and the namespace out.`);
  }
  return { verb: verb.toLowerCase(), path: target };
}

/**
 * The request as the API server would see it.
 * @param served in the order of discovery: the first of several resources with the name is meant.
 * @throws PortolanError NOT_FOUND for an unknown resource or subresource; BAD_USER_INPUT for a namespace of a cluster-scoped one.
 */
export function resourceRequest(words: RequestWords, served: readonly ServedResource[]): ResourceAttributes {
  const [written = '', ...rest] = words.target.split('/');
  const subresource = rest.join('/');
  const verb = words.verb.toLowerCase();
  const found = virtualTarget(verb, written) ?? servedTarget(written, served);
  if (subresource !== '') requireSubresource(found, subresource);
  if (!found.namespaced && words.namespace !== '') {
    throw new PortolanError('BAD_USER_INPUT', `${resourceKey(found)} are not namespaced: leave --namespace out.`);
  }
  const { group, plural: resource } = found;
  // For a request to one Namespace, the API server takes its name as the namespace of the request.
  const inItself = group === '' && resource === 'namespaces';
  return { verb, group, resource, subresource, namespace: inItself ? words.name : words.namespace, name: words.name };
}

function servedTarget(written: string, served: readonly ServedResource[]): Target {
  const name = written.toLowerCase();
  const rules: readonly ((resource: ServedResource) => readonly string[])[] = [
    ({ plural }) => [plural],
    ({ singular, kind }) => [singular, kind],
    ({ shortNames }) => shortNames,
  ];
  for (const namesOf of rules) {
    const found = served.find((resource) =>
      namesOf(resource).some((each) => [each, `${each}.${resource.group}`].some((text) => text.toLowerCase() === name)),
    );
    if (found !== undefined) return found;
  }
  const similar = didYouMean(
    written,
    served.flatMap((resource) => [resource.plural, resourceKey(resource), resource.kind]),
  );
  throw new PortolanError(
    'NOT_FOUND',
    `The cluster serves no resource ${JSON.stringify(written)}${similar === null ? '; name it' : `; did you mean ${similar}? Name it`} as kubectl api-resources does.`,
  );
}

/** Resources that rules name but no API server serves. A verb means them alone. */
const virtual: Readonly<Record<string, readonly Target[]>> = {
  impersonate: [
    ...['users', 'groups'].map((plural) => unserved('', plural)),
    ...['uids', 'userextras'].map((plural) => unserved('authentication.k8s.io', plural)),
  ],
  ...Object.fromEntries(
    ['approve', 'sign', 'attest'].map((verb) => [verb, [unserved('certificates.k8s.io', 'signers')]]),
  ),
};

function unserved(group: string, plural: string): Target {
  return { group, plural, namespaced: false, subresources: [] };
}

/** `*` is every resource of every group, `*.apps` every resource of one: allowed only by rules with `*`. */
function virtualTarget(verb: string, written: string): Target | undefined {
  if (written === '*') return { group: '*', plural: '*', namespaced: true, subresources: ['*'] };
  if (written.startsWith('*.')) return { group: written.slice(2), plural: '*', namespaced: true, subresources: ['*'] };
  const name = written.toLowerCase();
  return virtual[verb]?.find((each) => each.plural === name || resourceKey(each) === name);
}

function requireSubresource(target: Target, subresource: string): void {
  const { subresources } = target;
  if (subresources.includes(subresource) || subresources.includes('*')) return;
  // Keys of extra fields are subresources.
  if (target.plural === 'userextras') return;
  const known = subresources.length === 0 ? 'it has none' : `it has ${subresources.join(', ')}`;
  throw new PortolanError(
    'NOT_FOUND',
    `${resourceKey(target)} has no subresource ${JSON.stringify(subresource)}: ${known}. Write the name of an object after the resource: ${target.plural} ${subresource}.`,
  );
}
