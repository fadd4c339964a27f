import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeOf } from '../../base/errors.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { PageText } from '../types/page-reader.ts';
import type { PageTemplate, RowPart, ValueShape } from './page-template.ts';
import { type PageWriter, pageWriter } from './page-writer.ts';
import { rowPattern } from './row-pattern.ts';

const types: readonly LeafType[] = [
  'String',
  'Boolean',
  'Int',
  'Int64',
  'Float',
  'DateTime',
  'Quantity',
  'IntOrString',
  'IP',
  'JSON',
];
const columns = 4;
const text = (json: string): RowPart => ({ is: 'text', text: json });
const leaf = (type: LeafType, at: number): RowPart => ({ is: 'value', at, shape: { is: 'leaf', type } });

/** Every leaf type once. The first one has a fallback text; the last ones are inside an object. */
const parts: readonly RowPart[] = [
  text('{"$1":'),
  { is: 'value', at: 0, shape: { is: 'leaf', type: 'String', otherwise: '"$&"' } },
  text(',"name":'),
  { is: 'column', at: 1, otherwise: '""' },
  text(',"namespace":'),
  { is: 'column', at: 0, otherwise: 'null' },
  text(',"uid":'),
  { is: 'uid', at: 2 },
  text(',"version":'),
  { is: 'version', at: 3 },
  ...types.slice(1, 7).flatMap((type, index) => [text(`,"${type}":`), leaf(type, index + 1)]),
  text(',"again":'),
  leaf('Int', 2),
  text(',"object":'),
  {
    is: 'object',
    at: 0,
    of: [
      text('{'),
      ...types.slice(7).flatMap((type, index) => [text(`${index === 0 ? '' : ','}"${type}":`), leaf(type, index + 7)]),
      text('}'),
    ],
  },
  text('}'),
];
const template: PageTemplate = {
  lists: [parts],
  first: null,
  last: null,
  idAt: null,
  related: [],
  columns,
  values: types.map((type, index) => (index < 7 ? [type] : ['object', type])),
  objects: [['object']],
};

const plain: Readonly<Record<LeafType, readonly string[]>> = {
  String: ['"a"', '""', '"é, ]"', '"a\\"\\\\b\\n"', '"\u{1f600}"', 'null'],
  Boolean: ['true', 'false', 'null'],
  Int: ['0', '-7', '123456789', 'null'],
  Int64: ['0', '123456789012345', 'null'],
  Float: ['5', '-12', 'null'],
  DateTime: ['"2026-01-31T12:00:00Z"', 'null'],
  Time: ['"2026-01-31T12:00:00Z"', 'null'],
  Duration: ['"1s"'],
  Quantity: ['"100m"', 'null'],
  IntOrString: ['80', '"http"', 'null'],
  IP: ['"10.0.0.1"', 'null'],
  ResourceVersion: ['"780"', 'null'],
  Number: ['5', '"1.5"', 'null'],
  JSON: ['"a"', '1', 'true', 'null'],
};
const odd = [
  '"\\u00e9"',
  '"\\/"',
  '"\\u0001"',
  '-0',
  '1.0',
  '1e2',
  '0.10',
  '2147483647',
  '2147483648',
  '-2147483648',
  '-2147483649',
  '12345678901234567890',
  '1E400',
  '"12"',
  'true',
  '5',
  '{"a":"b"}',
  '[]',
  '["a",null]',
];

const column = fc.constantFrom('"a"', '"b-1"', '"é"', '"\\""');
const line = fc.record({
  columns: fc.tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.oneof(column, fc.constant('null')) },
      { weight: 1, arbitrary: fc.constant('""') },
    ),
    fc.oneof({ weight: 9, arbitrary: column }, { weight: 1, arbitrary: fc.constant('""') }),
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom('"u-1"') }, { weight: 1, arbitrary: fc.constant('"ns/name"') }),
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom('"17"') }, { weight: 1, arbitrary: fc.constant('"digest-17"') }),
  ),
  values: fc.tuple(
    ...types.map((type) =>
      fc.oneof(
        { weight: 40, arbitrary: fc.constantFrom(...plain[type]) },
        { weight: 1, arbitrary: fc.constantFrom(...odd) },
      ),
    ),
  ),
});

/** The page, or `misfit` if a value does not fit. */
function written(writer: PageWriter, page: Parameters<PageWriter['write']>[0]): PageText | 'misfit' | null {
  try {
    return writer.write(page);
  } catch (error) {
    expect(codeOf(error)).toBe('VALUE_MISFIT');
    return 'misfit';
  }
}

