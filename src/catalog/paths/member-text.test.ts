import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memberText } from './member-text.ts';

/** The member by parsing the whole. */
function expected(text: string, name: string): unknown {
  const object = JSON.parse(text) as Record<string, unknown>;
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

const name = fc.oneof(fc.constantFrom('metadata', 'spec', 'status', '', '__proto__', 'a"b', 'é'), fc.string());

test('is the text of the member that JSON.parse finds, or leaves it to a parser', () => {
  let told = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.jsonValue()), { maxLength: 6 }),
      name,
      fc.constantFrom(undefined, 1, '\t'),
      (members, wanted, indent) => {
        // Written by hand, so that names come more than once.
        const space = indent === undefined ? '' : '\n ';
        const entries = members.map(
          ([each, value]) => `${JSON.stringify(each)}${space}:${space}${JSON.stringify(value, null, indent)}`,
        );
        const text = `${space}{${space}${entries.join(`${space},${space}`)}${space}}${space}`;
        const found = memberText(text, wanted);
        if (found === undefined) {
          expect(text).toContain('\\');
          return;
        }
        told += 1;
        expect(found === null ? undefined : JSON.parse(found)).toEqual(expected(text, wanted));
      },
    ),
    { numRuns: 5000 },
  );
  expect(told).toBeGreaterThan(1000);
});

test.each([
  ['{"kind":"Pod","metadata":{"name":"a"},"spec":{}}', 'metadata', '{"name":"a"}'],
  ['{"a":1,"a":2}', 'a', '2'],
  ['{"a":"}\\"","b":[{"c":"]"}]}', 'b', '[{"c":"]"}]'],
  ['{}', 'a', null],
  ['[]', 'a', undefined],
  ['{"\\u0061":1}', 'a', undefined],
])('of %s, %s', (text, wanted, found) => {
  expect(memberText(text, wanted)).toBe(found);
});
