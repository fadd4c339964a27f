/**
 * The semantics of docs/values.md. SQL, the JavaScript evaluator, cursors and live matching all use this module.
 *
 * Invariant: two values of one leaf type compare as their keys do. Keys compare in SQLite as in compareKeys: integers and reals
 * by value, text by its UTF-8 bytes.
 */

import type { LeafType } from '../tree/field-tree.ts';
import { decimalKey, parseDecimal } from './decimal.ts';
import { parseDuration } from './duration.ts';
import { ipKey } from './ip.ts';
import { parseQuantity } from './quantity.ts';
import { isRawJson, parseDeep, rawJson } from './raw-json.ts';
import { isRelativeTime } from './relative-time.ts';
import { parseTime, timeOfEpoch } from './time.ts';

/**
 * The sort key of a value; comparisons use it too. All keys of one leaf type are comparable.
 * - text: String, Quantity, IntOrString, IP, ResourceVersion, Number and JSON
 * - number: Boolean, Float and Int
 * - bigint: Int64, DateTime, Time and Duration
 */
export type OrderKey = string | number | bigint;

/** Longer runs of digits are ordered by code point, also in natural order. */
const longestRun = 999;
/** Resource versions that can be compared are such (KEP-5504). */
const wholeNumber = /^(0|[1-9][0-9]*)$/;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** The key of a JSON value; null when it is absent, null, or does not fit the leaf. Lone surrogates count as U+FFFD. */
export function orderKey(type: LeafType, value: unknown): OrderKey | null {
  switch (type) {
    case 'String':
      return scalarText(value)?.toWellFormed() ?? null;
    case 'Boolean':
      return typeof value === 'boolean' ? (value ? 1 : 0) : null;
    case 'Int':
      // Adding 0 turns -0 into 0, here and below: SQLite has one zero.
      return isInt(value) ? value + 0 : null;
    case 'Int64':
      if (typeof value === 'string') return /^-?[0-9]{1,19}$/.test(value) ? inRange(BigInt(value)) : null;
      return integerOf(value);
    case 'Float':
      return floatOf(value);
    case 'DateTime':
      return typeof value === 'string' ? parseTime(value) : null;
    case 'Time':
      return typeof value === 'string' ? (parseTime(value) ?? parseTime(`${value}T00:00:00Z`)) : null;
    case 'Duration':
      return typeof value === 'string' ? parseDuration(value) : null;
    case 'Quantity':
      return quantityKey(value);
    case 'IntOrString':
      if (typeof value === 'string') return `s${value.toWellFormed()}`;
      if (typeof value === 'number' && !Number.isInteger(value)) return null;
      return numberKey(value);
    case 'IP': {
      const text = scalarText(value)?.toWellFormed();
      return text === undefined ? null : (ipKey(text) ?? `s${text}`);
    }
    case 'ResourceVersion':
      if (typeof value !== 'string') return null;
      return (wholeNumber.test(value) ? numberTextKey(value) : null) ?? `s${value.toWellFormed()}`;
    case 'Number':
      return decimalTextKey(typeof value === 'string' ? value : digitsOf(value));
    case 'JSON':
      if (typeof value === 'string') return `s${value.toWellFormed()}`;
      if (typeof value === 'boolean') return value ? 'b1' : 'b0';
      return numberKey(value);
  }
}

/** The text that a String shows: a string itself, or the JSON text of a number or boolean. Other values have none. */
export function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isRawJson(value) ? value.rawJSON : null;
}

/** Orders two keys of one leaf type; text by code point, which is the order of its UTF-8 bytes. */
export function compareKeys(a: OrderKey, b: OrderKey): -1 | 0 | 1 {
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : 1;
  if (typeof b === 'string') return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Orders two texts by code point. JavaScript's own `<` compares UTF-16 units, which differs outside the Basic Multilingual Plane.
 */
export function compareText(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let left = a.charCodeAt(i);
    let right = b.charCodeAt(i);
    if (left === right) continue;
    // Surrogates encode code points above U+FFFF, so they sort after U+E000 to U+FFFF.
    if (left >= 0xd800 && right >= 0xd800) {
      left += left >= 0xe000 ? -0x800 : 0x2000;
      right += right >= 0xe000 ? -0x800 : 0x2000;
    }
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
}

/**
 * JSON.parse, except that integers beyond ±(2^53 - 1) become raw JSON (raw-json.ts), which JSON.stringify writes exactly.
 * @param reviver decides otherwise about these integers; it is not called for texts without any
 * @throws SyntaxError as JSON.parse does.
 */
export function parseExact(text: string, reviver = keepIntegers): unknown {
  // Sixteen consecutive digits rarely occur outside such integers, so nearly every body takes the fast path.
  if (!hasDigits(text, 16)) return JSON.parse(text);
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    // JSON.parse calls a reviver by recursion, and without one it takes any depth.
    if (error instanceof RangeError)
      return parseDeep(text, (source) => reviver.call(null, '', Number(source), { source }));
    throw error;
  }
}

/** True if the text has that many consecutive digits. Samples one character per window, and scans the neighbours of a digit. */
function hasDigits(text: string, count: number): boolean {
  for (let at = count - 1; at < text.length; at += count) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let from = at;
    while (from > 0 && isDigit(text.charCodeAt(from - 1))) from -= 1;
    let to = at + 1;
    while (to < text.length && isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= count) return true;
  }
  return false;
}

