/** Review kinds, such as TokenReview and SubjectAccessReview. They are answered at once and never stored. */
import { asArray, asObject, asString, isObject, type JsonObject } from '../objects/json.ts';
import { type StatusCause, statusErrors } from '../objects/status-error.ts';
import { apiVersionOf, type ServedResource } from '../resources/served-resource.ts';
import type { Callers } from './callers.ts';
import type { Attributes, Caller, Rbac } from './rbac.ts';

/** The review with its answer in `status`; throws a 422 Status when the spec lacks the attributes or the subject. */
export function answerReview(
  resource: ServedResource,
  review: JsonObject,
  caller: Caller,
  { callers, rbac }: { readonly callers: Callers; readonly rbac: Rbac },
): JsonObject {
  const head = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata: asObject(review.metadata) };
  if (resource.kind === 'SelfSubjectReview') return { ...head, status: { userInfo: userInfo(caller) } };
  const spec = asObject(review.spec);
  if (resource.kind === 'TokenReview')
    return { ...head, spec, status: tokenStatus(callers.named(asString(spec.token))) };
  if (resource.kind === 'SelfSubjectRulesReview') {
    return { ...head, spec, status: rulesStatus(rbac.rulesOf(caller, asString(spec.namespace))) };
  }
  const own = resource.kind === 'SelfSubjectAccessReview';
  const causes = accessCauses(spec, own);
  if (causes.length > 0) throw statusErrors.invalid(resource.group, resource.kind, '', causes);
  const about: Caller = own ? caller : { user: asString(spec.user), groups: asArray(spec.groups).map(asString) };
  return { ...head, spec, status: { allowed: rbac.allows(about, attributesOf(spec)) } };
}

function tokenStatus(caller: Caller | undefined): JsonObject {
  if (!caller) return { error: 'invalid bearer token', user: {} };
  return { authenticated: true, user: userInfo(caller) };
}

function userInfo({ user, groups }: Caller): JsonObject {
  return { username: user, uid: user, groups };
}

function rulesStatus(rules: readonly JsonObject[]): JsonObject {
  return {
    incomplete: false,
    resourceRules: rules.filter((rule) => rule.resources !== undefined),
    nonResourceRules: rules.filter((rule) => rule.nonResourceURLs !== undefined),
  };
}

function accessCauses(spec: JsonObject, own: boolean): StatusCause[] {
  const causes: StatusCause[] = [];
  const both = isObject(spec.resourceAttributes) && isObject(spec.nonResourceAttributes);
  if (both || (!isObject(spec.resourceAttributes) && !isObject(spec.nonResourceAttributes))) {
    const message = 'Invalid value: exactly one of nonResourceAttributes or resourceAttributes must be specified';
    causes.push({ reason: 'FieldValueInvalid', message, field: 'spec.resourceAttributes' });
  }
  if (!own && asString(spec.user) === '' && asArray(spec.groups).length === 0) {
    const message = 'Invalid value: "": at least one of user or group must be specified';
    causes.push({ reason: 'FieldValueInvalid', message, field: 'spec.user' });
  }
  return causes;
}

function attributesOf(spec: JsonObject): Attributes {
  if (isObject(spec.nonResourceAttributes)) {
    const { path, verb } = spec.nonResourceAttributes;
    return { path: asString(path), verb: asString(verb) };
  }
  const { verb, group, resource, subresource, namespace, name } = asObject(spec.resourceAttributes);
  const sub = asString(subresource);
  return {
    verb: asString(verb),
    group: asString(group),
    resource: sub === '' ? asString(resource) : `${asString(resource)}/${sub}`,
    namespace: asString(namespace),
    name: asString(name),
  };
}
