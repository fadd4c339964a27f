import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, sharing } from './json.ts';

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, 1, '', 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries) => parseJson(textOf(entries))),
  ),
}));

/** As a parser makes objects: `__proto__` is a member. */
function textOf(entries: readonly (readonly [string, unknown])[]): string {
  const members = new Map(entries.map(([name, inner]) => [name, JSON.stringify(inner)]));
  return `{${[...members].map(([name, inner]) => `${JSON.stringify(name)}:${inner}`).join(',')}}`;
}

test('a value that shares memory with another one has the same text, whatever the other one is', () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const [before, after] = [JSON.stringify(one), JSON.stringify(other)];
      expect(JSON.stringify(sharing(one, other))).toBe(before);
      expect([JSON.stringify(one), JSON.stringify(other)]).toEqual([before, after]);
    }),
    { numRuns: 2000 },
  );
});

test('equal parts are the other value itself; parts that differ are not', () => {
  const other = { metadata: { labels: { app: 'x' }, name: 'a' }, spec: { containers: [{ image: 'i' }] } };
  const one = { metadata: { labels: { app: 'x' }, name: 'b' }, spec: { containers: [{ image: 'i' }] } };
  const shared = sharing(one, other);
  expect(shared).toEqual(one);
  expect(shared.spec).toBe(other.spec);
  expect(shared.metadata.labels).toBe(other.metadata.labels);
  expect(sharing(structuredClone(other), other)).toBe(other);
  const big = parseJson('{"n":9007199254740993,"m":{}}') as { m: object };
  expect(JSON.stringify(sharing(big, parseJson('{"n":9007199254740993,"m":{}}')))).toBe(
    '{"n":9007199254740993,"m":{}}',
  );
});
