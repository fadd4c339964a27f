/**
 * A tally of one leaf's keys: the number of values, their exact sum, the least and the greatest. SQLite cannot add decimals
 * exactly, so its aggregates use tallies (src/store/sqlite/sql-functions.ts). Tallies of several kinds are merged here.
 */

import type { LeafType } from '../tree/field-tree.ts';
import { addDecimals, type Decimal, decimalOfKey, parseDecimal, zero } from './decimal.ts';
import { compareKeys, type OrderKey } from './values.ts';

const summable: ReadonlySet<LeafType> = new Set(['Int', 'Int64', 'Float', 'Quantity', 'Duration', 'Number']);

/** True if the values of this leaf type can be summed. */
export function isSummable(type: LeafType): boolean {
  return summable.has(type);
}

/** The number that a key of a summable type represents; durations in seconds. */
export function numberOfKey(type: LeafType, key: OrderKey): Decimal {
  if (type === 'Quantity' || type === 'Number') return decimalOfKey(String(key));
  if (type === 'Float') return parseDecimal(String(key)) ?? zero;
  return { coefficient: BigInt(key), exponent: type === 'Duration' ? -9 : 0 };
}

export class Tally {
  count = 0;
  /** Zero for an empty tally and for types that cannot be summed. */
  sum: Decimal = zero;
  least: OrderKey | null = null;
  greatest: OrderKey | null = null;

  add(type: LeafType, key: OrderKey): void {
    this.count += 1;
    if (isSummable(type)) this.sum = addDecimals(this.sum, numberOfKey(type, key));
    this.#stretch(key, key);
  }

  merge(other: Tally): void {
    this.count += other.count;
    this.sum = addDecimals(this.sum, other.sum);
    this.#stretch(other.least, other.greatest);
  }

  #stretch(least: OrderKey | null, greatest: OrderKey | null): void {
    if (least !== null && (this.least === null || compareKeys(least, this.least) < 0)) this.least = least;
    if (greatest !== null && (this.greatest === null || compareKeys(greatest, this.greatest) > 0)) {
      this.greatest = greatest;
    }
  }

  /** Serialized as one text, to be returned from a SQL function. */
  toText(): string {
    const { count, sum, least, greatest } = this;
    return JSON.stringify([count, sum.coefficient.toString(), sum.exponent, plain(least), plain(greatest)]);
  }

  static fromText(text: string): Tally {
    const [count, coefficient, exponent, least, greatest] = JSON.parse(text) as [number, string, number, Plain, Plain];
    const tally = new Tally();
    tally.count = count;
    tally.sum = { coefficient: BigInt(coefficient), exponent };
    tally.least = keyOfPlain(least);
    tally.greatest = keyOfPlain(greatest);
    return tally;
  }
}

type Plain = string | number | { readonly i: string } | null;

function plain(key: OrderKey | null): Plain {
  return typeof key === 'bigint' ? { i: key.toString() } : key;
}

function keyOfPlain(key: Plain): OrderKey | null {
  return typeof key === 'object' && key !== null ? BigInt(key.i) : key;
}
