/**
 * metadata.managedFields: the owners of each field, as field sets in the FieldsV1 form. In it, `f:` is a field, `k:` a list item
 * by key, `v:` a set item, and `.` the object or item itself.
 *
 * A set is a tree of plain objects; a leaf is `{}`. Update entries collect all fields that a manager changed. Apply entries hold
 * exactly the fields of its last apply. When one manager changes a field, the entries of the others lose it.
 */
import { asArray, asObject, asString, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import {
  fieldSchema,
  isAtomicMap,
  isSetList,
  itemIdentity,
  itemSchema,
  listMapKeys,
  resolveSchema,
  type TypedSchema,
} from '../schema/schema-walk.ts';

/** A FieldsV1 tree. */
export type FieldSet = JsonObject;

const ignoredTop = new Set(['apiVersion', 'kind']);
const ignoredMetadata = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'generateName',
]);

/** The schema of a field, including the extensions next to its `$ref`. */
function markedField(schema: JsonObject | undefined, key: string): JsonObject | undefined {
  const properties = asObject(schema?.properties);
  return isObject(properties[key]) ? properties[key] : undefined;
}

/** The FieldsV1 key of a list item, such as `k:{"name":"a"}`. */
export function itemKey(item: JsonObject, keys: readonly string[], itemType: JsonObject | undefined): string {
  const values = JSON.parse(itemIdentity(item, keys, itemType)) as unknown[];
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key, i) => [key, values[i]])))}`;
}

/** `dotted`: an update that adds a whole map owns the map itself (`.`); an apply owns only the items. */
function setOfValue(value: unknown, marked: JsonObject | undefined, types: TypedSchema, dotted: boolean): FieldSet {
  const schema = resolveSchema(marked, types) ?? marked;
  if (isObject(value)) {
    if (isAtomicMap(marked, types)) return {};
    // A Go struct of a built-in kind always exists, so it gets no `.`. Maps and custom objects can be absent, so they get one.
    const own = dotted && Object.keys(value).length > 0 && (!types.open || isObject(schema?.additionalProperties));
    const out: FieldSet = own ? { '.': {} } : {};
    for (const [key, item] of Object.entries(value)) {
      out[`f:${key}`] = setOfValue(item, markedField(schema, key) ?? fieldSchema(schema, key, types), types, dotted);
    }
    return out;
  }
  if (!Array.isArray(value)) return {};
  const keys = listMapKeys(marked) ?? listMapKeys(schema);
  const itemType = itemSchema(schema, types);
  const out: FieldSet = {};
  if (keys) {
    for (const item of value) {
      if (isObject(item))
        out[itemKey(item, keys, itemType)] = { '.': {}, ...setOfValue(item, itemType, types, dotted) };
    }
  } else if (isSetList(marked)) for (const item of value) out[`v:${JSON.stringify(item)}`] = {};
  return out;
}

/** The fields of an object that have owners, without identity and system fields. `operation` is the one that set them. */
export function fieldSetOf(object: JsonObject, types: TypedSchema, operation: 'Apply' | 'Update'): FieldSet {
  const dotted = operation === 'Update';
  const { metadata, ...rest } = object;
  const out: FieldSet = {};
  const owned = Object.fromEntries(Object.entries(asObject(metadata)).filter(([key]) => !ignoredMetadata.has(key)));
  const { '.': _whole, ...meta } = setOfValue(owned, fieldSchema(types.root, 'metadata', types), types, dotted);
  if (Object.keys(meta).length > 0) out['f:metadata'] = meta;
  for (const [key, value] of Object.entries(rest)) {
    if (!ignoredTop.has(key)) out[`f:${key}`] = setOfValue(value, markedField(types.root, key), types, dotted);
  }
  return out;
}

/** The fields of `next` that are new or different from `previous`. */
export function changedFields(next: JsonObject, previous: JsonObject, types: TypedSchema): FieldSet {
  const walk = (value: unknown, old: unknown, marked: JsonObject | undefined): FieldSet | undefined => {
    if (equalJson(value, old)) return undefined;
    const schema = resolveSchema(marked, types) ?? marked;
    if (isObject(value) && isObject(old) && !isAtomicMap(marked, types)) {
      const out: FieldSet = {};
      for (const [key, item] of Object.entries(value)) {
        const part = walk(item, old[key], markedField(schema, key) ?? fieldSchema(schema, key, types));
        if (part) out[`f:${key}`] = part;
      }
      return Object.keys(out).length > 0 ? out : undefined;
    }
    const keys = listMapKeys(marked);
    if (Array.isArray(value) && Array.isArray(old) && keys) {
      const itemType = itemSchema(schema, types);
      const before = new Map(old.map((item) => [itemIdentity(item, keys, itemType), item]));
      const out: FieldSet = {};
      for (const item of value) {
        const part = walk(item, before.get(itemIdentity(item, keys, itemType)), itemType);
        if (part && isObject(item)) out[itemKey(item, keys, itemType)] = part;
      }
      return Object.keys(out).length > 0 ? out : undefined;
    }
    return setOfValue(value, marked, types, true);
  };
  const strip = (object: JsonObject): JsonObject => {
    const { apiVersion: _v, kind: _k, metadata, ...rest } = object;
    const meta = Object.fromEntries(Object.entries(asObject(metadata)).filter(([key]) => !ignoredMetadata.has(key)));
    return { metadata: meta, ...rest };
  };
  return walk(strip(next), strip(previous), types.root) ?? {};
}

/** The union of both sets. */
export function unionSet(a: FieldSet, b: FieldSet): FieldSet {
  const out: FieldSet = { ...a };
  for (const [key, value] of Object.entries(b)) out[key] = unionSet(asObject(out[key]), asObject(value));
  return out;
}

/** The leaves of `a` that are not in `b`, with their parents; undefined when none is left. */
export function subtractSet(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const out: FieldSet = {};
  for (const [key, value] of Object.entries(a)) {
    const other = b[key];
    if (other === undefined) out[key] = value;
    else if (Object.keys(asObject(value)).length > 0) {
      const left = subtractSet(asObject(value), asObject(other));
      if (left) out[key] = left;
    }
  }
  const left = Object.keys(out);
  // A member without remaining items is written without its `.`.
  if (left.length === 1 && left[0] === '.') return {};
  return left.length > 0 ? out : undefined;
}

export interface ManagerEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339. */
  readonly time: string;
}

/** Whether an entry of managedFields belongs to this manager. */
export function isEntryOf(entry: unknown, who: ManagerEntry): boolean {
  const { manager, operation, subresource } = asObject(entry);
  return manager === who.manager && operation === who.operation && asString(subresource) === who.subresource;
}

/**
 * managedFields after `who` has set `fields`: its own entry grows (Update) or is replaced (Apply). The entries of the others lose
 * `taken`: all set fields for an update, the forced ones for an apply.
 */
export function recordManager(
  entries: unknown,
  who: ManagerEntry,
  fields: FieldSet,
  taken: FieldSet = fields,
): JsonObject[] {
  const out: JsonObject[] = [];
  let own: FieldSet = fields;
  for (const entry of asArray(entries).filter(isObject)) {
    if (isEntryOf(entry, who)) {
      if (who.operation === 'Update') own = unionSet(asObject(entry.fieldsV1), fields);
      continue;
    }
    const left = subtractSet(asObject(entry.fieldsV1), taken);
    if (left) out.push({ ...entry, fieldsV1: left });
  }
  if (Object.keys(own).length > 0) {
    const { subresource, ...rest } = who;
    out.push({
      manager: rest.manager,
      operation: rest.operation,
      apiVersion: rest.apiVersion,
      time: rest.time,
      fieldsType: 'FieldsV1',
      fieldsV1: own,
      ...(subresource === '' ? {} : { subresource }),
    });
  }
  return out;
}