/** Is it the code of an ASCII digit? */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function keepIntegers(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?[0-9]+$/.test(source) ? rawJson(source) : value;
}

/** The values that a leaf of each type takes, as part of a sentence. */
export const wanted: Readonly<Record<LeafType, string>> = {
  String: 'a string',
  Boolean: 'true or false',
  Int: 'an integer of 32 bits',
  Int64: 'an integer of at most 64 bits, as a string when it is beyond 2^53 - 1',
  Float: 'a number',
  DateTime: 'a time such as "2026-01-31T12:00:00Z"',
  Time: 'a time such as "2026-01-31T12:00:00Z" or "2026-01-31"',
  Duration: 'a duration such as "1h30m" or "250ms"',
  Quantity: 'a quantity such as "250m", "1Gi" or 2',
  IntOrString: 'an integer or a string',
  IP: 'a string such as "10.0.0.1" or "2001:db8::1"',
  ResourceVersion: 'a string',
  Number: 'a number such as 5 or "1.5"',
  JSON: 'a string, a number or a boolean',
};

const takesNumber: ReadonlySet<LeafType> = new Set([
  'Int',
  'Int64',
  'Float',
  'Quantity',
  'Number',
  'IntOrString',
  'JSON',
]);

/**
 * The reason why a caller's value is not comparable with a leaf of this type (part of a sentence), or null when it is comparable.
 */
export function checkValue(type: LeafType, value: unknown): string | null {
  // A stored number is a text in a String. A caller who compares a String with a number has mistaken the path.
  const isComparable = (type !== 'String' && type !== 'IP') || typeof value === 'string';
  if (isComparable && orderKey(type, value) !== null) return null;
  // A literal or a variable such as 1e400.
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const advice = takesNumber.has(type) ? 'a number as text, in a condition by path with as: NUMBER' : wanted[type];
    return `is beyond the numbers of JSON; write ${advice}`;
  }
  const shown = JSON.stringify(typeof value === 'bigint' ? value.toString() : value) ?? 'nothing';
  const isTime = type === 'DateTime' || type === 'Time';
  const meant = isTime ? (timeOfEpoch(value) ?? relativeTimeOf(value)) : null;
  const instead = meant === null ? '' : `; perhaps ${JSON.stringify(meant)} is meant`;
  const more = isTime ? ', or "-10m" for ten minutes ago' : '';
  return `${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown} is not ${wanted[type]}${more}${instead}`;
}

/** A relative time to the past, of which the sign was left out. */
function relativeTimeOf(value: unknown): string | null {
  return typeof value === 'string' && isRelativeTime(`-${value}`) ? `-${value}` : null;
}

/** Folds A to Z alone to lower case, as `ignoreCase` does. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function inRange(value: bigint): bigint | null {
  return value >= minInt64 && value <= maxInt64 ? value : null;
}

/** A 64-bit integer, or null; also null for a number that may have been rounded. */
function integerOf(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (typeof value === 'bigint') return inRange(value);
  return isRawJson(value) && /^-?[0-9]{1,19}$/.test(value.rawJSON) ? inRange(BigInt(value.rawJSON)) : null;
}

/** Is it an integer of 32 bits, as GraphQL's Int? */
function isInt(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31;
}

function floatOf(value: unknown): number | null {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'bigint'
        ? Number(value)
        : isRawJson(value)
          ? Number(value.rawJSON)
          : Number.NaN;
  return Number.isFinite(number) ? number + 0 : null;
}

/** The digits of a JSON number; null for anything else. */
function digitsOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value === 'bigint') return value.toString();
  return isRawJson(value) ? value.rawJSON : null;
}

function numberKey(value: unknown): string | null {
  return numberTextKey(digitsOf(value));
}

/** The key of a number among texts. */
function numberTextKey(text: string | null): string | null {
  const key = decimalTextKey(text);
  return key === null ? null : `n${key}`;
}

/** The key of a number in decimal digits; null for any other text. */
function decimalTextKey(text: string | null): string | null {
  const decimal = parseDecimal(text ?? '');
  return decimal === null ? null : decimalKey(decimal);
}

function quantityKey(value: unknown): string | null {
  const decimal = parseQuantity(typeof value === 'string' ? value : (digitsOf(value) ?? ''));
  return decimal === null ? null : decimalKey(decimal);
}

/** Do texts of this leaf type have their letters in the key? Then `ignoreCase` and natural order apply to it. */
export function hasTextKey(type: LeafType): boolean {
  return type === 'String' || type === 'IntOrString' || type === 'ResourceVersion' || type === 'JSON';
}

/**
 * The natural key of a key of a type with text keys. In its order by code point, runs of digits count by their value: web-2 sorts before
 * web-10. Texts that differ only in leading zeros have one key. Keys of numbers and booleans do not change.
 */
export function naturalKey(type: LeafType, key: string): string {
  if (type !== 'String' && !key.startsWith('s')) return key;
  return key.replace(/0*([0-9]+)/g, (run: string, digits: string) =>
    digits.length > longestRun ? run : `0${String(digits.length).padStart(3, '0')}${digits}`,
  );
}
