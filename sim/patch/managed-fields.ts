/**
 * metadata.managedFields: the owners of each field, as field sets in the FieldsV1 form. In it, `f:` is a field, `k:` a list item
 * by key, `v:` a set item, and `.` the object or item itself.
 *
 * A set is a tree of plain objects; a leaf is `{}`. Update entries collect all fields that a manager changed. Apply entries hold
 * exactly the fields of its last apply. When one manager changes a field, the entries of the others lose it.
 */
import { asArray, asObject, asString, at, equalJson, isObject, type JsonObject } from '../objects/json.ts';
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

/**
 * Members of built-in kinds that exist in every object, also in a new one. An update of fields in such a member adds no owner of the
 * member itself.
 */
const alwaysThere = new Set([
  'metadata',
  'spec',
  'status',
  'template',
  'jobTemplate',
  'strategy',
  'updateStrategy',
  'loadBalancer',
  'containers',
]);

/**
 * How fields get owners. An apply owns what it names. An update also owns the maps, objects and lists that it adds (`.`).
 * `old`: the value is in an object or list that was there before, so that its `alwaysThere` members were there too.
 */
type Ownership = 'apply' | 'update' | 'update in old';

function setOfValue(
  value: unknown,
  marked: JsonObject | undefined,
  types: TypedSchema,
  how: Ownership,
  isThere = false,
): FieldSet {
  const schema = resolveSchema(marked, types) ?? marked;
  const dot = (count: number): FieldSet => (how !== 'apply' && !isThere && count > 0 ? { '.': {} } : {});
  const inner = how === 'update in old' && isThere ? how : how === 'apply' ? how : 'update';
  if (isObject(value)) {
    if (isAtomicMap(marked, types)) return {};
    const members = Object.entries(value).filter(([key, item]) => !isUnset(item, schema, key, types, how));
    const out: FieldSet = dot(members.length);
    for (const [key, item] of members) {
      const there = inner === 'update in old' && types.open && alwaysThere.has(key);
      const field = markedField(schema, key) ?? fieldSchema(schema, key, types);
      out[`f:${key}`] = setOfValue(item, field, types, inner, there);
    }
    return out;
  }
  if (!Array.isArray(value)) return {};
  const keys = listMapKeys(marked) ?? listMapKeys(schema);
  const itemType = itemSchema(schema, types);
  if (!keys && !isSetList(marked)) return {};
  const out: FieldSet = dot(value.length);
  const item = how === 'apply' ? how : 'update';
  for (const each of value) {
    if (!keys) out[`v:${JSON.stringify(each)}`] = {};
    else if (isObject(each))
      out[itemKey(each, keys, itemType)] = { '.': {}, ...setOfValue(each, itemType, types, item, true) };
  }
  return out;
}

/** Whether an update leaves a member of a built-in kind unset: servers do not keep empty maps and lists of them. */
function isUnset(
  value: unknown,
  schema: JsonObject | undefined,
  key: string,
  types: TypedSchema,
  how: Ownership,
): boolean {
  if (how === 'apply' || !types.open) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value) || Object.keys(value).length > 0) return false;
  return isObject(fieldSchema(schema, key, types)?.additionalProperties) || alwaysThere.has(key);
}

/** The fields of an object that have owners, without identity and system fields. `operation` is the one that set them. */
export function fieldSetOf(object: JsonObject, types: TypedSchema, operation: 'Apply' | 'Update'): FieldSet {
  const how = operation === 'Update' ? 'update in old' : 'apply';
  const { '.': _whole, ...fields } = setOfValue(ownable(object), types.root, types, how, true);
  const { '.': _metadata, ...metadata } = asObject(fields['f:metadata']);
  const { 'f:metadata': _owned, ...rest } = fields;
  return Object.keys(metadata).length > 0 ? { 'f:metadata': metadata, ...rest } : rest;
}

/** The object without identity and system fields. */
function ownable(object: JsonObject): JsonObject {
  const members = Object.entries(object).filter(([key]) => !ignoredTop.has(key));
  const metadata = Object.entries(asObject(object.metadata)).filter(([key]) => !ignoredMetadata.has(key));
  return { ...Object.fromEntries(members), metadata: Object.fromEntries(metadata) };
}

