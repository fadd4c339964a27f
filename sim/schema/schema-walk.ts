/**
 * Finds the schema of each part of a value. Pruning, validation, field sets and merges all use it. Works on definitions with
 * `$ref` (built-in kinds) and on structural schemas (custom kinds).
 */
import { asArray, asString, isObject, type JsonObject } from '../objects/json.ts';

export interface TypedSchema {
  /** The schema of the whole object. */
  readonly root: JsonObject;
  /** The targets of `$ref`s, by full name. */
  readonly definitions: Readonly<Record<string, JsonObject>>;
  /** True for built-in kinds, where an object without properties may contain anything. */
  readonly open: boolean;
}

const prefix = '#/definitions/';

/** The schema, or the definition that its `$ref` names. Keywords next to the `$ref` are not included. */
export function resolveSchema(schema: unknown, types: TypedSchema): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const ref = asString(schema.$ref);
  return ref === '' ? schema : types.definitions[ref.slice(prefix.length)];
}

/** The schema of one field of an object or of one value of a map; undefined for an unknown field. */
export function fieldSchema(schema: JsonObject | undefined, key: string, types: TypedSchema): JsonObject | undefined {
  if (!schema) return undefined;
  const { properties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, key)) return resolveSchema(properties[key], types);
  return isObject(additionalProperties) ? resolveSchema(additionalProperties, types) : undefined;
}

/** The schema of the items of a list. */
export function itemSchema(schema: JsonObject | undefined, types: TypedSchema): JsonObject | undefined {
  return schema ? resolveSchema(schema.items, types) : undefined;
}

/** The keys that identify the items of a list; undefined when it is not a list of type map. */
export function listMapKeys(schema: JsonObject | undefined): readonly string[] | undefined {
  if (schema?.['x-kubernetes-list-type'] !== 'map') return undefined;
  const keys = asArray(schema['x-kubernetes-list-map-keys']).map(asString);
  return keys.length > 0 ? keys : undefined;
}

/** True for a map that apply treats as one value. An extension next to a `$ref` overrides that of the definition. */
export function isAtomicMap(marked: JsonObject | undefined, types: TypedSchema): boolean {
  const own = marked?.['x-kubernetes-map-type'];
  return (own ?? resolveSchema(marked, types)?.['x-kubernetes-map-type']) === 'atomic';
}

/** True for a list that is a set of scalars. */
export function isSetList(schema: JsonObject | undefined): boolean {
  return schema?.['x-kubernetes-list-type'] === 'set';
}

/** The values of the keys that identify a list item, with the defaults of absent keys (TCP for protocol). */
export function itemIdentity(item: unknown, keys: readonly string[], itemType: JsonObject | undefined): string {
  if (!isObject(item)) return JSON.stringify(item);
  const properties = isObject(itemType?.properties) ? itemType.properties : {};
  return JSON.stringify(
    keys.map((key) => {
      const property = properties[key];
      return item[key] ?? (isObject(property) ? property.default : undefined) ?? (key === 'protocol' ? 'TCP' : null);
    }),
  );
}
