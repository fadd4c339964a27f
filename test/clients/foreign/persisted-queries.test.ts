/**
 * Clients that send the hash of a query first (automatic persisted queries). Apollo Client's link and urql's exchange are the real ones.
 * Apollo iOS and Apollo Kotlin are acted by hand: they retry if the message of any error is PersistedQueryNotFound, and give up otherwise.
 */
import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { createClient } from 'graphql-ws';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { answerPair } from '../../kit/answer-pair.ts';
import { made } from '../../kit/engine-fixture.ts';
import { widget, widgets } from '../../kit/graphql-world.ts';
import { openAcknowledged } from '../../kit/raw-socket.ts';
import { answer, foreignGateway, query } from './foreign-gateway.ts';

const gateway = foreignGateway();

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(query) } };
const json = { 'content-type': 'application/json' };
const unknownHash = [
  { message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } },
  { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } },
];

/** `fetch`, with the requests that went through it. */
function recordedFetch() {
  const sent: { readonly method: string; readonly hasQuery: boolean; readonly hasHash: boolean }[] = [];
  const recorded: typeof fetch = (input, init) => {
    const text = `${decodeURIComponent(String(input))}${init?.body ?? ''}`;
    sent.push({
      method: init?.method ?? 'GET',
      hasQuery: text.includes('greeting'),
      hasHash: text.includes('sha256Hash'),
    });
    return fetch(input, init);
  };
  return { fetch: recorded, sent };
}

describe('a hash without its query', () => {
  const search = new URLSearchParams({ operationName: '', variables: '{}', extensions: JSON.stringify(extensions) });
  const post = (more: object = {}): RequestInit => ({
    method: 'POST',
    headers: json,
    body: JSON.stringify({ operationName: '', variables: {}, extensions, ...more }),
  });

  test.each<readonly [string, string, RequestInit]>([
    ['POST', '', post()],
    ['POST, with an empty query', '', post({ query: '' })],
    [
      'POST of the media type with statuses',
      '',
      { ...post(), headers: { ...json, accept: 'application/graphql-response+json' } },
    ],
    ['GET', `?${search}`, {}],
    ['GET, as JSON', `?${search}`, { headers: { ...json, accept: 'application/json' } }],
  ])('is refused with status 200 over HTTP: %s', async (_how, more, request) => {
    const response = await fetch(`${gateway.url}${more}`, request);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ errors: unknownHash });
    expect(gateway.told()).toEqual([]);
  });

  test.each([
    ['without one', {}],
    ['with an empty one', { query: '' }],
  ])('is refused over WebSocket, %s, and the connection goes on', async (_how, more) => {
    const socket = await openAcknowledged(gateway.url);
    socket.send({ id: '1', type: 'subscribe', payload: { extensions, ...more } });
    expect(await socket.next()).toEqual({ id: '1', type: 'error', payload: unknownHash });
    socket.send({ id: '1', type: 'subscribe', payload: { query, extensions } });
    expect(await socket.next()).toMatchObject({ id: '1', type: 'next', payload: { data: answer } });
  });
});

