/** Validation of a CustomResourceDefinition: names, versions, and a structural schema. */
import { asArray, asObject, asString, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import type { StatusCause } from '../objects/status-error.ts';

const forbidden = ['$ref', 'definitions', 'dependencies', 'patternProperties', 'additionalItems', 'id', '$schema'];

function required(field: string, message = ''): StatusCause {
  return {
    reason: 'FieldValueRequired',
    message: message === '' ? 'Required value' : `Required value: ${message}`,
    field,
  };
}

function invalid(field: string, value: unknown, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${message}`, field };
}

/** Causes of a 422; empty when the definition can be served. */
export function crdCauses(crd: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  const spec = asObject(crd.spec);
  const names = asObject(spec.names);
  const group = asString(spec.group);
  const plural = asString(names.plural);
  const name = asString(asObject(crd.metadata).name);
  if (group === '') causes.push(required('spec.group'));
  if (plural === '') causes.push(required('spec.names.plural'));
  if (asString(names.kind) === '') causes.push(required('spec.names.kind'));
  if (name !== `${plural}.${group}`)
    causes.push(invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  if (spec.scope !== 'Namespaced' && spec.scope !== 'Cluster') {
    const message = `Unsupported value: ${JSON.stringify(spec.scope)}: supported values: "Cluster", "Namespaced"`;
    causes.push({ reason: 'FieldValueNotSupported', message, field: 'spec.scope' });
  }
  const approval = asString(asObject(asObject(crd.metadata).annotations)['api-approved.kubernetes.io']);
  if (/(^|\.)(k8s\.io|kubernetes\.io)$/.test(group) && approval === '') {
    const message = 'protected groups must have approval annotation "api-approved.kubernetes.io"';
    causes.push(required('metadata.annotations[api-approved.kubernetes.io]', message));
  }
  const versions = asArray(spec.versions).filter(isObject);
  if (versions.filter((version) => version.storage === true).length !== 1) {
    causes.push(invalid('spec.versions', versions.length, 'must have exactly one version marked as storage version'));
  }
  const shared = versions.every((version) => equalJson(version.schema, versions[0]?.schema));
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    const field = `spec.versions[${i}]`;
    const own = asString(version.name);
    if (own === '') causes.push(required(`${field}.name`));
    if (seen.has(own)) causes.push(invalid('spec.versions', own, 'must contain unique version names'));
    seen.add(own);
    const schema = asObject(version.schema).openAPIV3Schema;
    // A schema that all versions share is reported once, under its old path `spec.validation`.
    if (isObject(schema) && shared && i > 0) return;
    const place = shared ? 'spec.validation' : `${field}.schema`;
    if (isObject(schema)) causes.push(...structuralCauses(schema, `${place}.openAPIV3Schema`, true));
    else causes.push(required(`${field}.schema.openAPIV3Schema`, 'schemas are required'));
  });
  return causes;
}

/** The causes for which a schema is not structural: nodes without a type, and constructs that hide where fields are. */
function structuralCauses(schema: JsonObject, field: string, root: boolean): StatusCause[] {
  const causes: StatusCause[] = [];
  const type = asString(schema.type);
  const free = schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (type === '' && (root || !free))
    causes.push(required(`${field}.type`, 'must not be empty for specified object fields'));
  if (root && type !== '' && type !== 'object')
    causes.push(invalid(`${field}.type`, type, 'must be object at the root'));
  for (const key of forbidden) {
    if (schema[key] !== undefined) {
      causes.push({
        reason: 'FieldValueForbidden',
        message: `Forbidden: ${key} is not supported`,
        field: `${field}.${key}`,
      });
    }
  }
  for (const [key, child] of Object.entries(asObject(schema.properties))) {
    if (root && key === 'metadata') continue;
    if (isObject(child)) causes.push(...structuralCauses(child, `${field}.properties[${key}]`, false));
  }
  if (isObject(schema.items)) causes.push(...structuralCauses(schema.items, `${field}.items`, false));
  else if (type === 'array') causes.push(required(`${field}.items`, 'must be specified'));
  const { additionalProperties } = schema;
  if (isObject(additionalProperties)) {
    causes.push(...structuralCauses(additionalProperties, `${field}.additionalProperties`, false));
    if (isObject(schema.properties)) {
      causes.push({
        reason: 'FieldValueForbidden',
        message: 'Forbidden: additionalProperties and properties are mutual exclusive',
        field: `${field}.additionalProperties`,
      });
    }
  }
  return causes;
}