/** The fields of `previous` that `next` lacks, with the maps and lists that it lacks. */
export function removedFields(next: JsonObject, previous: JsonObject, types: TypedSchema): FieldSet {
  // Most updates leave most of an object, and equal members lose nothing.
  const changed = Object.keys(previous).filter((key) => !equalJson(previous[key], next[key]));
  const fieldsOf = (object: JsonObject): FieldSet => {
    const members = changed.filter((key) => key in object).map((key) => [key, object[key]] as const);
    return fieldSetOf(Object.fromEntries(members), types, 'Update');
  };
  return subtractSet(fieldsOf(previous), fieldsOf(next)) ?? {};
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
        if (part && !isUnset(item, schema, key, types, 'update')) out[`f:${key}`] = part;
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
    return setOfValue(value, marked, types, 'update');
  };
  return walk(ownable(next), ownable(previous), types.root) ?? {};
}

/** The set of one field, by the keys that lead to it. */
export function fieldsOfPath(keys: readonly string[]): FieldSet {
  return keys.reduceRight<FieldSet>((inner, key) => ({ [`f:${key}`]: inner }), {});
}

/** Whether the set has the field that the keys lead to. */
export function hasField(fields: FieldSet, keys: readonly string[]): boolean {
  return at(fields, ...keys.map((key) => `f:${key}`)) !== undefined;
}

/** The union of both sets. */
export function unionSet(a: FieldSet, b: FieldSet): FieldSet {
  const out: FieldSet = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = a[key];
    const joined = unionSet(asObject(mine), asObject(value));
    // A leaf beside fields in it is the member itself.
    const isMember = (mine !== undefined && hasMember(mine)) || hasMember(value);
    out[key] = isMember && key !== '.' && Object.keys(joined).length > 0 ? { '.': {}, ...joined } : joined;
  }
  return out;
}

/** Whether a set in another one has the member itself, and not only fields in it. */
function hasMember(set: unknown): boolean {
  const fields = asObject(set);
  return Object.keys(fields).length === 0 || '.' in fields;
}

/** The fields of `a` that `b` lacks; undefined when there are none. */
export function subtractSet(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const out: FieldSet = {};
  for (const [key, value] of Object.entries(a)) {
    const other = b[key];
    if (other === undefined) out[key] = value;
    else {
      const { '.': _member, ...fields } = asObject(value);
      const left = subtractSet(fields, asObject(other));
      const keepsMember = hasMember(value) && !hasMember(other);
      // The member without fields in it is a leaf.
      if (left) out[key] = keepsMember ? { '.': {}, ...left } : left;
      else if (keepsMember) out[key] = {};
    }
  }
  return Object.keys(out).length > 0 ? out : undefined;
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
 * `taken`: all set fields for an update, the forced ones for an apply. All entries lose `removed`.
 */
export function recordManager(
  entries: unknown,
  who: ManagerEntry,
  fields: FieldSet,
  { taken = fields, removed = {} }: { readonly taken?: FieldSet; readonly removed?: FieldSet } = {},
): JsonObject[] {
  const out: JsonObject[] = [];
  let own: JsonObject | undefined;
  for (const entry of asArray(entries).filter(isObject)) {
    const isOwn = isEntryOf(entry, who);
    if (isOwn) own = entry;
    const left = isOwn ? undefined : subtractSet(subtractSet(asObject(entry.fieldsV1), taken) ?? {}, removed);
    if (left) out.push({ ...entry, fieldsV1: left });
  }
  const before = who.operation === 'Update' ? (subtractSet(asObject(own?.fieldsV1), removed) ?? {}) : {};
  const fieldsV1 = unionSet(before, fields);
  if (Object.keys(fieldsV1).length > 0) {
    const { manager, operation, apiVersion, subresource } = who;
    const time = Object.keys(fields).length > 0 ? who.time : asString(own?.time);
    out.push({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1,
      ...(subresource === '' ? {} : { subresource }),
    });
  }
  return out.toSorted(byManager);
}

/** The order in which servers keep the entries: what is applied first, then by time and name. */
function byManager(a: JsonObject, b: JsonObject): number {
  for (const key of ['operation', 'time', 'manager', 'apiVersion', 'subresource']) {
    const [left, right] = [asString(a[key]), asString(b[key])];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** The entry of what was set before anything was applied to an object without managers. */
export function beforeFirstApply(object: JsonObject, types: TypedSchema, who: ManagerEntry): JsonObject[] {
  const { apiVersion, time } = who;
  return recordManager(
    [],
    { manager: 'before-first-apply', operation: 'Update', apiVersion, time, subresource: '' },
    fieldSetOf(object, types, 'Update'),
  );
}
