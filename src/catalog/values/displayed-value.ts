/**
 * The displayed form of a stored value, by its type in the field tree. The executor's resolvers and prepared answers
 * (src/store/pages/page-writer.ts) both use it.
 *
 * A value that does not fit its schema (an object instead of a list, for example) is displayed as null. `raw` and `value(path:)`
 * show it unchanged.
 */
import { isRecord } from '../../base/json.ts';
import type { FieldType, LeafType } from '../tree/field-tree.ts';
import { isRawJson, rawJsonText } from './raw-json.ts';
import { orderKey } from './values.ts';

type Json = Readonly<Record<string, unknown>>;

/** Is the value a JSON object? */
export function isObject(value: unknown): value is Json {
  return isRecord(value) && !isRawJson(value);
}

/** The value as a JSON object, or null for other values. */
export function recordOf(value: unknown): Json | null {
  return isObject(value) ? value : null;
}

/** The own member of that name; properties inherited from JavaScript's Object do not count. */
export function memberOf(object: Json, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The displayed value of an object's member, by its type. */
export function displayedMember(type: FieldType, object: Json, name: string): unknown {
  return shown(type, memberOf(object, name));
}

/** The value if it fits its type, null otherwise. List elements that do not fit are left out. */
export function shown(type: FieldType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (type.kind) {
    case 'list': {
      if (!Array.isArray(value)) return null;
      const { of } = type;
      if (of.kind === 'leaf' && of.type === 'JSON') return value;
      return value.map((item) => shown(of, item)).filter((item) => item !== null);
    }
    case 'object':
    case 'stringMap':
    case 'map':
      return recordOf(value);
    case 'leaf':
      if (!fits(type.type, value)) return null;
      // Objects may be of another list of values than the schema: they are made anew after it.
      if (type.values !== undefined && !type.values.includes(String(value))) return null;
      return type.type === 'Float' && isRawJson(value) ? finite(Number(rawJsonText(value))) : value;
  }
}

/** A number that a double can hold. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** True if the leaf's scalar can represent this value. */
function fits(type: LeafType, value: unknown): boolean {
  switch (type) {
    case 'String':
    case 'DateTime':
    case 'Duration':
    case 'IP':
      return typeof value === 'string';
    case 'Boolean':
      return typeof value === 'boolean';
    case 'Int':
      return Number.isInteger(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31;
    case 'Int64':
      return orderKey(type, value) !== null;
    case 'Float':
      return Number.isFinite(value) || isRawJson(value);
    case 'Quantity':
    case 'IntOrString':
      return typeof value === 'string' || typeof value === 'number' || isRawJson(value);
    case 'JSON':
      return true;
  }
}

/** An int64 as a number if a double holds it exactly, otherwise as its digits; undefined for a value that is not an integer. */
export function displayedInt64(value: unknown): number | string | undefined {
  if (isRawJson(value)) return rawJsonText(value);
  if (typeof value === 'bigint') {
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(value)
      : `${value}`;
  }
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) return displayedInt64(BigInt(value));
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** A quantity as text, also where it is written as a number. */
export function displayedQuantity(value: unknown): unknown {
  if (isRawJson(value)) return rawJsonText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
