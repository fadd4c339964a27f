import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRawJson, parseDeep, rawJson, rawJsonText } from './raw-json.ts';
import { parseExact } from './values.ts';

const integer = /^-?[0-9]+$/;
const numberOf = (source: string): unknown =>
  integer.test(source) && !Number.isSafeInteger(Number(source)) ? rawJson(source) : Number(source);
const numbers = ['9007199254740993', '-9007199254740993', '1234567890123456', '0.1234567890123456', '1e400', '12e5'];
const strings = ['"n9007199254740993"', '"s"', '"\\"9007199254740993"', '"\\\\"', '"\\u006e1"', '""'];

/** JSON text of random values, with numbers and strings that could be mistaken for each other. */
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...numbers, ...strings, 'true', 'null'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...strings, '"__proto__"', '"1"'), tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, each]) => `${name} : ${each}`).join(',')}}`),
  ),
}));

test('parses as JSON.parse does with a reviver', () => {
  fc.assert(
    fc.property(value, (text) => {
      expect(JSON.stringify(parseDeep(text, numberOf))).toBe(JSON.stringify(parseExact(text)));
    }),
  );
});

test.each(['{"a":', '['])('parses 10,000 levels of %s, and keeps the digits', (open) => {
  const close = open === '[' ? ']' : '}';
  let parsed = parseExact(`${open.repeat(10_000)}9007199254740993${close.repeat(10_000)}`);
  for (let level = 0; level < 10_000; level += 1) parsed = Object.values(parsed as object)[0];
  expect(isRawJson(parsed) && rawJsonText(parsed)).toBe('9007199254740993');
});
