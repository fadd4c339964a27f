/**
 * The rules of Roles and ClusterRoles, and whether one allows a request.
 * Source: pkg/apis/rbac/v1/evaluation_helpers.go of Kubernetes.
 */
import { splitResourceKey } from '../catalog/resources/resource.ts';

/** A rule as the API server serves it. A member that is missing is an empty list. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** `pods`, `pods/log`, `*`, or a subresource of every resource, such as `*` + `/scale`. */
  readonly resources: readonly string[];
  /** Empty for all objects. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** A request for a resource. */
export interface ResourceAttributes {
  readonly verb: string;
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The plural name without a subresource. */
  readonly resource: string;
  /** Empty for none. */
  readonly subresource: string;
  /** Empty for a request to the whole cluster. */
  readonly namespace: string;
  /** Empty for a request that names no object. */
  readonly name: string;
}

/** A request for a path of the API server that is no resource. */
export interface PathAttributes {
  readonly verb: string;
  readonly path: string;
}

export type RequestAttributes = ResourceAttributes | PathAttributes;

/** The resource of a kind. @param key resourceKey, such as `deployments.apps`. */
export function resourceOf(key: string): Pick<ResourceAttributes, 'group' | 'resource'> {
  const [resource, group] = splitResourceKey(key);
  return { group, resource };
}

/** Does the rule allow the verb on the resource? Names of objects and namespaces are not looked at. */
export function coversResource(
  rule: PolicyRule,
  { verb, group, resource, subresource }: Pick<ResourceAttributes, 'verb' | 'group' | 'resource' | 'subresource'>,
): boolean {
  return (
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    rule.resources.some((each) => matches(each, resource, subresource))
  );
}

/** Does the rule allow the name? A request without a name has the name ''. */
export function coversName({ resourceNames }: PolicyRule, name: string): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}

/** Does the rule allow the verb on the path? */
export function coversPath(rule: PolicyRule, { verb, path }: PathAttributes): boolean {
  return (
    has(rule.verbs, verb) &&
    rule.nonResourceURLs.some(
      (url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))),
    )
  );
}

function matches(allowed: string, resource: string, subresource: string): boolean {
  if (allowed === '*') return true;
  if (subresource === '') return allowed === resource;
  return allowed === `${resource}/${subresource}` || allowed === `*/${subresource}`;
}

function has(allowed: readonly string[], wanted: string): boolean {
  return allowed.some((each) => each === '*' || each === wanted);
}
