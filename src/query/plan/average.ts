/** The mean of a tally's values. */
import { type Decimal, divideDecimal } from '../../catalog/values/decimal.ts';
import type { Tally } from '../../catalog/values/tally.ts';

/** An average that does not end has so many digits that say something; the last is rounded half away from zero. */
export const averageDigits = 20;

/** The tally has at least one value. */
export function average({ sum, count }: Tally): Decimal {
  return divideDecimal(sum, BigInt(count), averageDigits);
}
