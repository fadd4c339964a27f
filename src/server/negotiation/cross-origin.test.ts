/** One rule for every entrance: HTTP by Yoga, prepared answers, the other paths, WebSocket upgrades. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { openRawSocket } from '../../../test/kit/raw-socket.ts';
import { fixedRights } from '../../access/rights.ts';
import { unrestricted } from '../../access/scope.ts';
import { silentLogger } from '../../base/log.ts';
import { type RunningServer, startServer } from '../http-server.ts';
import { CrossOrigin } from './cross-origin.ts';

const allowed = ['https://console.example.com', 'http://localhost:5173'];

async function world() {
  const logged: { readonly fields: object; readonly message: string }[] = [];
  let read = 0;
  const rights = fixedRights(() => {
    read += 1;
    return unrestricted;
  });
  const fixture = engineFixture({ engine: { rights } });
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    allowOrigins: allowed,
    readiness: () => ({ ready: true }),
    tabs: [],
    pages: fixture.pages,
    log: { ...silentLogger, warn: (fields, message) => void logged.push({ fields, message }) },
  });
  onTestFinished(() => server.close());
  return { server, logged, reads: () => read };
}

async function ask(
  { port }: RunningServer,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  query?: string,
) {
  const body = query === undefined ? undefined : JSON.stringify({ query });
  const described =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { ...described, ...headers },
    agent: false,
  });
  request.end(body);
  const [response] = await once(request, 'response');
  return { status: response.statusCode as number, headers: response.headers, text: await text(response) };
}

/** The first is prepared, the second is executed, the third is introspection. */
const documents = [
  '{ exampleComWidgets { nodes { metadata { name } } } }',
  '{ exampleComWidgets { totalCount } }',
  '{ __schema { queryType { name } } }',
];

/** The headers that a browser shows to every page, besides those of the connection itself. */
const readable = new Set(
  [
    'cache-control content-language content-length content-type expires last-modified pragma'.split(' '),
    'connection content-encoding date keep-alive transfer-encoding vary access-control-allow-origin'.split(' '),
    // For the browser itself.
    'x-content-type-options cross-origin-resource-policy'.split(' '),
  ].flat(),
);

test.each(allowed)('a page of %s may read every answer, and sees every header that a client needs', async (origin) => {
  const { server, logged } = await world();
  for (const query of documents) {
    const { status, headers, text } = await ask(server, 'POST', '/graphql', { origin }, query);
    expect([status, JSON.parse(text).errors]).toEqual([200, undefined]);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers.vary).toContain('Origin');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(Object.keys(headers).filter((name) => !readable.has(name))).toEqual([]);
  }
  for (const path of ['/readyz', '/healthz', '/nothing', '/graphql?query={exampleComWidgets{totalCount}}']) {
    expect((await ask(server, 'GET', path, { origin })).headers['access-control-allow-origin']).toBe(origin);
  }
  // The page must be able to read refusals too.
  const refused = await ask(server, 'POST', '/graphql', { origin }, '{ nothing }');
  expect(JSON.parse(refused.text).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(refused.headers['access-control-allow-origin']).toBe(origin);
  expect(logged).toEqual([]);
});

