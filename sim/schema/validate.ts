/**
 * Validation of a value by schema, with the messages of an API server as causes of a 422. Supports type, required, enum, bounds,
 * pattern, allOf/anyOf/oneOf/not of values, int-or-string and embedded resources. CEL rules are stored and served, but not
 * evaluated.
 */
import { asArray, asString, equalJson, isBigInteger, isObject, type JsonObject } from '../objects/json.ts';
import type { StatusCause } from '../objects/status-error.ts';
import { isSetList, itemIdentity, listMapKeys, resolveSchema, type TypedSchema } from './schema-walk.ts';

const patterns = new Map<string, RegExp | undefined>();

/** Converts an RE2 pattern to JavaScript; undefined when that fails. An unsupported pattern rejects nothing. */
function regexOf(pattern: string): RegExp | undefined {
  if (!patterns.has(pattern)) {
    try {
      patterns.set(pattern, new RegExp(pattern, 'u'));
    } catch {
      patterns.set(pattern, undefined);
    }
  }
  return patterns.get(pattern);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isBigInteger(value)) return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function invalid(field: string, value: unknown, message: string): StatusCause {
  const shown = typeof value === 'object' ? JSON.stringify(typeOf(value)) : JSON.stringify(value);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${message}`, field };
}

/** The causes for which the value is rejected; empty when it is valid. `field` is its path. */
export function validateValue(
  value: unknown,
  schema: JsonObject | undefined,
  types: TypedSchema,
  field: string,
): StatusCause[] {
  if (!schema) return [];
  const causes: StatusCause[] = [];
  if (value === null && (schema.nullable === true || types.open)) return causes;
  const actual = typeOf(value);
  const wanted = asString(schema.type);
  const intOrString = schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string';
  if (intOrString) {
    if (actual !== 'integer' && actual !== 'string') {
      causes.push(typeInvalid(field, actual, 'integer,string'));
    }
  } else if (wanted !== '' && actual !== wanted && !(wanted === 'number' && actual === 'integer')) {
    if (!isLenientQuantity(schema, actual)) causes.push(typeInvalid(field, actual, wanted));
    return causes;
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((item) => equalJson(item, value))) {
    const supported = schema.enum.map((item) => JSON.stringify(item)).join(', ');
    causes.push({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`,
      field,
    });
  }
  if (typeof value === 'number') causes.push(...numberCauses(value, schema, field));
  if (typeof value === 'string') causes.push(...stringCauses(value, schema, field));
  if (Array.isArray(value)) {
    const items = resolveSchema(schema.items, types);
    causes.push(...sizeCauses(value.length, schema.minItems, schema.maxItems, 'items', field, value));
    causes.push(...duplicateCauses(value, schema, items, field));
    value.forEach((item, i) => {
      causes.push(...validateValue(item, items, types, `${field}[${i}]`));
    });
  } else if (isObject(value)) causes.push(...objectCauses(value, schema, types, field));
  causes.push(...combinationCauses(value, schema, types, field));
  return causes;
}

function duplicateCauses(
  value: readonly unknown[],
  schema: JsonObject,
  items: JsonObject | undefined,
  field: string,
): StatusCause[] {
  const keys = listMapKeys(schema) ?? (isSetList(schema) ? [] : undefined);
  if (keys === undefined) return [];
  const seen = new Set<string>();
  return value.flatMap((item, i) => {
    const identity = keys.length === 0 ? JSON.stringify(item) : itemIdentity(item, keys, items);
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    return [{ reason: 'FieldValueDuplicate', message: `Duplicate value: ${identity}`, field: `${field}[${i}]` }];
  });
}

function isLenientQuantity(schema: JsonObject, actual: string): boolean {
  return (
    asString(schema.description).startsWith('A number in fixed point') && (actual === 'integer' || actual === 'number')
  );
}

