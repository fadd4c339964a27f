/**
 * JSON values of the simulated API server: plain trees, immutable once stored.
 *
 * Integers beyond the range of a double (an int64 such as 9007199254740993) stay exact. Parsing wraps them with JSON.rawJSON,
 * which JSON.stringify writes back digit for digit. Every helper here treats these wrappers as scalars.
 */
export type JsonObject = { [key: string]: unknown };

interface RawJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}
const raw = JSON as unknown as RawJson;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const keepBigIntegers: Reviver = (_key, value, context) =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) && context.source !== undefined
    ? raw.rawJSON(context.source)
    : value;

/** Parses JSON text. Uses the slow exact parser only when a number has 16 digits or more. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  return /\d{16}/.test(text)
    ? JSON.parse(text, keepBigIntegers as (key: string, value: unknown) => unknown)
    : JSON.parse(text);
}

/** True for `{...}`, false for lists, null, scalars and exact big integers. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !raw.isRawJSON(value);
}

/** True for an integer beyond the range of a double, kept as its digits. */
export function isBigInteger(value: unknown): boolean {
  return raw.isRawJSON(value);
}

/**
 * A value equal to `value` that shares memory with `other`: a part that equals the part of `other` at the same place is that part. Keys in
 * another order are not equal.
 */
export function sharing<T>(value: T, other: unknown): T {
  if (Array.isArray(value)) return Array.isArray(other) ? (sharedList(value, other) as T) : value;
  return isObject(value) && isObject(other) ? (sharedObject(value, other) as T) : value;
}

function sharedList(value: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const items = value.map((item, index) => sharing(item, other[index]));
  return items.length === other.length && items.every((item, index) => item === other[index]) ? other : items;
}

function sharedObject(value: JsonObject, other: JsonObject): JsonObject {
  const [keys, others] = [Object.keys(value), Object.keys(other)];
  // An assignment to this key would set a prototype.
  if (keys.includes('__proto__')) return value;
  const shared: JsonObject = {};
  let isEqual = keys.length === others.length;
  for (const [index, key] of keys.entries()) {
    const member = Object.hasOwn(other, key) ? sharing(value[key], other[key]) : value[key];
    shared[key] = member;
    isEqual &&= key === others[index] && member === other[key];
  }
  return isEqual ? other : shared;
}

/** The object, or an empty one for anything else. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The list, or an empty one for anything else. */
export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The string, or '' for anything else. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A deep copy. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) copy[key] = cloneJson((value as JsonObject)[key]);
  return copy as T;
}

/** Structural equality. Key order is ignored, and a key with the value undefined counts as absent. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  if (isObject(a)) {
    if (!isObject(b)) return false;
    const keys = Object.keys(a).filter((key) => a[key] !== undefined);
    if (keys.length !== Object.keys(b).filter((key) => b[key] !== undefined).length) return false;
    return keys.every((key) => b[key] !== undefined && equalJson(a[key], b[key]));
  }
  return isBigInteger(a) && isBigInteger(b) && JSON.stringify(a) === JSON.stringify(b);
}

/** JSON text with the keys of every object in alphabetical order, as servers write untyped objects. */
export function sortedJsonText(value: unknown): string {
  return JSON.stringify(sortedKeys(value));
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).sort()) sorted[key] = sortedKeys(value[key]);
  return sorted;
}

/** The value at a chain of keys, or undefined. */
export function at(value: unknown, ...keys: readonly string[]): unknown {
  let current = value;
  for (const key of keys) {
    if (!isObject(current)) return undefined;
    current = current[key];
  }
  return current;
}

/** The length of a value as JSON text, nearly: escapes and the bytes of non-ASCII characters are not counted. */
export function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + jsonBytes(item) + 1, 2);
  if (!isObject(value)) return 6;
  let sum = 2;
  for (const key in value) sum += key.length + 4 + jsonBytes(value[key]);
  return sum;
}
