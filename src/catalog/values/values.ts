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
import { isRawJson, rawJson } from './raw-json.ts';
import { parseTime, timeOfEpoch } from './time.ts';

/**
 * The sort key of a value; comparisons use it too. All keys of one leaf type are comparable.
 * - text: String, Quantity, IntOrString, IP and JSON
 * - number: Boolean, Float and safe Int
 * - bigint: Int64, DateTime and Duration
 */
export type OrderKey = string | number | bigint;

/** Longer runs of digits are ordered by code point, also in natural order. */
const longestRun = 999;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** The key of a JSON value; null when it is absent, null, or does not fit the leaf. Lone surrogates count as U+FFFD. */
export function orderKey(type: LeafType, value: unknown): OrderKey | null {
  switch (type) {
    case 'String':
      return typeof value === 'string' ? value.toWellFormed() : null;
    case 'Boolean':
      return typeof value === 'boolean' ? (value ? 1 : 0) : null;
    case 'Int':
      // Adding 0 turns -0 into 0, here and below: SQLite has one zero.
      if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : null;
      return narrow(integerOf(value));
    case 'Int64':
      if (typeof value === 'string') return /^-?[0-9]{1,19}$/.test(value) ? inRange(BigInt(value)) : null;
      return integerOf(value);
    case 'Float':
      return floatOf(value);
    case 'DateTime':
      return typeof value === 'string' ? parseTime(value) : null;
    case 'Duration':
      return typeof value === 'string' ? parseDuration(value) : null;
    case 'Quantity':
      return quantityKey(value);
    case 'IntOrString':
      if (typeof value === 'string') return `s${value.toWellFormed()}`;
      if (typeof value === 'number' && !Number.isInteger(value)) return null;
      return numberKey(value);
    case 'IP':
      if (typeof value !== 'string') return null;
      return ipKey(value.toWellFormed()) ?? `s${value.toWellFormed()}`;
    case 'JSON':
      if (typeof value === 'string') return `s${value.toWellFormed()}`;
      if (typeof value === 'boolean') return value ? 'b1' : 'b0';
      return numberKey(value);
  }
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
 * @throws SyntaxError as JSON.parse does.
 */
export function parseExact(text: string): unknown {
  // Sixteen consecutive digits rarely occur outside such integers, so nearly every body takes the fast path.
  return hasDigits(text, 16) ? JSON.parse(text, keepIntegers) : JSON.parse(text);
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

const wanted: Readonly<Record<LeafType, string>> = {
  String: 'a string',
  Boolean: 'true or false',
  Int: 'an integer',
  Int64: 'an integer of at most 64 bits, as a string when it is beyond 2^53 - 1',
  Float: 'a number',
  DateTime: 'a time such as "2026-01-31T12:00:00Z"',
  Duration: 'a duration such as "1h30m" or "250ms"',
  Quantity: 'a quantity such as "250m", "1Gi" or 2',
  IntOrString: 'an integer or a string',
  IP: 'a string such as "10.0.0.1" or "2001:db8::1"',
  JSON: 'a string, a number or a boolean',
};

/**
 * The reason why a caller's value is not comparable with a leaf of this type (part of a sentence), or null when it is comparable.
 */
export function checkValue(type: LeafType, value: unknown): string | null {
  if (orderKey(type, value) !== null) return null;
  const shown = JSON.stringify(typeof value === 'bigint' ? value.toString() : value) ?? 'nothing';
  const epoch = type === 'DateTime' ? timeOfEpoch(value) : null;
  const instead = epoch === null ? '' : `; perhaps ${JSON.stringify(epoch)} is meant`;
  return `${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown} is not ${wanted[type]}${instead}`;
}

/** Folds A to Z to lower case and no other letters, as `ignoreCase` does. */
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

function narrow(value: bigint | null): number | bigint | null {
  return value !== null && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
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
  const decimal = parseDecimal(digitsOf(value) ?? '');
  const key = decimal === null ? null : decimalKey(decimal);
  return key === null ? null : `n${key}`;
}

function quantityKey(value: unknown): string | null {
  const decimal = parseQuantity(typeof value === 'string' ? value : (digitsOf(value) ?? ''));
  return decimal === null ? null : decimalKey(decimal);
}

/**
 * A text whose order by code point is the natural order of `text`: runs of digits count by their value, so web-2 sorts before
 * web-10. Texts that differ only in leading zeros have one key.
 */
export function naturalKey(text: string): string {
  return text.replace(/0*([0-9]+)/g, (run: string, digits: string) =>
    digits.length > longestRun ? run : `0${String(digits.length).padStart(3, '0')}${digits}`,
  );
}
