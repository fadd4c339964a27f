import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { documentShape } from './document-shape.ts';

const shape = (text: string, operationName?: string): string => documentShape({ document: parse(text), operationName });

test('fields and names of arguments are shown; values, aliases and variables are not', () => {
  const text = `query Q($n: String) { mine: secrets(first: 5, filter: { metadata: { name: { eq: $n, ne: "key" } } }) { nodes { id } } }`;
  expect(shape(text)).toBe('{ secrets(first,filter) { nodes { id } } }');
});

test('fragments are followed, and a cycle of fragments ends', () => {
  expect(shape('{ a { ...F } } fragment F on T { b ... on U { c } }')).toBe('{ a { ... { b ... { c } } } }');
  expect(shape('{ a { ...F } } fragment F on T { b { ...F } }')).toBe('{ a { ... { b { ... { … } } } } }');
  expect(shape('{ ...Missing }')).toBe('{ … }');
});

test('long and deep documents are cut', () => {
  expect(shape('{ a { b { c { d { e } } } } }')).toBe('{ a { b { c { d { … } } } } }');
  const wide = `{ ${Array.from({ length: 500 }, (_, at) => `field${at}`).join(' ')} }`;
  expect(shape(wide)).toHaveLength(400);
  expect(shape(wide).endsWith('…')).toBe(true);
});

test('fragments that multiply take no time', () => {
  const levels = Array.from({ length: 30 }, (_, at) => `fragment F${at} on T { ${`...F${at + 1} `.repeat(30)} }`);
  expect(shape(`{ a { ...F0 } } ${levels.join(' ')} fragment F30 on T { b }`).length).toBeLessThanOrEqual(400);
});

test('the named operation is the one that is shown', () => {
  expect(shape('query A { a } query B { b }', 'B')).toBe('{ b }');
  expect(shape('query A { a } query B { b }')).toBe('');
});
