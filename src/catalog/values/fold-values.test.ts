import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldedType, foldValues } from './fold-values.ts';
import { rawJson } from './raw-json.ts';

test.each([
  ['sum', 'Int', 'Int64'],
  ['sum', 'Quantity', 'Quantity'],
  ['sum', 'String', null],
  ['sum', 'JSON', null],
  ['max', 'String', 'String'],
  ['min', 'JSON', null],
  ['count', 'JSON', 'Int'],
] as const)('%s of %s is %s', (fold, type, folded) => {
  expect(foldedType(fold, type)).toBe(folded);
});

test.each([
  ['sum', 'Int64', [2, 3], 5],
  ['sum', 'Int64', [], 0],
  ['sum', 'Int64', [1, null, 'x', 2], 3],
  ['sum', 'Int64', [rawJson('9007199254740993'), 1], '9007199254740994'],
  ['sum', 'Quantity', ['500m', '1'], '1500m'],
  ['sum', 'Quantity', ['1Gi', 1], '1073741825'],
  ['sum', 'Quantity', [], '0'],
  ['sum', 'Float', [0.1, 0.2], 0.3],
  ['sum', 'Duration', ['1h', '30m'], '1h30m0s'],
  ['sum', 'Duration', [], '0s'],
  ['max', 'Quantity', ['500m', '1', '2m'], '1'],
  ['min', 'Quantity', ['500m', '1', '2m'], '2m'],
  ['min', 'String', [], undefined],
  ['max', 'DateTime', ['2026-01-01T00:00:00Z', '2026-01-01T02:00:00+03:00'], '2026-01-01T00:00:00Z'],
  ['count', 'Int', [1, null, {}, 'a'], 3],
  ['sum', 'Duration', ['2500000h', '2500000h'], undefined],
  ['sum', 'Quantity', ['1e4990', '1e-4990'], undefined],
] as const)('%s of %s %j is %j', (fold, type, values, expected) => {
  expect(foldValues(fold, type, values)).toEqual(expected);
});

test('a sum is exact and does not depend on the order', () => {
  const integers = fc.array(fc.bigInt({ min: -(2n ** 53n) + 1n, max: 2n ** 53n - 1n }), { maxLength: 20 });
  fc.assert(
    fc.property(integers, (values) => {
      const numbers = values.map(Number);
      const sum = String(values.reduce((a, b) => a + b, 0n));
      expect(String(foldValues('sum', 'Int64', numbers))).toBe(sum);
      expect(String(foldValues('sum', 'Int64', numbers.toReversed()))).toBe(sum);
    }),
  );
});
