import { expect, test } from 'vitest';
import { visibleText } from './visible-text.ts';

const everything = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).join('');

test('what a terminal obeys is an escape, and everything else stays', () => {
  const codes = new Set(visibleText(everything).match(/\\u[0-9a-f]{4}/g));
  const ranges = [
    [0x00, 0x08],
    [0x0b, 0x1f],
    [0x7f, 0x9f],
    [0x61c, 0x61c],
    [0x200e, 0x200f],
    [0x2028, 0x2029],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
  ] as const;
  const expected = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => `\\u${(first + at).toString(16).padStart(4, '0')}`),
  );
  // The high surrogates come before the low ones there, and only one pair is whole.
  const surrogates = Array.from({ length: 0x800 }, (_, at) => `\\u${(0xd800 + at).toString(16)}`);
  const pair = new Set(['\\udbff', '\\udc00']);
  expect(codes).toEqual(new Set([...expected, ...surrogates.filter((each) => !pair.has(each))]));
  expect(visibleText('tab\t line\n Grüße 日本 👩‍🚀 ')).toBe('tab\t line\n Grüße 日本 👩‍🚀 ');
});

test('text of JSON keeps its value', () => {
  const json = JSON.stringify({ [everything]: everything });
  expect(JSON.parse(visibleText(json, 'all'))).toEqual(JSON.parse(json));
  expect(JSON.parse(visibleText(json, 'controls'))).toEqual(JSON.parse(json));
  expect(visibleText('\u202e\u009b', 'controls')).toBe('\u202e\\u009b');
});
