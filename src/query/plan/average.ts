/** The mean of a tally's values. */
import { type Decimal, divideDecimal } from '../../catalog/values/decimal.ts';
import type { Tally } from '../../catalog/values/tally.ts';

/** Significant digits of a non-terminating mean. The last digit is rounded half away from zero. */
export const averageDigits = 20;

/** The mean. The tally must have at least one value. */
export function average({ sum, count }: Tally): Decimal {
  return divideDecimal(sum, BigInt(count), averageDigits);
}
