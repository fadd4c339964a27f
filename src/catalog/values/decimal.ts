/**
 * Exact decimals, and a text key whose byte order is the order of their values.
 *
 * Layout of the key:
 *   sign      "-" for negative, "0" for zero (the whole key), "1" for positive
 *   exponent  e of 0.ddd × 10^e with the first d ≠ 0, plus 5000, as four digits
 *   digits    without trailing zeros
 * Example: 1500.25 = 0.150025 × 10^4 has the key "15004150025".
 *
 * A negative key has all digits complemented to 9 and ends in "~". The "~" sorts after every digit, so the longer number comes
 * first.
 */

/** coefficient × 10^exponent. */
export interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

export const zero: Decimal = { coefficient: 0n, exponent: 0 };

/** Numbers written with more characters than this have no key. Real quantities are far shorter. */
const maxTextLength = 1000;
const exponentBias = 5000;

const decimalPattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?$/;

/**
 * Reads `-1.50e3`. Null when the text is not a decimal number or exceeds 1,000 characters. Null too if the exponent has more than
 * four digits.
 */
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
  const text = exponent.toString().padStart(4, '0') + withoutTrailingZeros(digits);
  return negative ? `-${complement(text)}~` : `1${text}`;
}

/** The decimal of a key from decimalKey, without trailing zeros in its coefficient. */
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

/**
 * The quotient by a positive integer, rounded half away from zero to this many significant digits; exact if it has no more
 * digits.
 */
export function divideDecimal({ coefficient, exponent }: Decimal, by: bigint, digits: number): Decimal {
  const negative = coefficient < 0n;
  const magnitude = negative ? -coefficient : coefficient;
  const shift = Math.max(0, digits + 1 + by.toString().length - magnitude.toString().length);
  let quotient = (magnitude * 10n ** BigInt(shift)) / by;
  // A nonzero quotient always has one extra digit here, so the truncated remainder cannot change how a half is rounded.
  const dropped = Math.max(0, quotient.toString().length - digits);
  const unit = 10n ** BigInt(dropped);
  quotient = quotient / unit + ((quotient % unit) * 2n >= unit && dropped > 0 ? 1n : 0n);
  return { coefficient: negative ? -quotient : quotient, exponent: exponent - shift + dropped };
}

/** The number in digits, without an exponent or redundant zeros: `-1500.25`. */
export function decimalText({ coefficient, exponent }: Decimal): string {
  if (coefficient === 0n) return '0';
  const sign = coefficient < 0n ? '-' : '';
  const digits = (coefficient < 0n ? -coefficient : coefficient).toString();
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
  const padded = digits.padStart(1 - exponent, '0');
  const fraction = withoutTrailingZeros(padded.slice(exponent));
  return sign + padded.slice(0, exponent) + (fraction === '' ? '' : `.${fraction}`);
}

/** A loop, because `/0+$/` takes quadratic time for many zeros inside the digits. */
export function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

function complement(digits: string): string {
  let text = '';
  for (let i = 0; i < digits.length; i++) text += 57 - digits.charCodeAt(i);
  return text;
}

const plainPattern = /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

/** The number that a text writes in decimal digits, `-1.5e3`. Null for any other text, such as one with blanks around the digits. */
export function plainNumber(text: string): number | null {
  return plainPattern.test(text) ? Number(text) : null;
}
