import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LeafType } from '../tree/field-tree.ts';
import { isRawJson, rawJson } from './raw-json.ts';
import { checkValue, compareKeys, compareText, foldCase, type OrderKey, orderKey, parseExact } from './values.ts';

/** An exact decimal as a fraction whose denominator is a power of ten: the oracle for keys of numbers. */
function compareScaled(a: { digits: bigint; scale: number }, b: { digits: bigint; scale: number }): number {
  const scale = Math.max(a.scale, b.scale);
  const left = a.digits * 10n ** BigInt(scale - a.scale);
  const right = b.digits * 10n ** BigInt(scale - b.scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

function key(type: LeafType, value: unknown): OrderKey {
  const found = orderKey(type, value);
  if (found === null) throw new Error(`no key for ${String(value)} as ${type}`);
  return found;
}

function byteOrder(a: OrderKey, b: OrderKey): number {
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

describe('orderKey', () => {
  test.each<[LeafType, unknown, OrderKey | null]>([
    ['String', 'a', 'a'],
    ['String', 'a\ud800b', 'a\ufffdb'],
    ['String', 1, '1'],
    ['String', -0, '0'],
    ['String', 1e21, '1e+21'],
    ['String', true, 'true'],
    ['String', rawJson('9007199254740993'), '9007199254740993'],
    ['String', {}, null],
    ['String', ['a'], null],
    ['String', null, null],
    ['String', undefined, null],
    ['Boolean', true, 1],
    ['Boolean', false, 0],
    ['Boolean', 'true', null],
    ['Int', 5, 5],
    ['Int', -0, 0],
    ['Int', 1.5, null],
    ['Int', '5', null],
    ['Int', 2 ** 31 - 1, 2 ** 31 - 1],
    ['Int', 2 ** 31, null],
    ['Int', -(2 ** 31) - 1, null],
    ['Int', rawJson('9007199254740993'), null],
    ['Int64', 5, 5n],
    ['Int64', '5', 5n],
    ['Int64', '-9223372036854775808', -(2n ** 63n)],
    ['Int64', '9223372036854775808', null],
    ['Int64', rawJson('9007199254740993'), 9007199254740993n],
    ['Int64', rawJson('18446744073709551615'), null],
    ['Int64', 2 ** 53, null],
    ['Int64', '5.0', null],
    ['Int64', '', null],
    ['Float', 1.5, 1.5],
    ['Float', rawJson('12345678901234567890'), 12345678901234567000],
    ['Float', '1.5', null],
    ['DateTime', '1970-01-01T00:00:01Z', 1_000_000n],
    ['DateTime', '1970-01-01', null],
    ['DateTime', 5, null],
    ['Time', '1970-01-02', 86_400_000_000n],
    ['Time', '1970-01-02T00:00:01Z', 86_401_000_000n],
    ['Time', '1970-02-30', null],
    ['Time', '1970-1-2', null],
    ['Time', '1970-01-02T', null],
    ['Time', 5, null],
    ['Duration', '1ms', 1_000_000n],
    ['Duration', 5, null],
    ['Quantity', '0', '0'],
    ['Quantity', 1, '150011'],
    ['Quantity', '1000m', '150011'],
    ['Quantity', '-1', '-49988~'],
    ['Quantity', 'x', null],
    ['Quantity', true, null],
    ['IntOrString', 80, 'n150028'],
    ['IntOrString', '80', 's80'],
    ['IntOrString', 1.5, null],
    ['IntOrString', false, null],
    ['JSON', false, 'b0'],
    ['JSON', 1.5, 'n1500115'],
    ['JSON', rawJson('9007199254740993'), 'n150169007199254740993'],
    ['JSON', 'x', 'sx'],
    ['JSON', {}, null],
    ['JSON', [1], null],
  ])('%s of %o is %o', (type, value, expected) => {
    expect(orderKey(type, value)).toBe(expected);
  });

  test('orders quantities by exact value, in bytes', () => {
    const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
    const decimal: Record<string, number> = { n: 9, u: 6, m: 3, '': 0, k: -3, M: -6, G: -9, T: -12, P: -15, E: -18 };
    const number = fc
      .tuple(fc.constantFrom('', '-', '+'), fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat({ max: 22 }))
      .map(([sign, magnitude, scale]) => {
        const padded = magnitude.toString().padStart(scale + 1, '0');
        const at = padded.length - scale;
        const text = scale === 0 ? padded : `${padded.slice(0, at)}.${padded.slice(at)}`;
        return { text: sign + text, digits: sign === '-' ? -magnitude : magnitude, scale };
      });
    const quantity = fc.oneof(
      fc.tuple(number, fc.constantFrom(...binary)).map(([value, suffix]) => ({
        text: value.text + suffix,
        digits: value.digits * 1024n ** BigInt(binary.indexOf(suffix) + 1),
        scale: value.scale,
      })),
      fc.tuple(number, fc.constantFrom(...Object.keys(decimal))).map(([value, suffix]) => ({
        text: value.text + suffix,
        digits: value.digits,
        scale: value.scale + (decimal[suffix] ?? 0),
      })),
      fc
        .tuple(number, fc.integer({ min: -30, max: 30 }), fc.constantFrom('e', 'E'))
        .map(([value, exponent, letter]) => ({
          text: `${value.text}${letter}${exponent}`,
          digits: value.digits,
          scale: value.scale - exponent,
        })),
    );
    const near = fc
      .tuple(fc.integer({ min: -20, max: 20 }), fc.constantFrom('', 'm', 'k', 'Ki'))
      .map(([n, suffix]) => ({
        text: `${n}${suffix}`,
        digits: BigInt(n) * (suffix === 'Ki' ? 1024n : 1n),
        scale: decimal[suffix] ?? 0,
      }));
    const any = fc.oneof(quantity, near);
    fc.assert(
      fc.property(any, any, (a, b) => {
        const expected = compareScaled(a, b);
        expect(byteOrder(key('Quantity', a.text), key('Quantity', b.text))).toBe(expected);
        expect(compareKeys(key('Quantity', a.text), key('Quantity', b.text))).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('orders JSON numbers as JavaScript does, before strings and after booleans', () => {
    const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -50, max: 50 }));
    fc.assert(
      fc.property(number, number, fc.string({ unit: 'binary' }), fc.boolean(), (a, b, text, flag) => {
        expect(byteOrder(key('JSON', a), key('JSON', b))).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(byteOrder(key('JSON', a), key('JSON', text))).toBe(-1);
        expect(byteOrder(key('JSON', flag), key('JSON', a))).toBe(-1);
      }),
      { numRuns: 2000 },
    );
  });

  test('orders Int64 and JSON integers exactly beyond 2^53', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const near = fc.bigInt({ min: 2n ** 53n - 5n, max: 2n ** 53n + 5n });
    const integer = fc.oneof(
      int64,
      near,
      near.map((n) => -n),
    );
    fc.assert(
      fc.property(integer, integer, (a, b) => {
        const expected = a < b ? -1 : a > b ? 1 : 0;
        const [x, y] = [parseExact(a.toString()), parseExact(b.toString())];
        for (const type of ['Int64', 'JSON'] as const) {
          expect(compareKeys(key(type, x), key(type, y))).toBe(expected);
        }
        expect(key('Int64', a.toString())).toBe(a);
        expect(byteOrder(key('JSON', x), key('JSON', y))).toBe(expected);
      }),
    );
  });
});

describe('compareKeys', () => {
  test('orders text by code point, which is the order of its UTF-8 bytes', () => {
    const unit = fc.oneof(
      fc.constantFrom('a', 'b', '\0', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const text = fc.array(unit, { maxLength: 5 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [key('String', a), key('String', b)];
        expect(compareKeys(x, y)).toBe(byteOrder(x, y));
      }),
      { numRuns: 2000 },
    );
    expect(compareText('\uffff', '😀')).toBe(-1);
    expect(compareText('😀', '\uffff')).toBe(1);
  });

  test('compares numbers with bigints exactly', () => {
    expect(compareKeys(2 ** 53 - 1, 2n ** 53n)).toBe(-1);
    expect(compareKeys(3, 3n)).toBe(0);
    expect(compareKeys(3, 'a')).toBe(-1);
    expect(compareKeys('a', 3)).toBe(1);
  });
});

describe('parseExact', () => {
  test('gives back integers of any size as they were', () => {
    const text =
      '{"a":9007199254740993,"b":[-9223372036854775808,18446744073709551615],"c":1.25,"d":"1234567890123456","e":9007199254740991}';
    expect(JSON.stringify(parseExact(text))).toBe(text);
    const parsed = parseExact(text) as Record<string, unknown>;
    expect(isRawJson(parsed['a'])).toBe(true);
    expect(parsed['e']).toBe(9007199254740991);
    expect(parsed['d']).toBe('1234567890123456');
  });

  test('parses everything else as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', '0123456789012345'), (value, digits) => {
        const text = JSON.stringify([value, digits]);
        expect(JSON.stringify(parseExact(text))).toBe(text);
      }),
    );
    expect(() => parseExact('{')).toThrow(SyntaxError);
    expect(Object.keys(parseExact('{"__proto__":12345678901234567890}') as object)).toEqual(['__proto__']);
  });
});

describe('checkValue', () => {
  test('says why a value cannot be used', () => {
    expect(checkValue('Quantity', '1Gi')).toBeNull();
    expect(checkValue('Quantity', '1Gb')).toBe('"1Gb" is not a quantity such as "250m", "1Gi" or 2');
    expect(checkValue('Int64', 2 ** 53)).toContain('as a string');
    expect(checkValue('String', undefined)).toBe('nothing is not a string');
    expect(checkValue('Boolean', 10n)).toBe('"10" is not true or false');
    expect(checkValue('DateTime', 'x'.repeat(200))?.length).toBeLessThan(140);
  });

  test.each(['Int', 'Int64', 'Float', 'Quantity', 'Number', 'IntOrString', 'JSON'] as const)(
    'says how to compare with a number beyond those of JSON: %s',
    (type) => {
      const advice = 'is beyond the numbers of JSON; write a number as text, in a condition by path with as: NUMBER';
      expect(checkValue(type, Number.POSITIVE_INFINITY)).toBe(advice);
      expect(checkValue(type, Number.NEGATIVE_INFINITY)).toBe(advice);
    },
  );

  test('says what another leaf takes instead of a number beyond those of JSON', () => {
    expect(checkValue('Time', Number.POSITIVE_INFINITY)).toBe(
      'is beyond the numbers of JSON; write a time such as "2026-01-31T12:00:00Z" or "2026-01-31"',
    );
    expect(checkValue('String', Number.NEGATIVE_INFINITY)).toBe('is beyond the numbers of JSON; write a string');
  });
});

describe('foldCase', () => {
  test('folds ASCII letters only', () => {
    expect(foldCase('ABCxyzÄÖ\u0130\u212a')).toBe('abcxyzÄÖ\u0130\u212a');
  });
});
