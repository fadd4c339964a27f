/**
 * The value of a YAML scalar, as kubectl reads it: by the rules of go-yaml v2, which mix those of YAML 1.1 and of Go.
 *
 *   yes no on off y n true false    booleans, also Yes and YES
 *   ~ null Null NULL and nothing    null
 *   0644 0o644 0x1F 0b11 1_000      integers: 420, 420, 31, 3, 1000
 *   089 1e3 .5 1. -.5               floats, because 089 is not octal
 *   .inf .nan                       floats that JSON has not
 *   2026-01-31 12:30:45 1e400       text: timestamps stay text, base 60 is not known, and the last is too great
 *
 * A quoted or block scalar is text, unless it has a tag.
 */

import { goFloat } from './go-float.ts';

/** An integer is a bigint, and any other number a number. */
export type YamlScalar = string | boolean | null | bigint | number;

const words: ReadonlyMap<string, boolean | null | number> = new Map<string, boolean | null | number>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF'].flatMap(
    (word) =>
      [
        [word, Number.POSITIVE_INFINITY],
        [`+${word}`, Number.POSITIVE_INFINITY],
        [`-${word}`, Number.NEGATIVE_INFINITY],
      ] as const,
  ),
]);

const integer = /^([-+]?)(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)|0([0-7]+)|([1-9][0-9]*|0))$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const onlyDigits = /^[-+]?[0-9]+$/;
/** A float has at most 309 digits before the point. */
const mostDigits = 310;

const standardTag = 'tag:yaml.org,2002:';

/**
 * @param tag in its long form; undefined without one
 * @param refuse called if the text does not fit the tag
 */
export function yamlScalar(
  text: string,
  {
    isPlain,
    tag,
    refuse,
  }: { readonly isPlain: boolean; readonly tag: string | undefined; readonly refuse: () => never },
): YamlScalar {
  if (tag === undefined) return isPlain ? plainScalar(text) : text;
  const plain = plainScalar(text);
  switch (tag.startsWith(standardTag) ? tag.slice(standardTag.length) : '') {
    case 'int':
      return typeof plain === 'bigint' ? plain : refuse();
    case 'float':
      if (typeof plain === 'bigint') return Number(plain);
      return typeof plain === 'number' ? plain : refuse();
    case 'bool':
      return typeof plain === 'boolean' ? plain : refuse();
    case 'null':
      return plain === null ? plain : refuse();
    case 'binary':
      return textOfBase64(text) ?? refuse();
    default:
      return text;
  }
}

function plainScalar(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  // Go allows the underscore between digits only, if a number begins with the point.
  if (text.startsWith('.'))
    return /(?<![0-9])_|_(?![0-9])/.test(text) ? text : (finite(text.replaceAll('_', '')) ?? text);
  return /^[-+0-9]/.test(text) ? (numberOf(text.replaceAll('_', '')) ?? text) : text;
}

function numberOf(plain: string): bigint | number | null {
  const [, sign, prefixed, octal, decimal] = plain.length > mostDigits ? [] : (integer.exec(plain) ?? []);
  const digits = prefixed ?? (octal === undefined ? decimal : `0o${octal}`);
  if (digits !== undefined) {
    const value = sign === '-' ? -BigInt(digits) : BigInt(digits);
    if (value >= -(2n ** 63n) && value < 2n ** 64n) return value;
  }
  const number = finite(plain);
  // go-yaml makes an integer beyond 64 bits a float. Its digits are kept here.
  if (number === null || Number.isSafeInteger(number) || !onlyDigits.test(plain)) return number;
  return BigInt(plain.replace(/^\+/, ''));
}

function finite(plain: string): number | null {
  if (!float.test(plain)) return null;
  const number = Number(plain);
  return Number.isFinite(number) ? number : null;
}

/** Null if it is no base64, or not of text. */
function textOfBase64(base64: string): string | null {
  const joined = base64.replaceAll('\n', '');
  if (joined.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(joined)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(joined, 'base64'));
  } catch {
    return null;
  }
}

/** The text of a scalar that is a key; null for a key that kubectl cannot read: null, and integers beyond 64 bits. */
export function yamlKey(scalar: YamlScalar): string | null {
  if (typeof scalar === 'number') return floatKey(scalar);
  if (typeof scalar !== 'bigint') return scalar === null ? null : String(scalar);
  return BigInt.asIntN(64, scalar) === scalar ? scalar.toString() : null;
}

/** As Go writes it with 32 bits: the fewest digits that give the same single. */
function floatKey(float: number): string {
  if (Number.isNaN(float)) return '.nan';
  const single = Math.fround(float);
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  if (single === 0) return Object.is(single, -0) ? '-0' : '0';
  let digits = 1;
  while (Math.fround(Number(single.toPrecision(digits))) !== single) digits++;
  return goFloat(single.toExponential(digits - 1));
}
