import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalKey, decimalText, withoutTrailingZeros } from './decimal.ts';
import { parseQuantity } from './quantity.ts';

const keyOf = (text: string): string | null => {
  const decimal = parseQuantity(text);
  return decimal === null ? null : decimalKey(decimal);
};

describe('parseQuantity', () => {
  test.each([
    ['1', '1000m'],
    ['1', '1000000u'],
    ['1', '1000000000n'],
    ['1k', '1e3'],
    ['1M', '1E6'],
    ['1G', '1000M'],
    ['1T', '1e+12'],
    ['1P', '1000T'],
    ['1E', '1000P'],
    ['1Ki', '1024'],
    ['1Mi', '1024Ki'],
    ['1Gi', '1024Mi'],
    ['1Ti', '1024Gi'],
    ['1Pi', '1024Ti'],
    ['1Ei', '1024Pi'],
    ['0.5Ki', '512'],
    ['.5', '500m'],
    ['5.', '5'],
    ['+5', '05'],
    ['-0', '0'],
    ['-1k', '-1000.000'],
    ['1e-3', '1m'],
    ['123456789012345678901234567890.1', '123456789012345678901234567890100m'],
  ])('%s is %s', (a, b) => {
    expect(keyOf(a)).not.toBeNull();
    expect(keyOf(a)).toBe(keyOf(b));
  });

  test.each([
    '',
    '.',
    '+',
    '-',
    'k',
    '1K',
    '1ki',
    '1 Gi',
    '1Gb',
    '1e',
    '1e1.5',
    '1.2.3',
    '1Ei3',
    '0x10',
    'NaN',
    '1e99999',
    '1'.repeat(1001),
  ])('refuses %j', (text) => {
    expect(keyOf(text)).toBeNull();
  });

  test('has no key for an exponent beyond four digits', () => {
    expect(keyOf('1e4998')).not.toBeNull();
    expect(keyOf('1e4999')).toBeNull();
    expect(keyOf('1e-5001')).not.toBeNull();
    expect(keyOf('1e-5002')).toBeNull();
  });
});

test('trailing zeros are taken off, and zeros inside stay', () => {
  const digits = fc.stringMatching(/^[0-9]{0,20}0{0,20}$/);
  fc.assert(
    fc.property(digits, (text) => {
      expect(withoutTrailingZeros(text)).toBe(text.replace(/0+$/, ''));
    }),
  );
});

/**
 * Texts, and the number that resource.ParseQuantity of Kubernetes 1.37 makes of each; null for one that it refuses. It takes `.`, `+` and `-` as
 * 0 too. The API server stores these as 0, so no stored quantity is one of them.
 */
const taken: readonly (readonly [text: string, decimal: string | null])[] = [
  ['1', '1'],
  ['0', '0'],
  ['-0', '0'],
  ['+5', '5'],
  ['05', '5'],
  ['5.', '5'],
  ['.5', '0.5'],
  ['-.5', '-0.5'],
  ['', null],
  ['1.5', '1.5'],
  ['1.50', '1.5'],
  ['1k', '1000'],
  ['1K', null],
  ['1ki', null],
  ['1Ki', '1024'],
  ['1.5Ki', '1536'],
  ['0.5Ki', '512'],
  ['-1Ki', '-1024'],
  ['1M', '1000000'],
  ['1Mi', '1048576'],
  ['1G', '1000000000'],
  ['1Gi', '1073741824'],
  ['1Gb', null],
  ['1 Gi', null],
  [' 1', null],
  ['1 ', null],
  ['1T', '1000000000000'],
  ['1P', '1000000000000000'],
  ['1E', '1000000000000000000'],
  ['1Ei', '1152921504606846976'],
  ['1e3', '1000'],
  ['1E3', '1000'],
  ['1e+3', '1000'],
  ['1e-3', '0.001'],
  ['1e', null],
  ['1e1.5', null],
  ['1E', '1000000000000000000'],
  ['1Ei3', null],
  ['250m', '0.25'],
  ['1500m', '1.5'],
  ['1u', '0.000001'],
  ['1n', '0.000000001'],
  ['0.0001', '0.0001'],
  ['100n', '0.0000001'],
  ['1000000n', '0.001'],
  ['1.2.3', null],
  ['0x10', null],
  ['NaN', null],
  ['Inf', null],
  ['1_000', null],
  ['1,5', null],
  ['5m', '0.005'],
  ['12345678901234', '12345678901234'],
  ['1e18', '1000000000000000000'],
  ['9223372036854775807', '9223372036854775807'],
  ['1.5e3', '1500'],
  ['1.5E3', '1500'],
  ['1h', null],
  ['12mi', null],
  ['--1', null],
  ['+-1', null],
  ['1e03', '1000'],
  ['1000000000000m', '1000000000'],
];

test.each(taken)('%j is the quantity that the API server reads', (text, decimal) => {
  const read = parseQuantity(text);
  expect(read === null ? null : decimalText(read)).toBe(decimal);
});
