/** Values that are hard to compare, for each leaf type. Tests put them into objects and into filters. */
import type { LeafType } from '../../src/catalog/tree/field-tree.ts';
import { rawJson } from '../../src/catalog/values/raw-json.ts';
import { orderKey } from '../../src/catalog/values/values.ts';

const texts = [
  '',
  'a',
  'A',
  'ab',
  'aB',
  'abc',
  'b',
  'z',
  'é',
  'É',
  '\0',
  'a\0b',
  'a\0B',
  '\0b',
  'x\0',
  '😀',
  '\uffff',
  '\ufffd',
  '\ud800',
  'a\ud800b',
  '\udc00',
  '\ud7ff',
  '\ue000',
  '\u{10ffff}',
  '{"a":1}',
  '[]',
  '"',
  '\\u0041',
  '\n',
  '%',
  '_',
  '*',
  'true',
  '5',
  '1.5',
];
const big = [
  '9007199254740993',
  '9007199254740992',
  '-9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '18446744073709551615',
].map(rawJson);
export const pools: Record<LeafType, readonly unknown[]> = {
  String: texts,
  Boolean: [true, false],
  Int: [0, -0, 1, 2, -1, 5, 7.0, -(2 ** 31), 2 ** 31 - 1, 2 ** 53 - 1, ...big],
  Int64: [0, 1, -1, 5, '5', '05', '9007199254740993', '9007199254740992', '-9223372036854775808', ...big],
  Float: [0, 1, 1.5, -1.5, 0.1, 1e300, 5e-324, 0.30000000000000004, ...big],
  DateTime: [
    '2026-01-31T12:00:00Z',
    '2026-01-31T13:00:00+01:00',
    '2026-01-31T12:00:00.000001Z',
    '1969-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
    'soon',
  ],
  Duration: ['1h', '60m', '250ms', '-1s', '0', '1h30m', 'x'],
  Quantity: ['1', '1000m', '1Gi', 1, 1.5, '1500m', '-2k', '0', '1e3', '1k', 'Gi', ...big],
  IntOrString: [1, 2, 10, '1', '80%', 'http', 'A', 'a', 1.5, ...big],
  IP: [
    '10.0.0.1',
    '10.0.0.10',
    '10.0.0.9',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:10.0.0.1',
    'None',
    '',
    '010.0.0.1',
    'a\0b',
  ],
  JSON: [true, false, 0, 1, 10, 1.5, 'a', 'A', 'é', { a: 1 }, [1], ...big],
};

export const types = Object.keys(pools) as LeafType[];

/** The values of each type that a filter may compare with. */
export const comparable = Object.fromEntries(
  types.map((type) => [type, pools[type].filter((value) => orderKey(type, value) !== null)]),
) as unknown as Readonly<Record<LeafType, readonly unknown[]>>;

/** For `matches`. */
export const patterns = [
  '',
  'a',
  '^web-1',
  'B$',
  '[aA]b?',
  '.',
  '^$',
  '\\x00',
  '(?i)É',
  '[0-9]+$',
  '😀',
  '\\x{fffd}',
  'a.b',
  '^(a|b)+$',
];
