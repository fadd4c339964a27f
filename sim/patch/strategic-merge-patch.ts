/**
 * Strategic merge patch: a JSON merge patch in which lists with a merge key are merged by item. Supports `$patch:
 * delete|replace`, `$retainKeys` and `$deleteFromPrimitiveList/...`. Only for built-in kinds.
 */
import { asArray, asString, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import { fieldSchema, itemSchema, resolveSchema, type TypedSchema } from '../schema/schema-walk.ts';

/** Applies the patch to a copy of the target. */
export function strategicMergePatch(target: unknown, patch: JsonObject, types: TypedSchema): JsonObject {
  return mergeObject(isObject(target) ? target : {}, patch, types.root, types);
}

function mergeObject(
  target: JsonObject,
  patch: JsonObject,
  schema: JsonObject | undefined,
  types: TypedSchema,
): JsonObject {
  if (patch.$patch === 'replace') return withoutDirectives(patch);
  if (patch.$patch === 'delete') return {};
  const retain = Array.isArray(patch.$retainKeys) ? new Set(patch.$retainKeys) : undefined;
  const out: JsonObject = retain
    ? Object.fromEntries(Object.entries(target).filter(([key]) => retain.has(key)))
    : { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$retainKeys' || key === '$patch' || key.startsWith('$setElementOrder/')) continue;
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const name = key.slice('$deleteFromPrimitiveList/'.length);
      out[name] = asArray(out[name]).filter((item) => !asArray(value).some((gone) => equalJson(gone, item)));
    } else if (value === null) delete out[key];
    else {
      const properties = isObject(schema?.properties) ? schema.properties : {};
      const marked = isObject(properties[key]) ? properties[key] : fieldSchema(schema, key, types);
      const resolved = resolveSchema(marked, types);
      if (isObject(value)) out[key] = mergeObject(isObject(out[key]) ? out[key] : {}, value, resolved, types);
      else if (Array.isArray(value)) {
        const merged = mergeList(asArray(out[key]), value, marked, types);
        const order = patch[`$setElementOrder/${key}`];
        out[key] = Array.isArray(order) ? inOrder(merged, order, asArray(target[key]), marked) : merged;
      } else out[key] = value;
    }
  }
  return out;
}

function mergeList(
  target: readonly unknown[],
  patch: readonly unknown[],
  marked: JsonObject | undefined,
  types: TypedSchema,
): unknown[] {
  const mergeKey = asString(marked?.['x-kubernetes-patch-merge-key']);
  const itemType = itemSchema(resolveSchema(marked, types), types);
  if (patch.some((item) => isObject(item) && item.$patch === 'replace')) {
    return patch.filter((item) => !(isObject(item) && item.$patch === 'replace'));
  }
  if (mergeKey === '') {
    const merges = asString(marked?.['x-kubernetes-patch-strategy']).split(',').includes('merge');
    return merges ? [...target, ...patch.filter((item) => !target.includes(item))] : [...patch];
  }
  const out = [...target];
  for (const item of patch) {
    if (!isObject(item)) continue;
    const index = out.findIndex((known) => isObject(known) && equalJson(known[mergeKey], item[mergeKey]));
    const known = out[index];
    if (item.$patch === 'delete') {
      if (index >= 0) out.splice(index, 1);
    } else if (isObject(known)) out[index] = mergeObject(known, item, itemType, types);
    else out.push(mergeObject({}, item, itemType, types));
  }
  return out;
}

/** Sorts the items by `order`. Items that `order` lacks keep their position relative to the others. */
function inOrder(
  items: readonly unknown[],
  order: readonly unknown[],
  before: readonly unknown[],
  marked: JsonObject | undefined,
): unknown[] {
  const mergeKey = asString(marked?.['x-kubernetes-patch-merge-key']);
  const keyOf = (item: unknown): string => JSON.stringify(isObject(item) ? item[mergeKey] : item);
  const wanted = order.map(keyOf);
  const previous = before.map(keyOf);
  const listed = items
    .filter((item) => wanted.includes(keyOf(item)))
    .sort((a, b) => wanted.indexOf(keyOf(a)) - wanted.indexOf(keyOf(b)));
  const out: unknown[] = [];
  for (const other of items.filter((item) => !wanted.includes(keyOf(item)))) {
    for (let next = listed[0]; next !== undefined && previous.includes(keyOf(next)); next = listed[0]) {
      if (previous.indexOf(keyOf(next)) > previous.indexOf(keyOf(other))) break;
      out.push(listed.shift());
    }
    out.push(other);
  }
  return [...out, ...listed];
}

function withoutDirectives(patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')));
}
