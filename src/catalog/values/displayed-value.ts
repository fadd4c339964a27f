/**
 * What of a stored value is shown under its type in the field tree: the one truth of the executor's resolvers and of prepared
 * answers (src/store/pages/page-writer.ts).
 *
 * A value that does not have the form its schema promises (an object where a list should be) is shown as null; `raw` and
 * `value(path:)` show it as it is.
 */
import type { FieldType, LeafType } from '../tree/field-tree.ts';
import { isRawJson, rawJsonText } from './raw-json.ts';
import { orderKey } from './values.ts';

type Json = Readonly<Record<string, unknown>>;

/** The value as a JSON object, or null when it is anything else. */
export function recordOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value)
    ? (value as Json)
    : null;
}

/** The member of that name; what every object of JavaScript has besides is none. */
export function memberOf(object: Json, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** What is shown of an object's member under its type. */
export function displayedMember(type: FieldType, object: Json, name: string): unknown {
  return shown(type, memberOf(object, name));
}

/** The value if it has the form of its type, null otherwise; elements of a list that do not have it are left out. */
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
      return recordOf(value);
    case 'map':
      return value;
    case 'leaf':
      if (!fits(type.type, value)) return null;
      return type.type === 'Float' && isRawJson(value) ? finite(Number(rawJsonText(value))) : value;
  }
}

/** A number that a double can hold. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Can the leaf's scalar show this value? */
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
      return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31;
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

/** An int64 as a number while a double holds it exactly, as its digits otherwise; undefined for anything that is no integer. */
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
