/**
 * The fields of built-in kinds that an update may not change, as causes of a 422. Pure.
 * Source: the update validation of Kubernetes for the kinds that clients change most: ConfigMaps, Secrets, workloads and Pods.
 */
import { asArray, asObject, at, equalJson, type JsonObject } from '../objects/json.ts';
import type { StatusCause } from '../objects/status-error.ts';

const forbidden = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${message}`,
});
const immutable = (field: string, value: unknown): StatusCause => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: field is immutable`,
});

/** Members of the spec that stay as they were made. */
const fixedFields: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  ReplicaSet: ['selector'],
  DaemonSet: ['selector'],
  Job: ['selector', 'completionMode'],
  StatefulSet: ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'],
};
const podRule =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The causes for which the new version of an object of a built-in kind is rejected. */
export function updateCauses(kind: string, next: JsonObject, old: JsonObject): StatusCause[] {
  if (kind === 'ConfigMap' || kind === 'Secret') return dataCauses(kind, next, old);
  if (kind === 'Pod') {
    const [given, before] = [podRest(next.spec), podRest(old.spec)];
    return equalJson(given, before) && keepsTolerations(next, old) ? [] : [forbidden('spec', podRule)];
  }
  return (fixedFields[kind] ?? []).flatMap((name) => {
    const given = at(next, 'spec', name);
    return equalJson(given, at(old, 'spec', name)) ? [] : [immutable(`spec.${name}`, given)];
  });
}

function dataCauses(kind: string, next: JsonObject, old: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  if (kind === 'Secret' && next.type !== old.type) causes.push(immutable('type', next.type));
  if (old.immutable !== true) return causes;
  const rule = 'field is immutable when `immutable` is set';
  if (next.immutable !== true) causes.push(forbidden('immutable', rule));
  for (const field of ['data', 'binaryData']) {
    if (!equalJson(asObject(next[field]), asObject(old[field]))) causes.push(forbidden(field, rule));
  }
  return causes;
}

/** The spec of a Pod without what an update may change. */
function podRest(spec: unknown): JsonObject {
  const { containers, initContainers, ...rest } = asObject(spec);
  return {
    ...without(rest, ['activeDeadlineSeconds', 'tolerations']),
    containers: withoutImages(containers),
    initContainers: withoutImages(initContainers),
  };
}

function withoutImages(containers: unknown): JsonObject[] {
  return asArray(containers).map((container) => without(asObject(container), ['image', 'imagePullPolicy']));
}

function keepsTolerations(next: JsonObject, old: JsonObject): boolean {
  const given = asArray(at(next, 'spec', 'tolerations'));
  return asArray(at(old, 'spec', 'tolerations')).every((known) => given.some((each) => equalJson(each, known)));
}

function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
