import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../../test/kit/refusal.ts';
import { manifestsOfYaml } from './read-manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

/** The value `v` of a document in which it is written so, as JSON. */
function scalar(text: string): string | undefined {
  return JSON.stringify(manifestsOfYaml(`${head}v: ${text}`)[0]?.object.v);
}

const refusalOf = (text: string): string => refusal(() => manifestsOfYaml(text)).message;

describe('scalars', () => {
  test.each([
    ['', 'null'],
    ['~', 'null'],
    ['Null', 'null'],
    ['nUll', '"nUll"'],
    ['y', 'true'],
    ['Yes', 'true'],
    ['on', 'true'],
    ['TRUE', 'true'],
    ['N', 'false'],
    ['no', 'false'],
    ['OFF', 'false'],
    ['yEs', '"yEs"'],
    ['"yes"', '"yes"'],
    ["'no'", '"no"'],
    ['0644', '420'],
    ['0o644', '420'],
    ['-010', '-8'],
    ['089', '89'],
    ['0x1F', '31'],
    ['-0xff', '-255'],
    ['0b101', '5'],
    ['+12', '12'],
    ['-0', '0'],
    ['1_000', '1000'],
    ['0x', '"0x"'],
    ['12:30:45', '"12:30:45"'],
    ['1.2.3', '"1.2.3"'],
    ['1.0', '1'],
    ['1.', '1'],
    ['.5', '0.5'],
    ['.5_1', '0.51'],
    ['._5', '"._5"'],
    ['-.5e1', '-5'],
    ['1e3', '1000'],
    ['1e400', '"1e400"'],
    ['2026-01-31', '"2026-01-31"'],
    ['2026-01-31T08:15:00Z', '"2026-01-31T08:15:00Z"'],
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['18446744073709551615', '18446744073709551615'],
    ['100000000000000000000000000000001', '100000000000000000000000000000001'],
    ['0x1fffffffffffffff', '2305843009213693951'],
    ['0x1ffffffffffffffff', '"0x1ffffffffffffffff"'],
    ['!!str 12', '"12"'],
    ['!!int "12"', '12'],
    ['!!float 1', '1'],
    ['!!bool "on"', 'true'],
    ['!!null ""', 'null'],
    ['!!binary aGVsbG8=', '"hello"'],
    ['!mine yes', '"yes"'],
    ['! yes', '"yes"'],
    ['<<', '"<<"'],
    ['"\\x41\\u00e9\\n"', '"Aé\\n"'],
    ["'it''s'", '"it\'s"'],
    ['|\n  a\n  b\n', '"a\\nb\\n"'],
    ['|-\n  a\n\n', '"a"'],
    ['|+\n  a\n\n', '"a\\n\\n"'],
    ['>\n  a\n  b\n\n  c\n', '"a b\\nc\\n"'],
    ['|\n  a\n    \n', '"a\\n  \\n"'],
    ['|-\n  a\n    \n\n', '"a\\n  "'],
    ['|+\n  a\n    \n\n', '"a\\n  \\n\\n"'],
    ['|1\n  a\n   \nw: 1', '" a\\n  \\n"'],
    ['|\n  a\n \n', '"a\\n"'],
    ['|\n  \n', '""'],
  ])('%j is %s', (text, expected) => {
    expect(scalar(text)).toBe(expected);
  });

  test.each([
    '.inf',
    '-.INF',
    '.nan',
    '!!int a',
    '!!int 1.5',
    '!!float a',
    '!!bool 1',
    '!!null a',
    '!!binary a',
    '!!binary /w==',
  ])('%s is refused with its place', (text) => {
    expect(refusalOf(`${head}v: ${text}\n`)).toMatch(/at line 4, column \d+\./);
  });

  test('a block text at the end of the text ends with a line break, as kubectl adds one', () => {
    expect(scalar('|\n  a')).toBe(JSON.stringify('a\n'));
  });

  test('a folded text with too many spaces at its end is refused', () => {
    expect(refusalOf(`${head}v: >\n  a\n    \n`)).toBe(
      'A folded text ends with a line of too many spaces at line 4, column 4. Remove the spaces in its last lines.',
    );
  });

  test('an integer keeps every digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (integer) => {
        expect(scalar(String(integer))).toBe(String(integer));
        const json = `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "v": ${integer}}`;
        expect(JSON.stringify(manifestsOfYaml(json)[0]?.object.v)).toBe(String(integer));
      }),
    );
  });
});

describe('keys', () => {
  test.each([
    ['yes', 'true'],
    ['0644', '420'],
    ['-5', '-5'],
    ['1.50', '1.5'],
    ['100000.0', '100000'],
    ['1e6', '1e+06'],
    ['1234567.5', '1.2345675e+06'],
    ['3.14159265358979', '3.1415927'],
    ['0.00001', '1e-05'],
    ['0.0001', '0.0001'],
    ['-0.0', '-0'],
    ['.inf', '.inf'],
    ['-1e300', '-.inf'],
    ['.nan', '.nan'],
    ['2026-01-31', '2026-01-31'],
    ['"yes"', 'yes'],
  ])('%s is the text %s', (key, expected) => {
    expect(manifestsOfYaml(`${head}v: {w: 1}\n${key}: 1\n`)[0]?.object).toHaveProperty([expected], 1);
  });

  test.each([
    ['~: 1', 'A key is null or too great a number at line 4, column 1. Put the key in quotes.'],
    ['18446744073709551615: 1', 'A key is null or too great a number at line 4, column 1. Put the key in quotes.'],
    ['[a]: 1', 'A key is a list or an object at line 4, column 1. Use text as the key.'],
    ['kind: Pod', 'There is a second key "kind" of the same object at line 4, column 1. Keep one of the two.'],
    ['v: {1: a, "1": b}', 'There is a second key "1" of the same object at line 4, column 11. Keep one of the two.'],
  ])('%s is refused', (line, message) => {
    expect(refusalOf(`${head}${line}\n`)).toBe(message);
  });
});