test('plain pages are written in one go as they are row by row; a misfit ends both', () => {
  const write = rowPattern(template, parts);
  const writer = pageWriter(template);
  let [inOneGo, rowByRow, misfits] = [0, 0, 0];
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (rows) => {
      const lines = rows.map(({ columns, values }) => `[${columns.join(',')},[${values.join(',')}]]`).join('\n');
      const full = rows
        .map(({ columns, values }) => {
          const there = values.slice(7).some((value) => value !== 'null');
          return `[${columns.join(',')},${there ? 1 : 0},null,[${values.join(',')}]]`;
        })
        .join('\n');
      const page = written(writer, { lines: full, found: rows.length, full: true });
      const plain = write?.(lines) ?? null;
      const untold = written(writer, { lines, found: rows.length, full: false });
      if (untold !== null) expect(untold).toEqual(page);
      if (page === 'misfit') {
        misfits += 1;
        expect(plain).toBeNull();
        return;
      }
      expect(JSON.parse(page?.lists[0] ?? '')).toHaveLength(rows.length);
      if (plain === null) rowByRow += 1;
      else inOneGo += 1;
      if (plain !== null) expect(`[${plain.slice(1)}]`).toBe(page?.lists[0]);
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(inOneGo, rowByRow, misfits)).toBeGreaterThan(100);
});

test('a value of an enum that the schema does not have is null, in one go and row by row', () => {
  const shape: ValueShape = { is: 'leaf', type: 'String', values: ['Up', 'Down'] };
  const parts: readonly RowPart[] = [{ is: 'value', at: 0, shape }];
  const of = { ...template, columns: 1, lists: [parts], values: [['a']], objects: [] };
  const pattern = rowPattern(of, parts);
  expect(pattern?.('["n",["Up"]]\n["n",[null]]')).toBe(',"Up",null');
  const page = (...values: readonly string[]) => {
    const lines = values.map((value) => `["n",[${value}]]`).join('\n');
    return pageWriter(of).write({ lines, found: values.length, full: false })?.lists[0];
  };
  expect(page('"Down"', 'null')).toBe('["Down",null]');
  for (const other of ['"up"', '"Upp"', '""', '5', '["Up"]', '"U\\u0070p"']) {
    expect(pattern?.(`["n",[${other}]]`), other).toBeNull();
    expect(page('"Up"', other), other).toBe('["Up",null]');
  }
  expect(page('"\\u0055p"')).toBe('["Up"]');
});

test('what cannot be written in one go is not tried', () => {
  for (const part of [
    { is: 'key', at: 3, wide: false },
    { is: 'opaque', of: [] },
    { is: 'value', at: 0, shape: { is: 'record' } },
    { is: 'object', at: 0, of: [] },
  ] satisfies RowPart[]) {
    expect(rowPattern({ ...template, objects: [['nothing']] }, [part]), part.is).toBeNull();
  }
  // One value as two types.
  expect(rowPattern(template, [leaf('Int', 0), leaf('String', 0)])).toBeNull();
  // The object's values are not adjacent, so one lookahead cannot check them.
  const separated = { ...template, values: [['object', 'a'], ['b'], ['object', 'c']] };
  expect(rowPattern(separated, [{ is: 'object', at: 0, of: [] }])).toBeNull();
});

test('lines must tell of an object of which no value is there, for a while', () => {
  const parts: readonly RowPart[] = [{ is: 'object', at: 0, of: [leaf('String', 0)] }];
  const writer = pageWriter({ ...template, columns: 1, lists: [parts], values: [['object', 'a']] });
  const page = (lines: string, full: boolean) => writer.write({ lines, found: 2, full })?.lists[0] ?? null;
  expect(page('["n",["x"]]\n["m",["y"]]', false)).toBe('["x","y"]');
  expect(writer.needsFullLines).toBe(false);
  expect(page('["n",["x"]]\n["m",[null]]', false)).toBeNull();
  expect(writer.needsFullLines).toBe(true);
  for (let asked = 0; writer.needsFullLines; asked += 1) {
    expect(page('["n",1,null,["x"]]\n["m",1,null,[null]]', true)).toBe('["x",null]');
    expect(page('["n",0,null,[null]]', true)).toBe('[null]');
    expect(asked).toBeLessThan(1000);
  }
  const always = pageWriter({ ...template, values: [['b']] });
  expect(always.needsFullLines).toBe(true);
});

test('a body that SQLite refused is read of its text', () => {
  const writer = pageWriter({ ...template, columns: 1, values: [['object', 'a']], lists: [[leaf('String', 0)]] });
  const refused = JSON.stringify(JSON.stringify({ object: { a: 'x' } }));
  expect(writer.write({ lines: `["n",0,${refused},[null]]`, found: 1, full: true })?.lists).toEqual(['["x"]']);
});

test('a value in the place of an object is a misfit', () => {
  const parts: readonly RowPart[] = [{ is: 'object', at: 0, of: [leaf('String', 0)] }];
  const writer = pageWriter({ ...template, columns: 1, lists: [parts], values: [['object', 'a']] });
  const misfit = expect.objectContaining({ code: 'VALUE_MISFIT' });
  expect(() => writer.write({ lines: '["n",-1,null,[null]]', found: 1, full: true })).toThrow(misfit);
  const refused = (body: object): string => `["n",0,${JSON.stringify(JSON.stringify(body))},[null]]`;
  expect(() => writer.write({ lines: refused({ object: 'x' }), found: 1, full: true })).toThrow(misfit);
  expect(writer.write({ lines: refused({ object: null }), found: 1, full: true })?.lists).toEqual(['[null]']);
});
