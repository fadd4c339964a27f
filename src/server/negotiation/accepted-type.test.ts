import { expect, test } from 'vitest';
import { acceptedJsonType } from './accepted-type.ts';

const json = 'application/json';
const graphql = 'application/graphql-response+json';

/** Headers of Apollo Client, urql, graphql-request, GraphiQL, curl and a browser's fetch. */
test.each([
  [null, json],
  ['*/*', json],
  ['application/*', json],
  [json, json],
  ['application/graphql-response+json, application/json', graphql],
  ['application/graphql-response+json,application/json;q=0.9', graphql],
  ['multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9', graphql],
  ['multipart/mixed;deferSpec=20220824,application/json', json],
  [`${graphql}, application/graphql+json, application/json, text/event-stream, multipart/mixed`, graphql],
  ['application/json, multipart/mixed', json],
  ['text/event-stream, application/json', json],
  ['Application/JSON', json],
  ['text/html, */*', json],
  ['text/event-stream', null],
  ['multipart/mixed', null],
  ['text/html', null],
  ['application/json; charset=utf-8', null],
])('%j is %s', (accept, type) => {
  expect(acceptedJsonType(accept)).toBe(type);
});
