import { expect, test } from 'vitest';
import { acceptedJsonType, byWeight, prefersEvents } from './accepted-type.ts';

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

test.each([
  ['application/json;q=0.5, application/graphql-response+json', graphql, false],
  ['application/json;q=0.5, application/graphql-response+json;q=0.9', graphql, false],
  ['application/graphql-response+json; q=0, application/json', json, false],
  ['application/graphql-response+json;Q=0.1,*/*', json, false],
  ['text/event-stream;q=0.1, application/json', json, false],
  ['application/json;q=0.1, text/event-stream', json, true],
  ['text/event-stream;q=0, application/json;q=0.2', json, false],
  ['application/json;q=high, application/graphql-response+json;q=0.9', json, false],
  ['application/json;q=0', json, false],
])('S10: by the weights of %j it is %s, events: %s', (accept, type, events) => {
  expect(acceptedJsonType(byWeight(accept))).toBe(type);
  expect(prefersEvents(byWeight(accept))).toBe(events);
});