const forced = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Firefox/78.0' };
const navigation = {
  ...{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
};
const counting = '/graphql?query={exampleComWidgets{totalCount}}';

test.each<[string, Record<string, string>]>([
  ['an image of a page of another site', forced],
  ['a script of a page of the same site', { ...forced, 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'script' }],
  ['a frame of another site', { ...navigation, 'sec-fetch-dest': 'iframe' }],
  ['a link of another site that would be executed', { ...navigation, accept: 'application/json' }],
  ['two sites', { ...forced, 'sec-fetch-site': 'cross-site, none' }],
  ['an image of a browser that does not tell', firefox],
  ['a fetch of a browser that does not tell', { ...firefox, accept: 'application/json' }],
])('a GET for %s is not executed', async (_what, headers) => {
  const { server, reads } = await world();
  const before = reads();
  const { status, text } = await ask(server, 'GET', counting, headers);
  expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
  expect(reads()).toBe(before);
});

test.each<[string, Record<string, string>]>([
  ['a client without a browser', {}],
  ['curl', { 'user-agent': 'curl/8.0.0', accept: '*/*' }],
  ['a page of the gateway', { ...forced, 'sec-fetch-site': 'same-origin' }],
  ['the address bar', { ...forced, 'sec-fetch-site': 'none' }],
  ['a page of an allowed origin', { ...forced, origin: 'http://localhost:5173' }],
  ['a browser that does not tell, with a token', { ...firefox, authorization: 'Bearer abc' }],
  ['a browser that does not tell, with a content type', { ...firefox, 'content-type': 'application/json' }],
  ['a browser that does not tell, by XMLHttpRequest', { ...firefox, 'x-requested-with': 'XMLHttpRequest' }],
  ['a browser that does not tell, by Apollo Client', { ...firefox, 'apollo-require-preflight': 'true' }],
])('a GET of %s is executed', async (_what, headers) => {
  const { server, reads } = await world();
  const before = reads();
  expect((await ask(server, 'GET', counting, headers)).status).toBe(200);
  expect(reads()).toBeGreaterThan(before);
});

test('a browser that does not tell loads the parts of the playground', async () => {
  const { server } = await world();
  const { status, headers } = await ask(server, 'GET', '/graphql?playground=page.css', firefox);
  expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  const asked = await ask(server, 'GET', `${counting}&playground=page.css`, firefox);
  expect(asked.status).toBe(403);
});

test('a link of another site opens the playground, and executes nothing', async () => {
  const { server, reads } = await world();
  const before = reads();
  const { status, headers } = await ask(server, 'GET', counting, navigation);
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect((await ask(server, 'GET', '/', navigation)).status).toBe(302);
  expect(reads()).toBe(before);
});

test('every answer is taken for its content type alone, and shown to no page that did not ask', async () => {
  const { server } = await world();
  const paths = ['/', '/graphql', '/healthz', '/readyz', '/metrics', '/nothing', counting, '/graphql?query={nothing}'];
  for (const path of paths) {
    for (const more of [{}, forced, { origin: 'http://elsewhere.example' }, { accept: 'text/event-stream' }]) {
      const { headers } = await ask(server, 'GET', path, more);
      const found = [headers['x-content-type-options'], headers['cross-origin-resource-policy']];
      expect([path, ...found]).toEqual([path, 'nosniff', 'same-origin']);
    }
  }
});

test.each([
  ['a handshake without a key', { connection: 'upgrade', upgrade: 'websocket' }, 400],
  [
    'a handshake of another version',
    {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '99',
      'sec-websocket-key': `${'A'.repeat(22)}==`,
    },
    400,
  ],
  ['an expectation', { expect: 'the unexpected' }, 417],
])('%s is refused as every other request', async (_what, more, expected) => {
  const { server } = await world();
  const { status, headers } = await ask(server, 'GET', '/graphql', more);
  expect([status, headers['x-content-type-options'], headers['cross-origin-resource-policy']]).toEqual([
    ...[expected, 'nosniff', 'same-origin'],
  ]);
});

test('a preflight says what the page may send, and for how long that holds', async () => {
  const { server } = await world();
  const { status, headers, text } = await ask(server, 'OPTIONS', '/graphql', {
    origin: 'http://localhost:5173',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  });
  expect([status, text]).toEqual([204, '']);
  expect(headers).toMatchObject({
    'access-control-allow-origin': 'http://localhost:5173',
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': 'authorization,content-type',
    'access-control-max-age': '7200',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  });
});

const foreign = [
  'http://page.example',
  'https://localhost:5173',
  'http://localhost:5174',
  'http://console.example.com',
  'https://console.example.com.page.example',
];

test.each(foreign)('a page of %s is refused everywhere, and learns how it would be allowed', async (origin) => {
  const { server, logged } = await world();
  const preflight = { origin, 'access-control-request-method': 'POST' };
  const answers = [
    ...(await Promise.all(documents.map((query) => ask(server, 'POST', '/graphql', { origin }, query)))),
    await ask(server, 'OPTIONS', '/graphql', preflight),
    await ask(server, 'GET', '/readyz', { origin }),
  ];
  for (const { status, headers, text } of answers) {
    expect(status).toBe(403);
    expect(JSON.parse(text).errors).toEqual([
      { message: expect.stringContaining(`--allow-origin ${origin}`), extensions: { code: 'FORBIDDEN' } },
    ]);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.vary).toBe('Origin');
  }
  expect(logged).toEqual([{ fields: { origin }, message: expect.stringContaining(`--allow-origin ${origin}`) }]);
});

