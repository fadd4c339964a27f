/**
 * Kubernetes quantities (`250m`, `1.5Gi`, `1e3`) as exact decimals: neither rounded nor capped.
 */
import { type Decimal, decimalText, parseDecimal, withoutTrailingZeros } from './decimal.ts';

const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };

const withSuffix = /^([+-]?[0-9.]+)([numkMGTPE]|[KMGTPE]i)$/;

/** Reads a quantity; null when the text is not a quantity. */
export function parseQuantity(text: string): Decimal | null {
  const match = withSuffix.exec(text);
  if (match === null) return parseDecimal(text);
  const number = parseDecimal(match[1] ?? '');
  if (number === null) return null;
  const suffix = match[2] ?? '';
  const binary = binarySuffixes[suffix];
  if (binary !== undefined) {
    return { coefficient: number.coefficient * 1024n ** BigInt(binary), exponent: number.exponent };
  }
  return { coefficient: number.coefficient, exponent: number.exponent + (decimalSuffixes[suffix] ?? 0) };
}

/** Sorted by exponent, the largest first. */
const suffixesByExponent = Object.entries({ ...decimalSuffixes, '': 0 }).sort(([, a], [, b]) => b - a);

/**
 * The quantity in Kubernetes' canonical decimal form: a whole number with the largest possible suffix (`1500m`, `1k`). It has an
 * exponent if no suffix is small or large enough.
 */
export function quantityText(decimal: Decimal): string {
  if (decimal.coefficient === 0n) return '0';
  const { coefficient, exponent } = withoutZeros(decimal);
  const [suffix, size] = suffixesByExponent.find(([, of]) => of <= exponent) ?? ['', 0];
  if (size > exponent || exponent - size > 3) return `${coefficient}e${exponent}`;
  return `${decimalText({ coefficient, exponent: exponent - size })}${suffix}`;
}

function withoutZeros({ coefficient, exponent }: Decimal): Decimal {
  const digits = coefficient.toString();
  const zeros = digits.length - withoutTrailingZeros(digits).length;
  return { coefficient: coefficient / 10n ** BigInt(zeros), exponent: exponent + zeros };
}
