/**
 * Role-based access control over the stored Roles, ClusterRoles and bindings.
 * Source: the authorization documentation of Kubernetes, "Using RBAC Authorization". Never: caches a decision.
 */
import { asArray, asObject, asString, type JsonObject } from '../objects/json.ts';
import type { ObjectStore, Stored } from '../objects/object-store.ts';

/** The user and groups of a request. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
}

/** The action to authorize: a verb on a resource, or on a non-resource path. */
export type Attributes =
  | {
      readonly verb: string;
      readonly group: string;
      /** `pods`, or `pods/log`. */
      readonly resource: string;
      /** '' for the whole cluster. */
      readonly namespace: string;
      /** '' when no single object is named. */
      readonly name: string;
    }
  | { readonly verb: string; readonly path: string };

/** Rules for every authenticated caller, as in the bootstrap role system:discovery. */
const discovery: JsonObject = {
  verbs: ['get'],
  nonResourceURLs: [
    '/api',
    '/api/*',
    '/apis',
    '/apis/*',
    '/healthz',
    '/livez',
    '/openapi',
    '/openapi/*',
    '/readyz',
    '/version',
    '/version/',
  ],
};
/** Rules for every authenticated caller about itself, as in system:basic-user. */
const basic: readonly JsonObject[] = [
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
];
/** Rules for every request, also of anonymous callers, as in system:public-info-viewer. */
const publicInfo: JsonObject = {
  verbs: ['get'],
  nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
};
const everything: readonly JsonObject[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export class Rbac {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Whether the caller may perform this action. */
  allows(caller: Caller, attributes: Attributes): boolean {
    const namespace = 'path' in attributes ? '' : attributes.namespace;
    return this.rulesOf(caller, namespace).some((rule) => covers(rule, attributes));
  }

  /** The rules of the caller: the cluster-wide ones and, when a namespace is given, those of the namespace. */
  rulesOf(caller: Caller, namespace: string): readonly JsonObject[] {
    if (caller.groups.includes('system:masters')) return everything;
    const isAuthenticated = caller.groups.includes('system:authenticated');
    const isKnown = isAuthenticated || caller.groups.includes('system:unauthenticated');
    const rules = [...(isKnown ? [publicInfo] : []), ...(isAuthenticated ? [discovery, ...basic] : [])];
    const bindings = this.#store.list('clusterrolebindings.rbac.authorization.k8s.io');
    if (namespace !== '') bindings.push(...this.#store.list('rolebindings.rbac.authorization.k8s.io', namespace));
    for (const { object, namespace: within } of bindings) {
      if (!asArray(object.subjects).some((subject) => isSubject(asObject(subject), caller, within))) continue;
      rules.push(...asArray(this.#roleOf(asObject(object.roleRef), within)?.object.rules).map(asObject));
    }
    return rules;
  }

  #roleOf({ kind, name }: JsonObject, namespace: string): Stored | undefined {
    const [storage, within] = kind === 'Role' ? ['roles', namespace] : ['clusterroles', ''];
    return this.#store.get(`${storage}.rbac.authorization.k8s.io`, within, asString(name));
  }
}

/** @param within the namespace of the binding. It is that of a service account whose subject states none. */
function isSubject({ kind, name, namespace }: JsonObject, { user, groups }: Caller, within: string): boolean {
  if (kind === 'User') return name === user;
  if (kind === 'Group') return groups.includes(asString(name));
  const home = asString(namespace) || within;
  return kind === 'ServiceAccount' && home !== '' && user === `system:serviceaccount:${home}:${asString(name)}`;
}

function covers(rule: JsonObject, attributes: Attributes): boolean {
  const has = (key: string, ...values: readonly string[]): boolean =>
    asArray(rule[key]).some((item) => item === '*' || values.includes(asString(item)));
  if (!has('verbs', attributes.verb)) return false;
  if ('path' in attributes) {
    return asArray(rule.nonResourceURLs)
      .map(asString)
      .some((url) => url === attributes.path || (url.endsWith('*') && attributes.path.startsWith(url.slice(0, -1))));
  }
  const { group, resource, name } = attributes;
  const [, subresource] = resource.split('/');
  const names = asArray(rule.resourceNames);
  return (
    has('apiGroups', group) &&
    has('resources', resource, ...(subresource === undefined ? [] : [`*/${subresource}`])) &&
    (names.length === 0 || names.includes(name))
  );
}
