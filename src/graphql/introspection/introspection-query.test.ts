import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { mixedDocuments, otherDocuments, wholeSchemaDocuments } from '../../../test/kit/introspection-documents.ts';
import { asksIntrospection, isWholeIntrospection } from './introspection-query.ts';

test.each(Object.entries(wholeSchemaDocuments))('%s: the whole schema', (_who, { query, operationName = null }) => {
  expect(isWholeIntrospection(parse(query), operationName)).toBe(true);
});

test.each(Object.entries(otherDocuments))('%s: not the whole schema', (_what, { query, operationName = null }) => {
  expect(isWholeIntrospection(parse(query), operationName)).toBe(false);
  expect(asksIntrospection(parse(query), operationName)).toBe(false);
});

test.each(Object.entries(mixedDocuments))('%s: introspection beside data', (_what, { query, operationName = null }) => {
  expect(isWholeIntrospection(parse(query), operationName)).toBe(false);
  expect(asksIntrospection(parse(query), operationName)).toBe(true);
});

test.each([
  ['a subscription', 'subscription { __schema { types { name } } }'],
  ['a fragment that is not there', '{ ...Gone }'],
  ['fragments that spread each other', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
  ['several operations without a name', 'query A { __schema { types { name } } } query B { __typename }'],
])('%s: not the whole schema', (_what, query) => {
  expect(isWholeIntrospection(parse(query), null)).toBe(false);
});
