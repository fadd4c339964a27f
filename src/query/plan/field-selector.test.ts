import { expect, test } from 'vitest';
import { parseFieldSelector } from './field-selector.ts';

test.each<[string, readonly (readonly [string, string, boolean])[]]>([
  ['', []],
  ['a=b', [['a', 'b', false]]],
  ['a==b', [['a', 'b', false]]],
  ['a!=b', [['a', 'b', true]]],
  ['a=', [['a', '', false]]],
  ['a=b,', [['a', 'b', false]]],
  [
    ',a=b,,c=d',
    [
      ['a', 'b', false],
      ['c', 'd', false],
    ],
  ],
  [',', []],
  [
    ' a.b = c, d!=e',
    [
      ['a.b', ' c', false],
      ['d', 'e', true],
    ],
  ],
  ['a=b\\,c\\=d\\\\', [['a', 'b,c=d\\', false]]],
])('%j', (text, expected) => {
  expect(parseFieldSelector(text).map(({ path, value, negated }) => [path, value, negated])).toEqual(expected);
});

test.each(['a', 'a=b, ', '=b', 'a=b=c', 'a=\\x', 'a=b\\'])('%j is refused', (text) => {
  expect(() => parseFieldSelector(text)).toThrow(/The field selector/);
});

test('a selector of very many requirements is refused', () => {
  expect(() => parseFieldSelector(Array(101).fill('a=b').join())).toThrow(/has 101 requirements/);
});
