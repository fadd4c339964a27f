/**
 * The most common validation rules of built-in kinds beyond their schema, as causes of a 422.
 * Source: the validation of Kubernetes, apimachinery's ValidateObjectMeta and the validation of each kind. Pure.
 */
import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { StatusCause } from '../objects/status-error.ts';
import { labelSelectorOf } from '../resources/label-selector.ts';
import { isLabelValue, isQualifiedName } from '../resources/qualified-name.ts';

const dataKey = /^[-._a-zA-Z0-9]{1,253}$/;
const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

const notNegative = 'must be greater than or equal to 0';

const cause = (reason: string, field: string, message: string): StatusCause => ({ reason, field, message });
const invalid = (field: string, value: unknown, message: string): StatusCause =>
  cause('FieldValueInvalid', field, `Invalid value: ${JSON.stringify(value)}: ${message}`);

/** The causes for which the metadata of an object is rejected. */
export function metadataCauses(metadata: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [key, value] of Object.entries(asObject(metadata.labels))) {
    if (!isQualifiedName(key)) causes.push(invalid('metadata.labels', key, 'a qualified name is required'));
    if (!isLabelValue(asString(value))) causes.push(invalid('metadata.labels', value, 'a valid label is required'));
  }
  for (const key of Object.keys(asObject(metadata.annotations))) {
    if (!isQualifiedName(key.toLowerCase()))
      causes.push(invalid('metadata.annotations', key, 'a qualified name is required'));
  }
  for (const finalizer of asArray(metadata.finalizers).map(asString)) {
    if (!standardFinalizers.has(finalizer) && !(isQualifiedName(finalizer) && finalizer.includes('/'))) {
      const message = 'name is neither a standard finalizer name nor is it fully qualified';
      causes.push(invalid('metadata.finalizers', finalizer, message));
    }
  }
  for (const [index, reference] of asArray(metadata.ownerReferences).map(asObject).entries()) {
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      if (asString(reference[key]) !== '') continue;
      const field = `metadata.ownerReferences[${index}].${key}`;
      causes.push(cause('FieldValueRequired', field, 'Required value: must not be empty'));
    }
  }
  return causes;
}

function podCauses(spec: unknown, field: string): StatusCause[] {
  const containers = asArray(asObject(spec).containers).map(asObject);
  if (containers.length === 0) return [cause('FieldValueRequired', `${field}.containers`, 'Required value')];
  return containers.flatMap((container, i) =>
    ['name', 'image']
      .filter((key) => asString(container[key]) === '')
      .map((key) => cause('FieldValueRequired', `${field}.containers[${i}].${key}`, 'Required value')),
  );
}

/** The causes for which a number or a percentage of Pods is rejected. */
function shareCauses(field: string, value: unknown): StatusCause[] {
  if (typeof value === 'number') return value < 0 ? [invalid(field, value, notNegative)] : [];
  if (value === undefined || /^[0-9]+%$/.test(asString(value))) return [];
  return [invalid(field, value, "a valid percent string must be a numeric string followed by an ending '%'")];
}

function budgetCauses(object: JsonObject): StatusCause[] {
  const spec = asObject(object.spec);
  const { minAvailable, maxUnavailable } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...shareCauses('spec.minAvailable', minAvailable),
    ...shareCauses('spec.maxUnavailable', maxUnavailable),
  ];
}

/** The causes for which an object of a built-in kind is rejected. */
export function builtinCauses(kind: string, object: JsonObject): StatusCause[] {
  if (kind === 'Pod') return podCauses(object.spec, 'spec');
  if (kind === 'PodDisruptionBudget') return budgetCauses(object);
  if (kind === 'ConfigMap' || kind === 'Secret') {
    return Object.keys({ ...asObject(object.data), ...asObject(object.binaryData) })
      .filter((key) => !dataKey.test(key))
      .map((key) =>
        invalid(`data[${key}]`, key, 'a valid config key must consist of alphanumeric characters, "-", "_" or "."'),
      );
  }
  if (!['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'].includes(kind)) return [];
  const template = asObject(at(object, 'spec', 'template'));
  const replicas = at(object, 'spec', 'replicas');
  const labels = asObject(at(template, 'metadata', 'labels'));
  const selected = labelSelectorOf(at(object, 'spec', 'selector'))(labels);
  return [
    ...(typeof replicas === 'number' && replicas < 0 ? [invalid('spec.replicas', replicas, notNegative)] : []),
    ...(selected
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...podCauses(template.spec, 'spec.template.spec'),
  ];
}
