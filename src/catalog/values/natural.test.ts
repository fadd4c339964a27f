import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareText, naturalKey } from './values.ts';

test('runs of digits are ordered by value', () => {
  const texts = ['web-10', 'web-2', 'web', 'web-2a', 'web-02b', 'Web-3', 'v1.10.0', 'v1.9.12', '', '9', '10', 'x'];
  const sorted = [...texts].sort((a, b) => compareText(naturalKey('String', a), naturalKey('String', b)));
  expect(sorted).toEqual([
    '',
    '9',
    '10',
    'Web-3',
    'v1.9.12',
    'v1.10.0',
    'web',
    'web-2',
    'web-2a',
    'web-02b',
    'web-10',
    'x',
  ]);
});

test('numbers behind the same text stand in their own order, whatever their size', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.bigInt({ min: 0n, max: 10n ** 40n }), (a, b) => {
      const order = compareText(naturalKey('String', `n${a}`), naturalKey('String', `n00${b}`));
      expect(order).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test('a very long run of digits keeps its text', () => {
  const run = '7'.repeat(1000);
  expect(naturalKey('String', run)).toBe(run);
});
