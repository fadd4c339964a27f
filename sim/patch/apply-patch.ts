/**
 * Server-side apply: merges the applied configuration into the live object by schema. Source: KEP-555.
 *
 * - Fields that the manager applied before and now omits are removed, unless another manager owns them.
 * - A field that another manager owns with another value is a conflict, unless the apply is forced.
 */

import { asArray, asObject, asString, at, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import { type StatusCause, StatusError } from '../objects/status-error.ts';
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
import {
  type FieldSet,
  fieldSetOf,
  isEntryOf,
  itemKey,
  type ManagerEntry,
  subtractSet,
  unionSet,
} from './managed-fields.ts';

interface ApplyRequest {
  readonly live: JsonObject;
  readonly applied: JsonObject;
  readonly types: TypedSchema;
  readonly who: ManagerEntry;
  readonly force: boolean;
}

/**
 * The merged object, the fields that the manager now owns, and those it took from others by force. Throws a 409 Status with a
 * cause for each conflict.
 */
export function applyPatch(request: ApplyRequest): { merged: JsonObject; fields: FieldSet; taken: FieldSet } {
  const { live, applied, types, who, force } = request;
  const fields = fieldSetOf(applied, types, 'Apply');
  const entries = asArray(at(live, 'metadata', 'managedFields')).filter(isObject);
  const others = entries.filter((entry) => !isEntryOf(entry, who));
  const conflicts = conflictsOf(others, fields, live, applied, types);
  if (!force) refuseConflicts(conflicts);
  const taken = conflicts.reduce<FieldSet>((all, { path }) => unionSet(all, setOfPath(path)), {});
  let merged = mergeApplied(live, applied, types.root, types) as JsonObject;
  const before = asObject(entries.find((entry) => isEntryOf(entry, who))?.fieldsV1);
  const dropped = subtractSet(before, fields);
  const foreign = others.reduce<FieldSet>((all, entry) => unionSet(all, asObject(entry.fieldsV1)), {});
  const gone = dropped ? subtractSet(dropped, foreign) : undefined;
  if (gone) merged = removeFields(merged, gone, types.root, types) as JsonObject;
  return { merged, fields, taken };
}

interface FieldConflict {
  readonly path: readonly string[];
  readonly manager: string;
  readonly cause: StatusCause;
}

function setOfPath([step, ...rest]: readonly string[]): FieldSet {
  return step === undefined ? {} : { [step]: setOfPath(rest) };
}

function conflictsOf(
  others: readonly JsonObject[],
  fields: FieldSet,
  live: JsonObject,
  applied: JsonObject,
  types: TypedSchema,
): FieldConflict[] {
  const conflicts: FieldConflict[] = [];
  for (const entry of others.toSorted((a, b) => (asString(a.manager) < asString(b.manager) ? -1 : 1))) {
    for (const path of sharedLeaves(fields, asObject(entry.fieldsV1))) {
      if (equalJson(valueAt(live, path, types.root, types), valueAt(applied, path, types.root, types))) continue;
      const manager = shownManager(entry);
      const field = path.map(shownStep).join('');
      conflicts.push({
        path,
        manager,
        cause: { reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field },
      });
    }
  }
  return conflicts;
}

/** `"name" with subresource "scale" using apps/v1`: the version only of a manager that does not apply. */
function shownManager({ manager, subresource, operation, apiVersion }: JsonObject): string {
  const through = asString(subresource) === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(asString(manager))}${through}${operation === 'Update' ? ` using ${asString(apiVersion)}` : ''}`;
}

function refuseConflicts(conflicts: readonly FieldConflict[]): void {
  const [first] = conflicts;
  if (!first) return;
  const causes = conflicts.map(({ cause }) => cause);
  const managers = [...new Set(conflicts.map(({ manager }) => manager))];
  const listed = managers.flatMap((manager) => [
    `conflicts with ${manager}:`,
    ...conflicts.filter((each) => each.manager === manager).map(({ cause }) => `- ${cause.field}`),
  ]);
  const text =
    causes.length === 1
      ? `1 conflict: ${first.cause.message}: ${first.cause.field}`
      : `${causes.length} conflicts: ${listed.join('\n')}`;
  throw new StatusError(409, 'Conflict', `Apply failed with ${text}`, { causes });
}

/** `.field`, `[key="value"]` or `[="item"]`. */
function shownStep(part: string): string {
  const text = part.slice(2);
  if (part.startsWith('f:')) return `.${text}`;
  if (part.startsWith('v:')) return `[=${text}]`;
  const keys = Object.entries(asObject(JSON.parse(text)));
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}

/** The leaves in both sets, at each level before what is deeper. When one set has a list or map as a whole and the other has its items, there is no conflict. */
function sharedLeaves(a: FieldSet, b: FieldSet, path: string[] = []): string[][] {
  const leaves: string[][] = [];
  const deeper: string[][] = [];
  for (const [key, value] of Object.entries(a).toSorted(([x], [y]) => (x < y ? -1 : 1))) {
    const other = b[key];
    if (other === undefined || key === '.') continue;
    const leaf = Object.keys(asObject(value)).length === 0;
    const otherLeaf = Object.keys(asObject(other)).length === 0;
    if (leaf && otherLeaf) leaves.push([...path, key]);
    else if (!leaf && !otherLeaf) deeper.push(...sharedLeaves(asObject(value), asObject(other), [...path, key]));
  }
  return [...leaves, ...deeper];
}

function valueAt(value: unknown, path: readonly string[], schema: JsonObject | undefined, types: TypedSchema): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  if (part.startsWith('f:')) {
    const key = part.slice(2);
    return isObject(value) ? valueAt(value[key], rest, marked(schema, key, types), types) : undefined;
  }
  const resolved = resolveSchema(schema, types);
  const itemType = itemSchema(resolved, types);
  const keys = listMapKeys(schema) ?? [];
  const item = asArray(value).find((entry) =>
    isObject(entry) && part.startsWith('k:')
      ? itemKey(entry, keys, itemType) === part
      : `v:${JSON.stringify(entry)}` === part,
  );
  return valueAt(item, rest, itemType, types);
}

/** The schema of a field, including the list extensions next to its `$ref`. */
function marked(schema: JsonObject | undefined, key: string, types: TypedSchema): JsonObject | undefined {
  const resolved = resolveSchema(schema, types);
  const property = asObject(resolved?.properties)[key];
  return isObject(property) ? property : fieldSchema(resolved, key, types);
}

function mergeApplied(live: unknown, applied: unknown, schema: JsonObject | undefined, types: TypedSchema): unknown {
  const resolved = resolveSchema(schema, types);
  if (isObject(applied)) {
    if (!isObject(live) || isAtomicMap(schema, types)) return applied;
    const out: JsonObject = { ...live };
    for (const [key, value] of Object.entries(applied))
      out[key] = mergeApplied(live[key], value, marked(schema, key, types), types);
    return out;
  }
  if (!Array.isArray(applied) || !Array.isArray(live)) return applied;
  const keys = listMapKeys(schema);
  const itemType = itemSchema(resolved, types);
  if (keys) {
    const rest = new Map(applied.map((item) => [itemIdentity(item, keys, itemType), item]));
    const out = live.map((item) => {
      const id = itemIdentity(item, keys, itemType);
      const found = rest.get(id);
      rest.delete(id);
      return found === undefined ? item : mergeApplied(item, found, itemType, types);
    });
    return [...out, ...rest.values()];
  }
  if (isSetList(schema)) return [...live, ...applied.filter((item) => !live.some((known) => equalJson(known, item)))];
  return applied;
}

function removeFields(value: unknown, gone: FieldSet, schema: JsonObject | undefined, types: TypedSchema): unknown {
  if (isObject(value)) {
    const out: JsonObject = { ...value };
    for (const [part, inner] of Object.entries(gone)) {
      const key = part.slice(2);
      if (!part.startsWith('f:') || !(key in out)) continue;
      if (Object.keys(asObject(inner)).length === 0) delete out[key];
      else {
        const left = removeFields(out[key], asObject(inner), marked(schema, key, types), types);
        // Servers keep no empty lists and maps of built-in kinds.
        if (types.open && (Array.isArray(left) || isObject(left)) && Object.keys(left).length === 0) delete out[key];
        else out[key] = left;
      }
    }
    return out;
  }
  if (!Array.isArray(value)) return value;
  const keys = listMapKeys(schema);
  const itemType = itemSchema(resolveSchema(schema, types), types);
  return value.flatMap((item) => {
    const part = keys && isObject(item) ? itemKey(item, keys, itemType) : `v:${JSON.stringify(item)}`;
    const inner = gone[part];
    if (inner === undefined) return [item];
    if (!isObject(inner) || Object.keys(inner).length === 0 || '.' in inner) return [];
    return [removeFields(item, inner, itemType, types)];
  });
}
