/** docs/errors.md has every code, and its messages, HTTP statuses and close codes are those of the gateway. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { errorCodes, messageOf } from '../../src/base/errors.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { explainConnectionFailure } from '../../src/kube/client/explain.ts';
import { maxRequestBytes } from '../../src/server/graphql/yoga-server.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { sourceMessages } from '../kit/source-messages.ts';
import { blocksOf, readPage, sectionOf } from '../kit/written-page.ts';

const page = readPage('docs/errors.md');

/** Codes of GraphQL's own errors, of Yoga for HTTP requests, and of Apollo for persisted queries. */
const codesOfLibraries = [
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'REQUEST_ENTITY_TOO_LARGE',
];

test('the page has every code and no other, in a table and under a heading', () => {
  const codes = [...Object.keys(errorCodes), ...codesOfLibraries].sort();
  expect([...page.matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code).sort()).toEqual(codes);
  expect([...page.matchAll(/^\| \[([A-Z_]+)\]\(#([a-z_]+)\) \|/gm)].map(([, code]) => code).sort()).toEqual(codes);
});

/** Each makes the first message under the heading of its code. */
const requests: readonly (readonly [code: string, message: string | RegExp, request: object | string])[] = [
  [
    'BAD_USER_INPUT',
    'In the path "status.capcity", "capcity" after "status" is unknown; did you mean "capacity"?',
    { query: '{ nodes(orderBy: [{ path: "status.capcity" }]) { totalCount } }' },
  ],
  [
    'BAD_USER_INPUT',
    '`first` is 1000; a page has at most 500 objects.',
    { query: '{ pods(first: 1000) { totalCount } }' },
  ],
  [
    'BAD_USER_INPUT',
    'There is no cluster "nope"; there is demo.',
    { query: '{ pods(filter: { clusters: ["nope"] }) { totalCount } }' },
  ],
  ['GRAPHQL_PARSE_FAILED', 'Syntax Error: Expected Name, found <EOF>.', { query: '{ pods {' }],
  [
    'GRAPHQL_VALIDATION_FAILED',
    'Cannot query field "nope" on type "PodConnection". Did you mean "nodes" or "scope"?',
    { query: '{ pods { nope } }' },
  ],
  [
    'OPERATION_RESOLUTION_FAILURE',
    'Could not determine what operation to execute.',
    { query: 'query A { pods { totalCount } } query B { pods { totalCount } }' },
  ],
  ['BAD_REQUEST', 'POST body sent invalid JSON.', 'no JSON'],
  [
    'BAD_REQUEST',
    'The body is a list of requests, and this gateway answers one request at a time. Turn batching off in the client; with Apollo Client, use HttpLink instead of BatchHttpLink.',
    [{ query: '{ pods { totalCount } }' }],
  ],
  ['REQUEST_ENTITY_TOO_LARGE', 'Request body too large', ' '.repeat(maxRequestBytes + 1)],
  [
    'QUERY_TOO_COSTLY',
    'The operation could give 600200 values; at most 500000 are allowed. Ask for smaller pages (first) or fewer fields.',
    {
      query: `{ ${Array.from({ length: 200 }, (_, at) => `a${at}: pods(first: 500) { nodes { metadata { name namespace } spec { nodeName } } }`).join(' ')} }`,
    },
  ],
  [
    'QUERY_TOO_COSTLY',
    'The operation has 201 aliases; at most 200 are allowed.',
    { query: `{ ${Array.from({ length: 201 }, (_, at) => `a${at}: pods { totalCount }`).join(' ')} }` },
  ],
  [
    'FORBIDDEN',
    'This gateway explains no operations; start it with --explain.',
    { query: '{ pods { totalCount } }', extensions: { portolan: { explain: true } } },
  ],
];

function portMessage(): string {
  try {
    loadConfig({ flags: { port: 'x' }, environment: {} });
  } catch (error) {
    return messageOf(error);
  }
  return '';
}

function refusedConnection(): string {
  const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const where = {
    server: 'https://127.0.0.1:6443',
    context: 'staging',
    source: 'config',
    proxy: undefined,
    hasCredentials: true,
    isPrivate: true,
  };
  return explainConnectionFailure(error, where).message;
}

/** Messages of libraries and of the API server. The test above makes the others, or their texts are in the source code. */
const others = [/^Request body too large$/, /^GraphQL only supports GET and POST requests\.$/];

test('each message is made by a request of this test, or by the source code', () => {
  const made = [...requests.map(([, message]) => message), portMessage(), refusedConnection()];
  const patterns = [...sourceMessages(), ...others];
  const messages = blocksOf(page, 'text').flatMap((block) => block.trim().split('\n'));
  expect(messages.length).toBeGreaterThan(20);
  const unknown = messages.filter((text) => !made.includes(text) && !patterns.some((pattern) => pattern.test(text)));
  expect(unknown).toEqual([]);
});

describe('on the demo', () => {
  const gateway = demoGateway({ pods: 20, churn: false });

  const send = (body: BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

  test.each(requests)('%s: %s', async (code, message, request) => {
    const response = await send(typeof request === 'string' ? request : JSON.stringify(request));
    const { errors } = (await response.json()) as { errors: { message: string; extensions: object }[] };
    expect(errors).toMatchObject([{ message, extensions: { code } }]);
    expect(blocksOf(sectionOf(page, code), 'text').join('')).toContain(message);
  });

  const ok = JSON.stringify({ query: '{ pods { totalCount } }' });
  const refused = JSON.stringify({ query: '{ pods { nope } }' });
  const live = JSON.stringify({ query: 'subscription { podChanges { phase } }' });

  test('HTTP statuses', async () => {
    const base = gateway.url.replace('/graphql', '');
    const statuses = new Map<number, Response>();
    const take = async (status: number, response: Promise<Response>): Promise<void> => {
      const got = await response;
      await got.body?.cancel();
      expect(got.status).toBe(status);
      statuses.set(status, got);
    };
    await take(200, send(ok));
    await take(200, send(refused, { accept: 'application/json' }));
    await take(302, fetch(base, { redirect: 'manual' }));
    await take(400, send(refused, { accept: 'application/graphql-response+json' }));
    await take(400, send('no JSON'));
    await take(403, send(ok, { origin: 'http://localhost:8080' }));
    await take(404, fetch(`${base}/nothing`));
    await take(405, fetch(gateway.url, { method: 'PATCH' }));
    await take(406, send(live, { accept: 'application/json' }));
    await take(413, send(' '.repeat(maxRequestBytes + 1)));
    await take(415, send(ok, { 'content-type': 'text/plain' }));
    const written = [...sectionOf(page, 'HTTP statuses').matchAll(/^\| (\d{3}) \|/gm)].map(([, status]) =>
      Number(status),
    );
    // doors.test.ts, http-server.test.ts, cross-origin.test.ts and single-connection.test.ts have the others.
    expect(written).toEqual([...statuses.keys(), 201, 202, 204, 401, 409, 429, 503].sort((a, b) => a - b));
  });

  const init = { type: 'connection_init' };
  const subscribe = { id: '1', type: 'subscribe', payload: { query: 'subscription { podChanges { phase } }' } };

  test.each<readonly [code: number, protocol: string, messages: readonly (object | string)[]]>([
    [1009, 'graphql-transport-ws', [init, ' '.repeat(maxRequestBytes + 1)]],
    [4400, 'graphql-transport-ws', ['no message']],
    [4401, 'graphql-transport-ws', [subscribe]],
    [4406, 'graphql-ws', []],
    [4408, 'graphql-transport-ws', []],
    [4409, 'graphql-transport-ws', [init, 'wait', subscribe, subscribe]],
    [4429, 'graphql-transport-ws', [init, init]],
  ])('close code %d', async (code, protocol, messages) => {
    const socket = new WebSocket(gateway.url.replace(/^http/, 'ws'), protocol);
    const closed = once(socket, 'close');
    await once(socket, 'open');
    for (const message of messages) {
      if (message === 'wait') await once(socket, 'message');
      else socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    }
    const [got] = (await closed) as [number];
    expect(got).toBe(code);
    expect(sectionOf(page, 'WebSocket close codes')).toContain(`| ${code} |`);
  });
});