function typeInvalid(field: string, actual: string, wanted: string): StatusCause {
  return {
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: "${actual}": ${field} in body must be of type ${wanted}: "${actual}"`,
    field,
  };
}

function numberCauses(value: number, schema: JsonObject, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const { minimum, maximum, multipleOf } = schema;
  const aboveMin = schema.exclusiveMinimum === true ? value > Number(minimum) : value >= Number(minimum);
  const belowMax = schema.exclusiveMaximum === true ? value < Number(maximum) : value <= Number(maximum);
  if (typeof minimum === 'number' && !aboveMin) {
    const words = schema.exclusiveMinimum === true ? 'greater than' : 'greater than or equal to';
    causes.push(invalid(field, value, `${field} in body should be ${words} ${minimum}`));
  }
  if (typeof maximum === 'number' && !belowMax) {
    const words = schema.exclusiveMaximum === true ? 'less than' : 'less than or equal to';
    causes.push(invalid(field, value, `${field} in body should be ${words} ${maximum}`));
  }
  if (typeof multipleOf === 'number' && value % multipleOf !== 0) {
    causes.push(invalid(field, value, `${field} in body should be a multiple of ${multipleOf}`));
  }
  return causes;
}

function stringCauses(value: string, schema: JsonObject, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const length = [...value].length;
  if (typeof schema.minLength === 'number' && length < schema.minLength) {
    causes.push(invalid(field, value, `${field} in body should be at least ${schema.minLength} chars long`));
  }
  if (typeof schema.maxLength === 'number' && length > schema.maxLength) {
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be longer than ${schema.maxLength}`,
      field,
    });
  }
  const pattern = asString(schema.pattern);
  if (pattern !== '' && regexOf(pattern)?.test(value) === false) {
    causes.push(invalid(field, value, `${field} in body should match '${pattern}'`));
  }
  if (schema.format === 'date-time' && value !== '' && Number.isNaN(Date.parse(value))) {
    causes.push(invalid(field, value, `${field} in body must be of type date-time: ${JSON.stringify(value)}`));
  }
  return causes;
}

function sizeCauses(
  size: number,
  min: unknown,
  max: unknown,
  what: string,
  field: string,
  value: unknown,
): StatusCause[] {
  if (typeof min === 'number' && size < min) {
    return [invalid(field, value, `${field} in body should have at least ${min} ${what}`)];
  }
  if (typeof max === 'number' && size > max) {
    return [{ reason: 'FieldValueTooMany', message: `Too many: ${size}: must have at most ${max} ${what}`, field }];
  }
  return [];
}

function objectCauses(value: JsonObject, schema: JsonObject, types: TypedSchema, field: string): StatusCause[] {
  const causes = sizeCauses(
    Object.keys(value).length,
    schema.minProperties,
    schema.maxProperties,
    'properties',
    field,
    value,
  );
  const properties = isObject(schema.properties) ? schema.properties : {};
  const path = (key: string): string => (field === '' ? key : `${field}.${key}`);
  for (const key of asArray(schema.required).map(asString)) {
    if (value[key] === undefined) {
      causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: path(key) });
    }
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    for (const key of ['apiVersion', 'kind']) {
      if (asString(value[key]) === '') {
        causes.push({ reason: 'FieldValueRequired', message: 'Required value: must not be empty', field: path(key) });
      }
    }
  }
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key);
    const child = resolveSchema(known ? properties[key] : schema.additionalProperties, types);
    causes.push(...validateValue(item, child, types, known ? path(key) : `${field}[${key}]`));
  }
  return causes;
}

function combinationCauses(value: unknown, schema: JsonObject, types: TypedSchema, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const fits = (part: unknown): boolean => validateValue(value, resolveSchema(part, types), types, field).length === 0;
  for (const part of asArray(schema.allOf))
    causes.push(...validateValue(value, resolveSchema(part, types), types, field));
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(fits)) {
    causes.push(invalid(field, value, `${field} in body must validate at least one schema (anyOf)`));
  }
  if (Array.isArray(schema.oneOf) && schema.oneOf.filter(fits).length !== 1) {
    causes.push(invalid(field, value, `${field} in body must validate one and only one schema (oneOf)`));
  }
  if (isObject(schema.not) && fits(schema.not)) {
    causes.push(invalid(field, value, `${field} in body must not validate the schema (not)`));
  }
  return causes;
}
