import { getIntrospectionQuery, parse } from 'graphql';
import { expect, test } from 'vitest';
import { wholeSchemaDocuments } from '../../../test/kit/introspection-documents.ts';
import { defaultLimits } from './document-limits.ts';
import { sizeProblem } from './document-size.ts';

const problemOf = (text: string): string | null => sizeProblem(parse(text), defaultLimits)?.message ?? null;
const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ');

test.each([
  ['the same field', `{ ${times(1100, () => 'pods(first: 1) { totalCount }')} }`],
  ['the same leaf', `{ ${times(400, () => 'id')} }`],
  ['through inline fragments', `{ ${times(400, () => '... { id }')} }`],
  ['through fragments', `{ ${times(400, (at) => `...F${at}`)} } ${times(400, (at) => `fragment F${at} on Q { id }`)}`],
  [
    'through one fragment that is spread below each of them',
    `{ ${times(400, () => 'a { ...F }')} } fragment F on Q { b { c { d } } ${times(5, () => 'b { c { d } }')} }`,
  ],
  ['below fields that are the same', `{ ${times(20, () => `a { ${times(20, () => 'b')} }`)} }`],
  ['of an alias', `{ ${times(150, () => `x: a(in: [${times(30, String)}])`)} }`],
  ['a fragment that spreads itself', `{ ...F } fragment F on Q { ${times(400, () => 'a { ...F }')} }`],
  [
    'sets whose fields double at each level',
    `{ ...F0 } ${times(25, (at) => `fragment F${at} on Q { a { x ...F${at + 1} } a { y ...F${at + 1} } ${times(20, () => 'a { ...L }')} }`)} fragment F25 on Q { a } fragment L on Q { ${times(60, () => 'l')} }`,
  ],
])('too many comparisons: %s', (_what, text) => {
  expect(problemOf(text)).toMatch(/100000 comparisons/);
});

test.each([
  ['operations', times(51, (at) => `query Q${at} { a }`), 'The document has 51 operations; at most 50 are allowed.'],
  [
    'fragments',
    `{ a } ${times(501, (at) => `fragment F${at} on Q { a }`)}`,
    'The document has 501 fragments; at most 500 are allowed.',
  ],
  [
    'spreads',
    `{ ${times(2001, () => '...F')} } fragment F on Q { a }`,
    'The document has 2001 fragment spreads; at most 2000 are allowed.',
  ],
  [
    'directives',
    `{ a ${times(501, () => '@skip(if: false)')} }`,
    'The document has 501 directives; at most 500 are allowed.',
  ],
  [
    'directives of definitions and variables',
    `query ($a: Int ${times(300, () => '@x')}) ${times(300, () => '@x')} { a }`,
    'The document has 600 directives; at most 500 are allowed.',
  ],
])('too many %s', (_what, text, message) => {
  expect(problemOf(text)).toBe(message);
});

test.each([
  ...Object.entries(wholeSchemaDocuments).map(([who, { query }]): [string, string] => [who, query]),
  ['introspection of a playground', getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true })],
  [
    'a console with a fragment for each of 80 components',
    `query Page($after: String) { pods(first: 50, after: $after) { nodes { __typename id ${times(80, (at) => `...C${at}`)} } pageInfo { endCursor } } }
     ${times(80, (at) => `fragment C${at} on Pod { __typename id metadata { name namespace ...M } c${at}: kind }`)}
     fragment M on ObjectMeta { uid labels annotations }`,
  ],
  ['many other fields', `{ ${times(2000, (at) => `field${at}`)} }`],
  ['two hundred lists with different names', `{ ${times(190, (at) => `a${at}: pods(first: 1) { totalCount }`)} }`],
  [
    'fragments that each spread the next one twice',
    `{ ...F0 } ${times(100, (at) => `fragment F${at} on Q { a ...F${at + 1} ...F${at + 1} }`)} fragment F100 on Q { b }`,
  ],
])('a legal document: %s', (_what, text) => {
  expect(problemOf(text)).toBeNull();
});

test('a number of comparisons at the limit is allowed', () => {
  const limits = { ...defaultLimits, maxComparisons: 20 };
  const problem = (count: number) => sizeProblem(parse(`{ ${times(count, () => 'a')} }`), limits);
  expect(problem(5)).toBeNull();
  expect(problem(6)?.extensions).toEqual({ code: 'QUERY_TOO_COSTLY' });
});
