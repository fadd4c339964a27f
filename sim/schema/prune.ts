/**
 * Pruning and defaulting by schema, as the API server does before it stores an object.
 * Both return the same value when nothing changes, and a new tree otherwise.
 */
import { cloneJson, isObject, type JsonObject } from '../objects/json.ts';
import { resolveSchema, type TypedSchema } from './schema-walk.ts';

const typeMeta = new Set(['apiVersion', 'kind', 'metadata']);

/** Drops fields that the schema lacks; keeps everything below x-kubernetes-preserve-unknown-fields. */
export function pruneUnknown(value: unknown, schema: JsonObject | undefined, types: TypedSchema): unknown {
  if (!schema) return value;
  if (Array.isArray(value)) {
    const items = resolveSchema(schema.items, types);
    return items ? value.map((item) => pruneUnknown(item, items, types)) : value;
  }
  if (!isObject(value)) return value;
  const properties = isObject(schema.properties) ? schema.properties : undefined;
  const { additionalProperties } = schema;
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const untyped = schema.type === undefined && !properties && !additionalProperties && types.open;
  if (untyped || (types.open && !properties && !additionalProperties)) return value;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (properties && Object.hasOwn(properties, key)) {
      out[key] = pruneUnknown(item, resolveSchema(properties[key], types), beyond(properties[key], types));
    } else if (isObject(additionalProperties)) {
      out[key] = pruneUnknown(item, resolveSchema(additionalProperties, types), types);
    } else if (additionalProperties === true || preserve || (embedded && typeMeta.has(key))) out[key] = item;
  }
  return out;
}

/** A `$ref` in a custom schema leads to a built-in shape (metadata), where objects without properties are kept as they are. */
function beyond(property: unknown, types: TypedSchema): TypedSchema {
  return !types.open && isObject(property) && property.$ref !== undefined ? { ...types, open: true } : types;
}

/** Sets defaults for absent fields, and for nulls in fields that are not nullable. Drops the other nulls that are not allowed. */
export function applyDefaults(value: unknown, schema: JsonObject | undefined, types: TypedSchema): unknown {
  if (!schema) return value;
  if (Array.isArray(value)) {
    const items = resolveSchema(schema.items, types);
    return items ? value.map((item) => applyDefaults(item, items, types)) : value;
  }
  if (!isObject(value)) return value;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
    const child = resolveSchema(known, types);
    if (item === null && child && child.nullable !== true && Object.hasOwn(properties, key)) {
      if (child.default === undefined && !isOpen(child) && !isTime(child, types)) continue;
      out[key] = child.default === undefined ? null : cloneJson(child.default);
    } else out[key] = applyDefaults(item, child, types);
  }
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property) || property.default === undefined || Object.hasOwn(out, key)) continue;
    out[key] = applyDefaults(cloneJson(property.default), resolveSchema(property, types), types);
  }
  return out;
}

/** Unset times of built-in kinds are written as null. */
function isTime(schema: JsonObject, types: TypedSchema): boolean {
  return types.open && schema.format === 'date-time';
}

/** A schema without a type accepts any value, also null. */
function isOpen(schema: JsonObject): boolean {
  return schema.type === undefined && schema['x-kubernetes-int-or-string'] !== true;
}

/** The paths of the pruned fields, such as `spec.list[0].gone`. */
export function prunedPaths(given: unknown, kept: unknown, path: string): string[] {
  if (given === kept) return [];
  if (Array.isArray(given) && Array.isArray(kept))
    return given.flatMap((item, i) => prunedPaths(item, kept[i], `${path}[${i}]`));
  if (!isObject(given) || !isObject(kept)) return [];
  return Object.entries(given).flatMap(([key, value]) => {
    const child = path === '' ? key : `${path}.${key}`;
    return Object.hasOwn(kept, key) ? prunedPaths(value, kept[key], child) : [child];
  });
}
