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

const decimalPattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?$/;

/** Reads `-1.50e3`; null when it is not a decimal number, is longer than 1,000 characters or has an exponent beyond four digits. */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > maxTextLength) return null;
  const match = decimalPattern.exec(text);
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

/** The decimal that a key of decimalKey stands for, without trailing zeros in its coefficient. */
export function decimalOfKey(key: string): Decimal {
  if (key === '0') return { coefficient: 0n, exponent: 0 };
  const negative = key.startsWith('-');
  const text = negative ? complement(key.slice(1, -1)) : key.slice(1);
  const digits = text.slice(4);
  const magnitude = BigInt(digits);
  return {
    coefficient: negative ? -magnitude : magnitude,
    exponent: Number(text.slice(0, 4)) - exponentBias - digits.length,
  };
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.exponent === b.exponent) return { coefficient: a.coefficient + b.coefficient, exponent: a.exponent };
  const [low, high] = a.exponent < b.exponent ? [a, b] : [b, a];
  const lifted = high.coefficient * 10n ** BigInt(high.exponent - low.exponent);
  return { coefficient: low.coefficient + lifted, exponent: low.exponent };
}

/** The quotient by a positive integer, rounded half away from zero to so many significant digits; exact where it has no more. */
export function divideDecimal({ coefficient, exponent }: Decimal, by: bigint, digits: number): Decimal {
  const negative = coefficient < 0n;
  const magnitude = negative ? -coefficient : coefficient;
  const shift = Math.max(0, digits + 1 + by.toString().length - magnitude.toString().length);
  let quotient = (magnitude * 10n ** BigInt(shift)) / by;
  // One digit more than wanted is always there unless the quotient is zero, so what the division cut off cannot change a half.
  const dropped = Math.max(0, quotient.toString().length - digits);
  const unit = 10n ** BigInt(dropped);
  quotient = quotient / unit + ((quotient % unit) * 2n >= unit && dropped > 0 ? 1n : 0n);
  return { coefficient: negative ? -quotient : quotient, exponent: exponent - shift + dropped };
}

/** The number in digits, without an exponent and without zeros that say nothing: `-1500.25`. */
export function decimalText({ coefficient, exponent }: Decimal): string {
  if (coefficient === 0n) return '0';
  const sign = coefficient < 0n ? '-' : '';
  const digits = (coefficient < 0n ? -coefficient : coefficient).toString();
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
  const padded = digits.padStart(1 - exponent, '0');
  const fraction = padded.slice(exponent).replace(/0+$/, '');
  return sign + padded.slice(0, exponent) + (fraction === '' ? '' : `.${fraction}`);
}

function complement(digits: string): string {
  let text = '';
  for (let i = 0; i < digits.length; i++) text += 57 - digits.charCodeAt(i);
  return text;
}
