/**
 * The aggregate of the values of a list: one value of a leaf type.
 *
 *   sum(status.containerStatuses[].restartCount)   of [2, 3]   ->   5
 *   max(spec.containers[].resources.limits["cpu"])  of ["1", "500m"]   ->   "1"
 */
import type { LeafType } from '../tree/field-tree.ts';
import type { ListFold } from '../tree/path.ts';
import { addDecimals, type Decimal, decimalText } from './decimal.ts';
import { durationText } from './duration.ts';
import { quantityText } from './quantity.ts';
import { isSummable, numberOfKey } from './tally.ts';
import { compareKeys, type OrderKey, orderKey } from './values.ts';

/** The leaf type of the folded value; null if values of this type cannot be folded so. */
export function foldedType(fold: ListFold, type: LeafType): LeafType | null {
  if (fold === 'count') return 'Int';
  if (fold === 'sum') return isSummable(type) ? (type === 'Int' ? 'Int64' : type) : null;
  return type === 'JSON' ? null : type;
}

/**
 * The folded value, as JSON has it. `sum` and `count` of no values are 0; `min` and `max` are undefined. A sum that is out of the
 * type's range is undefined too. Values that do not fit are left out; `count` counts all values that are not null.
 * @param type the folded type.
 */
export function foldValues(fold: ListFold, type: LeafType, values: readonly unknown[]): unknown {
  if (fold === 'count') return values.filter((value) => value !== null && value !== undefined).length;
  if (fold === 'sum') return sumOf(type, values);
  let best: { readonly key: OrderKey; readonly value: unknown } | undefined;
  const sign = fold === 'max' ? 1 : -1;
  for (const value of values) {
    const key = orderKey(type, value);
    if (key !== null && (best === undefined || sign * compareKeys(key, best.key) > 0)) best = { key, value };
  }
  return best?.value;
}

/** Undefined for a sum that is out of the type's range. */
function sumOf(type: LeafType, values: readonly unknown[]): unknown {
  let sum: Decimal = { coefficient: 0n, exponent: 0 };
  for (const value of values) {
    const key = orderKey(type, value);
    if (key !== null) sum = addDecimals(sum, numberOfKey(type, key));
  }
  switch (type) {
    case 'Duration': {
      const nanoseconds = sum.coefficient * 10n ** BigInt(sum.exponent + 9);
      return nanoseconds === BigInt.asIntN(64, nanoseconds) ? durationText(nanoseconds) : undefined;
    }
    case 'Quantity':
      return ofRange(type, quantityText(sum));
    case 'Float':
      return ofRange(type, Number(decimalText(sum)));
    default: {
      // Text of digits where a number would be rounded. Beyond 64 bits it has no key.
      const digits = decimalText(sum);
      return ofRange(type, Number.isSafeInteger(Number(digits)) ? Number(digits) : digits);
    }
  }
}

function ofRange(type: LeafType, sum: unknown): unknown {
  return orderKey(type, sum) === null ? undefined : sum;
}
