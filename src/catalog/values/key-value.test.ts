import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LeafType } from '../tree/field-tree.ts';
import {
  addDecimals,
  type Decimal,
  decimalKey,
  decimalOfKey,
  decimalText,
  divideDecimal,
  parseDecimal,
} from './decimal.ts';
import { valueOfKey } from './key-value.ts';
import { isRawJson, rawJson } from './raw-json.ts';
import { orderKey, parseExact } from './values.ts';

const integer = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt(-(2n ** 54n), 2n ** 54n),
  fc.bigInt(-99n, 99n),
);
const digits = fc
  .tuple(fc.constantFrom('', '-', '+'), fc.stringMatching(/^[0-9]{1,40}(\.[0-9]{1,40})?$/))
  .map((parts) => parts.join(''));
const json = (text: string): unknown => parseExact(text);
const values: Readonly<Record<LeafType, fc.Arbitrary<unknown>>> = {
  String: fc.string({ unit: 'binary' }),
  Boolean: fc.boolean(),
  Int: integer.map((value) => json(value.toString())),
  Int64: integer.map((value) => value.toString()),
  Float: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    integer.map((value) => json(value.toString())),
  ),
  DateTime: fc
    .tuple(
      fc.constantFrom('0000-01-01T00:00:00', '9999-12-31T23:59:59', '1969-12-31T23:59:59', '2024-02-29T12:34:56'),
      fc.constantFrom('', '.5', '.000001', '.123456789', '.999999'),
      fc.constantFrom('Z', '+23:59', '-23:59', '+01:00'),
    )
    .map((parts) => parts.join('')),
  Time: fc.constantFrom('0000-01-01', '9999-12-31', '2024-02-29', '2026-01-31T12:34:56.5+01:00'),
  Duration: fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((value) => `${value}ns`),
    fc.constantFrom('1h30m', '-1.5s', '250ms', '0', '1us', '59m59.999999999s'),
  ),
  Quantity: fc.oneof(
    fc
      .tuple(digits, fc.constantFrom('', 'm', 'n', 'k', 'Ki', 'Ei', 'E', 'Gi', 'e3', 'e-400', 'E4000'))
      .map((parts) => parts.join('')),
    fc.integer(),
  ),
  IntOrString: fc.oneof(
    fc.string(),
    integer.map((value) => json(value.toString())),
    fc.constantFrom(1e21, 1e300, rawJson('1180591620717411303424')),
  ),
  IP: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('None', 'fe80::1%eth0', 's4', '')),
  ResourceVersion: fc.oneof(
    fc.string(),
    fc.bigInt({ min: 0n, max: 10n ** 60n }).map(String),
    fc.constantFrom('007', '-1', ''),
  ),
  Number: fc.oneof(
    digits,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    integer.map((value) => json(value.toString())),
  ),
  JSON: fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    integer.map((value) => json(value.toString())),
    fc.stringMatching(/^[1-9][0-9]{16,300}$/).map(json),
  ),
};

test.each(Object.keys(values) as LeafType[])('the value of a key of %s has that key', (type) => {
  fc.assert(
    fc.property(values[type], (value) => {
      const key = orderKey(type, value);
      if (key === null) return;
      const shown = valueOfKey(type, key);
      expect(orderKey(type, shown), JSON.stringify(shown)).toEqual(key);
      // A value survives being written as JSON and read again.
      expect(orderKey(type, parseExact(JSON.stringify(shown)))).toEqual(key);
    }),
    { numRuns: 500 },
  );
});

test('values are shown in one canonical form', () => {
  const shown = (type: LeafType, value: unknown): unknown => {
    const found = valueOfKey(type, orderKey(type, value));
    return isRawJson(found) ? { raw: found.rawJSON } : found;
  };
  expect(
    ['1', '1000m', '1e3', '0.5', '1Gi', '500000000', '1500m', '-2k', '0', '1e30', '1e-12', '10'].map((each) =>
      shown('Quantity', each),
    ),
  ).toEqual(['1', '1', '1k', '500m', '1073741824', '500M', '1500m', '-2k', '0', '1e30', '1e-12', '10']);
  expect(
    ['1h30m', '90m', '-1.5s', '250ms', '0', '1ns', '61s', '1000us'].map((each) => shown('Duration', each)),
  ).toEqual(['1h30m0s', '1h30m0s', '-1.5s', '250ms', '0s', '1ns', '1m1s', '1ms']);
  expect(
    ['2026-01-31T13:00:00+01:00', '2026-01-31T12:00:00.500Z', '1969-12-31T23:59:59.999999Z'].map((each) =>
      shown('DateTime', each),
    ),
  ).toEqual(['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5Z', '1969-12-31T23:59:59.999999Z']);
  expect(shown('Time', '2026-01-31')).toBe('2026-01-31T00:00:00Z');
  expect(shown('Int64', '9007199254740993')).toBe('9007199254740993');
  expect(shown('Int64', '05')).toBe(5);
  expect(shown('Int', 5)).toBe(5);
  expect(['x', 5, true].map((each) => shown('String', each))).toEqual(['x', '5', 'true']);
  expect([true, 1.5, 'x', 7].map((each) => shown('JSON', each))).toEqual([true, 1.5, 'x', 7]);
  expect(valueOfKey('String', null)).toBeNull();
});

describe('decimals', () => {
  const decimal: fc.Arbitrary<Decimal> = fc.record({
    coefficient: fc.bigInt(-(10n ** 30n), 10n ** 30n),
    exponent: fc.integer({ min: -40, max: 40 }),
  });
  /** As a whole number of 10^-80. */
  const scaled = ({ coefficient, exponent }: Decimal): bigint => coefficient * 10n ** BigInt(exponent + 80);

  test('a key gives its decimal back, a text its number', () => {
    fc.assert(
      fc.property(decimal, (value) => {
        expect(scaled(decimalOfKey(decimalKey(value) ?? ''))).toBe(scaled(value));
        const text = decimalText(value);
        expect(text).toMatch(/^(0|-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?)$/);
        const read = parseDecimal(text);
        expect(read === null ? null : scaled(read)).toBe(scaled(value));
      }),
    );
  });

  test('sums are exact', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(scaled(addDecimals(a, b))).toBe(scaled(a) + scaled(b));
      }),
    );
  });

  test('quotients have so many digits, and no other number of so many digits is nearer', () => {
    fc.assert(
      fc.property(decimal, fc.bigInt(1n, 10n ** 12n), fc.integer({ min: 1, max: 25 }), (value, by, count) => {
        const found = divideDecimal(value, by, count);
        const length = found.coefficient.toString().replace('-', '').length;
        // Rounding up may carry into one more digit, a zero.
        expect(length <= count || found.coefficient % 10n === 0n).toBe(true);
        // |found × by - value| is at most half a unit of the last digit, times by; in 10^-200.
        const at = (of: Decimal): bigint => of.coefficient * 10n ** BigInt(of.exponent + 200);
        const off = at(found) * by - at(value);
        const unit = length < count && off === 0n ? 0n : 10n ** BigInt(found.exponent + 200) * by;
        expect((off < 0n ? -off : off) * 2n <= unit).toBe(true);
      }),
    );
    expect(decimalText(divideDecimal({ coefficient: 10n, exponent: 0 }, 3n, 20))).toBe('3.3333333333333333333');
    expect(decimalText(divideDecimal({ coefficient: 3n, exponent: 0 }, 2n, 20))).toBe('1.5');
    expect(decimalText(divideDecimal({ coefficient: -25n, exponent: 0 }, 10n, 1))).toBe('-3');
  });
});
