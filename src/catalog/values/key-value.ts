/**
 * Converts an order key back to a value: the inverse of orderKey. Answers made of keys use it (groups, least and greatest values,
 * facets). Values that compare as equal have one key, and are displayed as one canonical value (docs/values.md).
 *
 * Invariant: orderKey(type, valueOfKey(type, key)) is `key`. This holds for every key of a number with at most 900 digits.
 */

import type { LeafType } from '../tree/field-tree.ts';
import { decimalKey, decimalOfKey, decimalText, parseDecimal } from './decimal.ts';
import { durationText } from './duration.ts';
import { ipOfKey } from './ip.ts';
import { quantityText } from './quantity.ts';
import { rawJson } from './raw-json.ts';
import { timeText } from './time.ts';
import type { OrderKey } from './values.ts';

/** The displayed value of a key, as in JSON; null for null. Integers beyond ±(2^53 - 1) are raw JSON, or digits for Int64. */
export function valueOfKey(type: LeafType, key: OrderKey | null): unknown {
  if (key === null) return null;
  switch (type) {
    case 'String':
      return key;
    case 'Boolean':
      return key.toString() === '1';
    case 'Int':
      return integer(BigInt(key));
    case 'Int64': {
      const value = BigInt(key);
      return isSafe(value) ? Number(value) : value.toString();
    }
    case 'Float':
      return Number(key);
    case 'DateTime':
    case 'Time':
      return timeText(BigInt(key));
    case 'Duration':
      return durationText(BigInt(key));
    case 'Quantity':
      return quantityText(decimalOfKey(String(key)));
    case 'IP': {
      const text = String(key);
      return text.startsWith('s') ? text.slice(1) : ipOfKey(text);
    }
    case 'ResourceVersion': {
      const text = String(key);
      return text.startsWith('s') ? text.slice(1) : decimalText(decimalOfKey(text.slice(1)));
    }
    case 'Number':
      return numberOrText(String(key));
    case 'IntOrString':
    case 'JSON':
      return scalar(String(key));
  }
}

/** A key of IntOrString and JSON begins with a tag of the value's type. */
function scalar(key: string): unknown {
  const rest = key.slice(1);
  if (key.startsWith('s')) return rest;
  if (key.startsWith('b')) return rest === '1';
  const decimal = decimalOfKey(rest);
  return decimal.exponent >= 0 ? integer(BigInt(decimalText(decimal))) : Number(decimalText(decimal));
}

/** A number where a double holds it, otherwise its digits. */
function numberOrText(key: string): number | string {
  const decimal = decimalOfKey(key);
  const text = decimalText(decimal);
  const number = Number(text);
  const held = parseDecimal(String(number));
  const isHeld = held !== null && decimalKey(held) === key && (decimal.exponent < 0 || Number.isSafeInteger(number));
  return isHeld ? number : text;
}

function integer(value: bigint): unknown {
  return isSafe(value) ? Number(value) : rawJson(value.toString());
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}