test.each(['variables', 'extensions'])('%s of a GET that are not JSON are no defect of the gateway', async (name) => {
  const response = await fetch(`${gateway.url}?${new URLSearchParams({ query, [name]: 'nope' })}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  expect(gateway.told()).toEqual([]);
});

test('a request without query and hash is none', async () => {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: json,
    body: '{"extensions":{"persistedQuery":null}}',
  });
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
});

test.each([
  ['a hash', extensions],
  [
    'the name of the client, as Apollo Client 4 sends it',
    { clientLibrary: { name: '@apollo/client', version: '4.3.8' } },
  ],
  ['null', null],
])('a query with %s beside it is answered by prepared text, as without', async (_what, beside) => {
  const pair = await answerPair();
  await pair.fixture.declare(widget());
  await pair.fixture.sync(widgets, [made({ name: 'a' })]);
  const query = '{ exampleComWidgets { nodes { metadata { name } } } }';
  const named = (more: object): string => JSON.stringify({ query, extensions: beside, ...more });
  for (let time = 0; time < 2; time += 1) {
    const [mine, executors] = await pair.ask(named({ operationName: time === 0 ? null : '' }));
    expect(mine).toEqual(executors);
    expect(JSON.parse(mine.text)).toMatchObject({
      data: { exampleComWidgets: { nodes: [{ metadata: { name: 'a' } }] } },
    });
  }
  const search = new URLSearchParams({ query, extensions: JSON.stringify(beside) });
  const [mine, executors] = await pair.ask('', { method: 'GET', path: `/graphql?${search}` });
  expect(mine).toMatchObject({ status: 200, text: executors.text });
  expect(pair.pages.given + pair.pages.atOnce).toBe(3);
  const [refused, other] = await pair.ask(JSON.stringify({ extensions }));
  expect(refused).toEqual(other);
  expect(JSON.parse(refused.text)).toEqual({ errors: unknownHash });
});

test.each([
  ['POST', false],
  ['GET', true],
])("Apollo Client's link falls back, and sends no more hashes: %s", async (method, useGETForHashedQueries) => {
  const { fetch, sent } = recordedFetch();
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.from([
      new PersistedQueryLink({ sha256, useGETForHashedQueries }),
      new HttpLink({ uri: gateway.url, fetch }),
    ]),
  });
  onTestFinished(() => client.stop());
  for (let time = 0; time < 2; time += 1) {
    const { data } = await client.query({ query: gql(query), fetchPolicy: 'network-only' });
    expect(data).toMatchObject(answer);
  }
  expect(sent).toEqual([
    { method, hasQuery: false, hasHash: true },
    { method: 'POST', hasQuery: true, hasHash: false },
    { method: 'POST', hasQuery: true, hasHash: false },
  ]);
});

test.each([
  ['POST', false],
  ['GET', 'force' as const],
])("urql's exchange falls back, and sends no more hashes: %s", async (method, preferGetForPersistedQueries) => {
  const { fetch, sent } = recordedFetch();
  const client = new Client({
    url: gateway.url,
    fetch,
    preferGetMethod: false,
    exchanges: [persistedExchange({ preferGetForPersistedQueries }), fetchExchange],
  });
  for (let time = 0; time < 2; time += 1) {
    const { data, error } = await client.query(query, {}, { requestPolicy: 'network-only' }).toPromise();
    expect(error).toBeUndefined();
    expect(data).toMatchObject(answer);
  }
  expect(sent[0]).toEqual({ method, hasQuery: false, hasHash: true });
  expect(sent.slice(1)).toMatchObject([
    { hasQuery: true, hasHash: false },
    { hasQuery: true, hasHash: false },
  ]);
});

test("urql's exchange falls back over WebSocket", async () => {
  const socket = createClient({ url: gateway.url.replace('http', 'ws'), webSocketImpl: WebSocket });
  onTestFinished(() => void socket.dispose());
  const client = new Client({
    url: gateway.url,
    preferGetMethod: false,
    exchanges: [
      persistedExchange(),
      subscriptionExchange({
        enableAllOperations: true,
        forwardSubscription: (request) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ ...request, query: request.query ?? '' } as never, sink as never),
          }),
        }),
      }),
    ],
  });
  const { data, error } = await client.query(query, {}).toPromise();
  expect(error).toBeUndefined();
  expect(data).toMatchObject(answer);
});

test.each([
  ['Apollo iOS', { 'x-apollo-operation-name': 'Widgets', 'apollographql-client-name': 'console-apollo-ios' }],
  [
    'Apollo Kotlin',
    { 'x-apollo-operation-id': sha256(query), accept: 'multipart/mixed;deferSpec=20220824, application/json' },
  ],
])('%s sends the query with its hash after PersistedQueryNotFound', async (_client, headers) => {
  const send = async (body: object) => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as { data?: unknown; errors?: readonly { message: string }[] };
  };
  const first = await send({ operationName: '', variables: {}, extensions });
  expect(first.errors?.map(({ message }) => message)).toContain('PersistedQueryNotFound');
  expect(await send({ operationName: '', variables: {}, query, extensions })).toMatchObject({ data: answer });
});

test('an empty operation name is none, at every door', async () => {
  const { url } = gateway;
  const named = `query Greeting ${query}`;
  const search = new URLSearchParams({ query: named, operationName: '' });
  const responses = await Promise.all([
    fetch(url, { method: 'POST', headers: json, body: JSON.stringify({ query: named, operationName: '' }) }),
    fetch(`${url}?${search}`),
    fetch(url, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query: `${named} # ${'x'.repeat(70_000)}`, operationName: '' }),
    }),
  ]);
  for (const response of responses) expect(await response.json()).toMatchObject({ data: answer });
  const socket = await openAcknowledged(url);
  socket.send({ id: '1', type: 'subscribe', payload: { query: named, operationName: '', variables: {} } });
  expect(await socket.next()).toMatchObject({ type: 'next', payload: { data: answer } });
});
