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

/** The causes for which an object of a built-in kind is rejected. */
export function builtinCauses(kind: string, object: JsonObject): StatusCause[] {
  if (kind === 'Pod') return podCauses(object.spec, 'spec');
  if (kind === 'ConfigMap' || kind === 'Secret') {
    return Object.keys({ ...asObject(object.data), ...asObject(object.binaryData) })
      .filter((key) => !dataKey.test(key))
      .map((key) =>
        invalid(`data[${key}]`, key, 'a valid config key must consist of alphanumeric characters, "-", "_" or "."'),
      );
  }
  if (!['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'].includes(kind)) return [];
  const template = asObject(at(object, 'spec', 'template'));
  const labels = asObject(at(template, 'metadata', 'labels'));
  const selected = labelSelectorOf(at(object, 'spec', 'selector'))(labels);
  return [
    ...(selected
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...podCauses(template.spec, 'spec.template.spec'),
  ];
}
