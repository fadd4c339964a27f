import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { encodeJsonb } from './jsonb-encoder.ts';
import { JsonbPaths, JsonbValues } from './jsonb-reader.ts';

function jsonbOf(text: string): { readonly jsonb: Buffer; readonly isAscii: boolean } {
  const encoded = encodeJsonb(Buffer.from(text));
  if (encoded === null) throw new Error(`${text} is no JSON`);
  return { jsonb: Buffer.from(encoded.jsonb), isAscii: encoded.isAscii };
}

/** The value at a path of member names; undefined for an absent one. */
function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, name) =>
      typeof holder === 'object' && holder !== null && !Array.isArray(holder) && Object.hasOwn(holder, name)
        ? (holder as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}

test('values at paths are those that JSON.parse gives, with their digits', () => {
  const name = fc.constantFrom('a', 'b', 'metadata', '1', '__proto__', 'é', 'a"\\', 'x'.repeat(300));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.string({ unit: 'binary' }), fc.constant('{"n":9007199254740993}')),
      fc.dictionary(name, tie('value'), { noNullPrototype: true }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  const paths = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 3 }), {
    maxLength: 6,
    selector: (path) => path.join('/'),
  });
  fc.assert(
    fc.property(value, paths, (any, wanted) => {
      const text = JSON.stringify(any);
      const { jsonb, isAscii } = jsonbOf(text);
      const parsed = parseExact(text);
      const places = new JsonbPaths(wanted).find(jsonb);
      const metadata = new JsonbPaths([['metadata']]).find(jsonb)[0] ?? -1;
      for (const stretch of isAscii ? [-1, 0, metadata] : [-1]) {
        const values = new JsonbValues(jsonb, stretch);
        for (const [index, path] of wanted.entries()) {
          const place = places[index] ?? -1;
          const expected = at(parsed, path);
          expect(place === -1).toBe(expected === undefined);
          expect(values.value(place)).toEqual(expected ?? null);
          expect(JSON.stringify(values.value(place))).toBe(JSON.stringify(expected ?? null));
          const isObject =
            typeof expected === 'object' && expected !== null && !Array.isArray(expected) && !isRawJson(expected);
          expect(values.entries(place)).toEqual(isObject ? Object.entries(expected) : []);
          expect(values.elements(place).map((element) => values.value(element))).toEqual(
            Array.isArray(expected) ? expected : [],
          );
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('members as JavaScript orders them, each once', () => {
  for (const text of [
    '{"b":1,"2":2,"a":3,"1":4}',
    '{"a":1,"b":2,"a":3}',
    `{${Array.from({ length: 60 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
    '{}',
    '[1]',
  ]) {
    const { jsonb } = jsonbOf(text);
    const parsed: unknown = JSON.parse(text);
    expect(new JsonbValues(jsonb, -1).entries(0)).toEqual(
      Array.isArray(parsed) ? [] : Object.entries(parsed as object),
    );
  }
});

test('integers keep their digits, and what is too long for a stretch is read all the same', () => {
  const { jsonb } = jsonbOf(`{"n":9007199254740993,"m":-12,"s":"${'x'.repeat(5000)}","t":"é"}`);
  const [n = -1, m = -1, s = -1, t = -1] = new JsonbPaths([['n'], ['m'], ['s'], ['t']]).find(jsonb);
  const values = new JsonbValues(jsonb, -1);
  expect(JSON.stringify([n, m, s, t].map((place) => values.value(place)))).toBe(
    `[9007199254740993,-12,"${'x'.repeat(5000)}","é"]`,
  );
});

test('more names of one object than fit are refused', () => {
  const paths = (count: number) => Array.from({ length: count }, (_, index) => [`a${index}`]);
  expect(new JsonbPaths(paths(31)).find(jsonbOf('{"a30":1}').jsonb).at(-1)).toBeGreaterThan(0);
  expect(() => new JsonbPaths(paths(32))).toThrow(/too many names/);
});
