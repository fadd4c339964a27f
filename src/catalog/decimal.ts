/**
 * Exact decimals, and the text that sorts by bytes as they do by value.
 *
 * The key of a decimal: "-" for negative, "0" for zero, "1" for positive; then for others than zero the exponent e of
 * 0.ddd × 10^e with d ≠ 0 in front, as four digits after adding 5000; then the digits without trailing zeros. A negative one has
 * all digits complemented to 9 and a "~" behind, which is above every digit, so that the longer number comes first.
 */

/** coefficient × 10^exponent. */
export interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** Numbers written with more characters than this are nobody's quantity: they have no key. */
const maxTextLength = 1000;
const exponentBias = 5000;

const decimalText = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?$/;

/** Reads `-1.50e3`; null when it is not a decimal number, is longer than 1,000 characters or has an exponent beyond four digits. */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > maxTextLength) return null;
  const match = decimalText.exec(text);
  if (match === null) return null;
  const whole = match[2] ?? '';
  const fraction = match[3] ?? '';
  if (whole === '' && fraction === '') return null;
  const magnitude = BigInt(whole + fraction);
  return {
    coefficient: match[1] === '-' ? -magnitude : magnitude,
    exponent: Number(match[4] ?? 0) - fraction.length,
  };
}

/** The sortable text; null when the exponent does not fit four digits. */
export function decimalKey(decimal: Decimal): string | null {
  const { coefficient } = decimal;
  if (coefficient === 0n) return '0';
  const negative = coefficient < 0n;
  const digits = (negative ? -coefficient : coefficient).toString();
  const exponent = digits.length + decimal.exponent + exponentBias;
  if (exponent < 0 || exponent > 9999) return null;
  const text = exponent.toString().padStart(4, '0') + digits.replace(/0+$/, '');
  return negative ? `-${complement(text)}~` : `1${text}`;
}

function complement(digits: string): string {
  let text = '';
  for (let i = 0; i < digits.length; i++) text += 57 - digits.charCodeAt(i);
  return text;
}
