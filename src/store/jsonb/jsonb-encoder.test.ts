import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainEncode } from '../../../test/kit/plain-jsonb-encoder.ts';
import { Database, refusesJson } from '../sqlite/database.ts';
import { encodeJsonb } from './jsonb-encoder.ts';

const database = new Database(':memory:');

/** JSONB of the text, made by SQLite; null if SQLite refuses the text. */
function bySqlite(text: string): Buffer | null {
  try {
    return Buffer.from(database.statement('SELECT jsonb(?)').get(text)?.[0] as Uint8Array);
  } catch (error) {
    if (refusesJson(error)) return null;
    throw error;
  }
}

function encoded(text: string): Buffer | null {
  const json = encodeJsonb(Buffer.from(text));
  if (json !== null) expect(json.isAscii, text).toBe(/^[\0-\x7f]*$/.test(text));
  return json === null ? null : Buffer.from(json.jsonb);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const hex = (jsonb: Uint8Array | null): string | null => (jsonb === null ? null : Buffer.from(jsonb).toString('hex'));

/** JSON gives SQLite's bytes, and all other texts are refused. The encoder in plain JavaScript gives the same result. */
function expectSame(text: string): void {
  const jsonb = encoded(text);
  expect(hex(plainEncode(Buffer.from(text))), text).toBe(hex(jsonb));
  if (isJson(text)) expect(hex(jsonb), text).toBe(hex(bySqlite(text)));
  else expect(jsonb, text).toBeNull();
}

const sizes = [
  0, 1, 9, 10, 11, 12, 13, 15, 16, 17, 31, 32, 33, 250, 253, 254, 255, 256, 257, 65_530, 65_535, 65_536, 70_000,
];

test.each(sizes)('strings, lists and objects of about %d bytes', (size) => {
  const text = 'x'.repeat(size);
  expectSame(JSON.stringify(text));
  expectSame(JSON.stringify([text]));
  expectSame(JSON.stringify({ [text]: text, b: [text, { c: text }] }));
  expectSame(JSON.stringify(Array.from({ length: size }, () => [])));
  expectSame(
    JSON.stringify(Object.fromEntries(Array.from({ length: Math.min(size, 300) }, (_, index) => [index, {}]))),
  );
  expectSame(`${'1'.repeat(size)}.5`);
});

test('what is nearly JSON', () => {
  for (const text of [
    ...[
      '',
      ' ',
      '{',
      '}',
      '[',
      ']',
      '"',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '[1,',
      '[1',
      '"a',
      '"\\',
      '"\\"',
      '"\\u00e',
    ],
    ...[
      '{"a":1,}',
      '[1,]',
      '[,1]',
      '{,}',
      '{a:1}',
      "{'a':1}",
      '{1:1}',
      '{"a" 1}',
      '{"a"::1}',
      '[1 2]',
      '[1]]',
      '{"a":1}}',
      '[}',
      '{]',
    ],
    ...[
      '01',
      '-',
      '-a',
      '+1',
      '.5',
      '5.',
      '1.e3',
      '1e',
      '1e+',
      '0x10',
      '1_0',
      'Infinity',
      'NaN',
      '-0',
      '0e0',
      '-0.0E-0',
      '1E400',
    ],
    ...[
      'nul',
      'nulll',
      'null1',
      'True',
      'truefalse',
      'fals',
      'falsy',
      'null null',
      'true,',
      '"a""b"',
      '1"a"',
      '[1"a"]',
    ],
    ...[
      '"\t"',
      '"\n"',
      '"\u0000"',
      '"\u007f"',
      '"\\x41"',
      '"\\0"',
      '"\\\'"',
      '"\\u12G4"',
      '"\\u12"',
      '"\\ud800"',
      '"\\u0000"',
    ],
    ...['/**/1', '1//', '\u00a01', '\ufeff1', '1\u00a0', '\v1', '[1]\u0000', '{"a":\u00001}'],
    ...[' [ 1 , 2 ] ', '\r\n{\t"a"\n:\r1 , "b" : [ ] , "c" : { } }\n', '{ }', '[ ]', ' 1 ', '"é€😀"', '{"é":"€"}'],
  ])
    expectSame(text);
});

test('brackets inside one another', () => {
  for (const depth of [1, 2, 3, 100, 499, 500]) {
    expectSame(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    expectSame(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    expectSame(`${'['.repeat(depth)}"${'x'.repeat(70_000)}"${']'.repeat(depth)}`);
    expectSame(`${'['.repeat(depth)}`);
  }
  expect(encoded(`${'['.repeat(501)}${']'.repeat(501)}`)).toBeNull();
  // The rest of an earlier text in memory does not affect the next text.
  expectSame('[]');
});

test('a very long text is left to SQLite', () => {
  const long = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
  expect(encoded(long(4 * 1024 * 1024))?.length).toBe(4 * 1024 * 1024 + 3);
  expect(encoded(long(4 * 1024 * 1024 + 1))).toBeNull();
});

test('any JSON gives the bytes that SQLite makes of it, spaced or not', () => {
  const spaces = fc.constantFrom(undefined, 1, '\t', '\n');
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), spaces, (value, space) =>
      expectSame(JSON.stringify(value, null, space)),
    ),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), (value) => expectSame(JSON.stringify(value))),
    { numRuns: 1000 },
  );
});

test('any JSON with a character changed, left out or put in is refused where it is none any more', () => {
  const character = fc.constantFrom(...'{}[]:,"\\ \n\t0123456789.-+eEtrufalsn\u0000\u001fé');
  const change = fc.record({ at: fc.nat(), gone: fc.nat({ max: 2 }), character: fc.option(character) });
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.array(change, { minLength: 1, maxLength: 3 }), (value, changes) => {
      let text = JSON.stringify(value);
      for (const { at, gone, character: put } of changes) {
        const place = at % (text.length + 1);
        text = text.slice(0, place) + (put ?? '') + text.slice(place + gone);
      }
      expectSame(text.toWellFormed());
    }),
    { numRuns: 5000 },
  );
});

test('any bytes give what the plain twin makes of them, UTF-8 or not', () => {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 2, arbitrary: fc.constantFrom(...'{}[]:,"\\ \n').map((character) => Buffer.from(character)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }) },
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.boolean(), (pieces, inString) => {
      const bytes = Buffer.concat(inString ? [Buffer.from('"'), ...pieces, Buffer.from('"')] : pieces);
      expect(hex(encodeJsonb(bytes)?.jsonb ?? null)).toBe(hex(plainEncode(bytes)));
    }),
    { numRuns: 3000 },
  );
});
