import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalKey, withoutTrailingZeros } from './decimal.ts';
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