test('a page without an origin is refused too', async () => {
  const { server } = await world();
  const { status, text } = await ask(server, 'POST', '/graphql', { origin: 'null' }, documents[0]);
  expect(status).toBe(403);
  expect(JSON.parse(text).errors[0].message).toContain('--allow-origin');
});

test("the gateway's own pages, pages behind a proxy that keeps the Host, and programs need no permission", async () => {
  const { server } = await world();
  const own = `http://127.0.0.1:${server.port}`;
  const ways = [
    { origin: own },
    { origin: 'http://localhost:3000', host: 'localhost:3000' },
    // As Apollo iOS sends them with a WebSocket.
    { origin: own.replace('http', 'ws') },
    { origin: 'ws://localhost', host: 'localhost:80' },
    {},
  ];
  for (const headers of ways) {
    const answer = await ask(server, 'POST', '/graphql', headers, documents[0]);
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('a permission does not lift the check of the Host', async () => {
  const { server } = await world();
  const headers = { origin: 'http://localhost:5173', host: 'rebound.example' };
  expect((await ask(server, 'POST', '/graphql', headers, documents[0])).status).toBe(403);
});

test('WebSockets follow the same rule', async () => {
  const { server } = await world();
  for (const origin of allowed) {
    const socket = await openRawSocket(server.url, { headers: { origin } });
    socket.send({ type: 'connection_init' });
    expect(await socket.next()).toEqual({ type: 'connection_ack' });
    socket.close();
  }
  for (const origin of [...foreign, 'null']) {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      `GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    const answer = await text(socket);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 403 /);
    expect(JSON.parse(body).errors[0]).toMatchObject({
      message: expect.stringContaining('--allow-origin'),
      extensions: { code: 'FORBIDDEN' },
    });
  }
});

test('the log names a refused origin once, and a page that makes up origins does not fill it', async () => {
  const { server, logged } = await world();
  for (let number = 0; number < 40; number += 1) {
    for (const time of [1, 2]) {
      const { status } = await ask(server, 'GET', '/healthz', { origin: `http://p${number}.example`, time: `${time}` });
      expect(status).toBe(403);
    }
  }
  expect(logged).toHaveLength(16);
});

test.each([
  ['https://gateway.example', 'gateway.example', true],
  ['wss://gateway.example', 'gateway.example:443', true],
  ['wss://gateway.example:8443', 'gateway.example:8443', true],
  ['ws://gateway.example', 'gateway.example', false],
  ['ws://gateway.example', 'gateway.example:80', false],
  ['http://gateway.example', 'gateway.example:443', false],
  ['wss://gateway.example', 'gateway.example:80', false],
  ['wss://gateway.example.evil.example', 'gateway.example:443', false],
])('with TLS, %s asked at %s is the gateway itself: %s', (origin, host, isOwn) => {
  const rule = new CrossOrigin(() => [], silentLogger, true);
  expect(rule.refusalOf({ method: 'GET', url: '/graphql', headers: { origin, host } }) === null).toBe(isOwn);
});
