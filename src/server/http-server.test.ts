import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../test/kit/eventually.ts';
import { type HandMade, handMadeSource } from '../../test/kit/hand-made-source.ts';
import { openAcknowledged, openRawSocket } from '../../test/kit/raw-socket.ts';
import type { Readiness } from './health/readiness.ts';
import { type RunningServer, startServer } from './http-server.ts';

let made: HandMade;
let server: RunningServer;
let readiness: Readiness;

const options = (more: object = {}) => ({
  host: '127.0.0.1',
  port: 0,
  source: made.source,
  readiness: () => readiness,
  tabs: [],
  log: made.log,
  ...more,
});

beforeEach(async () => {
  made = handMadeSource();
  readiness = { ready: true };
  server = await startServer(options());
});

afterEach(() => server.close());

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a request with exactly this path and these headers. */
async function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const request = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false });
  request.end(body);
  const [response] = await once(request, 'response');
  return { status: response.statusCode as number, headers: response.headers, text: await text(response) };
}

const json = { 'content-type': 'application/json' };

/** The server's answer to bytes on a bare connection. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(bytes);
  return await text(socket);
}

describe('paths', () => {
  test('the endpoint', async () => {
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/graphql`);
    const { status, text } = await ask('/graphql', { method: 'POST', headers: json, body: '{"query":"{greeting}"}' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ data: { greeting: 'hello' } });
  });

  test('/ leads to it, also behind a proxy that puts a path before it', async () => {
    const { status, headers } = await ask('/');
    expect([status, headers.location]).toEqual([302, './graphql']);
    expect(new URL(String(headers.location), 'https://example.com/portolan/').pathname).toBe('/portolan/graphql');
  });

  test('/healthz', async () => {
    expect(await ask('/healthz')).toMatchObject({ status: 200, text: '{"ok":true}\n' });
  });

  test('/readyz says what is missing until everything is there', async () => {
    readiness = { ready: false, failing: [{ resource: 'foos.example.com', error: 'no' }] };
    const first = await ask('/readyz');
    expect(first.status).toBe(503);
    expect(JSON.parse(first.text)).toEqual(readiness);
    readiness = { ready: true, failing: [] };
    expect((await ask('/readyz')).status).toBe(200);
  });

  test.each(['/nothing', '/graphql/more', '/health', '/graphqlx', '//', '//graphql', '/%', '*'])(
    '%s is nowhere',
    async (path) => {
      const { status, text } = await ask(path);
      expect(status).toBe(404);
      expect(JSON.parse(text).error).toContain('/graphql');
    },
  );

  test('a path that is a whole address is taken for its path', async () => {
    expect((await ask('http://127.0.0.1/healthz')).status).toBe(200);
    expect((await ask('http://[', {})).status).toBe(302);
    const asked = { method: 'POST', headers: json, body: '{"query":"{greeting}"}' };
    expect((await ask('http://127.0.0.1/graphql', asked)).status).toBe(200);
  });
});

describe('who may ask', () => {
  test.each([
    ['a name of a page', { host: 'rebound.example:4000' }],
    ['a name that only begins right', { host: '127.0.0.1.example' }],
  ])('a Host that is %s is refused on every path', async (_what, headers) => {
    for (const path of ['/graphql', '/', '/healthz', '/nothing']) {
      const { status, text } = await ask(path, { headers });
      expect(status).toBe(403);
      expect(JSON.parse(text).error).toContain('loopback');
    }
  });

  test('HTTP/1.0 without a Host is refused', async () => {
    expect(await raw('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
  });

  test.each([
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form with files', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['nothing said', {}],
    ['a list of types', { 'content-type': 'text/plain, application/json' }],
  ])('a body of %s, which pages may send unasked, is refused', async (_what, headers) => {
    const { status } = await ask('/graphql', { method: 'POST', headers, body: '{"query":"{greeting}"}' });
    expect(status).toBe(415);
  });

  test('no page of another site is invited to read', async () => {
    const headers = { origin: 'http://page.example' };
    const { headers: answered } = await ask('/graphql?query={greeting}', { headers });
    expect(Object.keys(answered).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('a body that is too large is refused, whether its length is said or not', async () => {
    const body = JSON.stringify({ query: `{ greeting } # ${'x'.repeat(2 * 1024 * 1024)}` });
    expect((await ask('/graphql', { method: 'POST', headers: json, body })).status).toBe(413);
    const headers = { ...json, 'transfer-encoding': 'chunked' };
    expect((await ask('/graphql', { method: 'POST', headers, body })).status).toBe(413);
  });
});

describe('WebSocket upgrades', () => {
  const upgrade = (path: string, headers: string) =>
    `GET ${path} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${headers}\r\n\r\n`;

  test.each([
    ['another Host', '/graphql', 'Host: page.example'],
    ['no Host', '/graphql', 'X-Nothing: 1'],
    ['another path', '/', 'Host: 127.0.0.1'],
    ['a path that is none', '//', 'Host: 127.0.0.1'],
    ['the Origin of another site', '/graphql', 'Host: 127.0.0.1\r\nOrigin: http://page.example'],
    ['the Origin of another port', '/graphql', 'Host: 127.0.0.1:4000\r\nOrigin: http://127.0.0.1:4001'],
    ['the Origin of a file', '/graphql', 'Host: 127.0.0.1\r\nOrigin: null'],
  ])('%s is refused and the connection ends', async (_what, path, headers) => {
    expect(await raw(upgrade(path, headers))).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test('the page of the gateway itself may', async () => {
    const origin = server.url.replace('/graphql', '');
    const socket = await openRawSocket(server.url, { headers: { origin } });
    socket.send({ type: 'connection_init' });
    expect(await socket.next()).toEqual({ type: 'connection_ack' });
  });

  test('a connection that is reset while it is refused does no harm', async () => {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(upgrade('/elsewhere', 'Host: 127.0.0.1'));
    socket.resetAndDestroy();
    expect((await ask('/healthz')).status).toBe(200);
  });
});

describe('subscriptions over server-sent events', () => {
  test('run to their end', async () => {
    const body = JSON.stringify({ query: 'subscription { ticks(most: 2) }' });
    const { text } = await ask('/graphql', { method: 'POST', headers: { ...json, accept: 'text/event-stream' }, body });
    expect(text).toContain('data: {"data":{"ticks":2}}');
    expect(text).toContain('event: complete');
    expect(made.ticks).toEqual({ begun: 1, ended: 1 });
  });

  test('end at their source when the client goes', async () => {
    const request = httpRequest({
      port: server.port,
      host: '127.0.0.1',
      path: '/graphql',
      method: 'POST',
      headers: { ...json, accept: 'text/event-stream' },
    });
    request.on('error', () => {});
    request.end(JSON.stringify({ query: 'subscription { ticks }' }));
    const [response] = await once(request, 'response');
    response.on('error', () => {});
    await once(response, 'data');
    request.destroy();
    await eventually(() => expect(made.ticks).toEqual({ begun: 1, ended: 1 }));
  });
});

describe('leases', () => {
  test('a query gives its lease back', async () => {
    await ask('/graphql', { method: 'POST', headers: json, body: '{"query":"{revision again: revision defect}"}' });
    expect(made.leases).toEqual({ opened: 1, ended: 1 });
  });

  test('a client that goes has its read cut and its lease given back', async () => {
    const request = httpRequest({
      port: server.port,
      host: '127.0.0.1',
      path: '/graphql',
      method: 'POST',
      headers: json,
    });
    request.on('error', () => {});
    request.end('{"query":"{held}"}');
    await eventually(() => expect(made.leases.opened).toBe(1));
    request.destroy();
    await eventually(() => expect(made.signals[0]?.aborted).toBe(true));
    await eventually(() => expect(made.leases).toEqual({ opened: 1, ended: 1 }));
    expect(made.logged).toEqual([]);
  });
});

describe('starting', () => {
  test('anything but loopback is refused', async () => {
    await expect(startServer(options({ host: '0.0.0.0' }))).rejects.toMatchObject({ code: 'CONFIGURATION' });
  });

  test('a port that is taken is said in words', async () => {
    const starting = startServer(options({ port: server.port }));
    await expect(starting).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: `Port ${server.port} is taken; choose another with --port, or --port 0 for any.`,
    });
  });
});

describe('draining', () => {
  test('says so, and still answers', async () => {
    const over = server.drain(60_000, AbortSignal.timeout(300));
    const ready = await ask('/readyz');
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toMatchObject({ ready: false, status: 'draining' });
    expect((await ask('/healthz')).status).toBe(200);
    const { status, headers } = await ask('/graphql', {
      method: 'POST',
      headers: json,
      body: '{"query":"{greeting}"}',
    });
    expect(status).toBe(200);
    expect(headers.connection).toBe('close');
    await over;
  });

  test('closes WebSockets and event streams, also those that come meanwhile', async () => {
    const early = await openAcknowledged(server.url);
    const stream = fetch(server.url, {
      method: 'POST',
      headers: { ...json, accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { ticks }' }),
    }).then((response) => response.text());
    const cut = expect(stream).rejects.toThrow();
    await eventually(() => expect(made.ticks.begun).toBe(1));
    const over = server.drain(500, AbortSignal.timeout(60_000));
    const late = await openAcknowledged(server.url);
    expect(await early.closed).toMatchObject({ code: 1001 });
    expect(await late.closed).toMatchObject({ code: 1001 });
    await cut;
    await eventually(() => expect(made.ticks.ended).toBe(1));
    await over;
  });
});

test('a query of a client that would also take an event stream is answered until the end of a drain', async () => {
  const over = server.drain(50, AbortSignal.timeout(60_000));
  const accept = 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed';
  for (let turn = 0; turn < 20; turn += 1) {
    const body = '{"query":"{greeting}"}';
    expect((await ask('/graphql', { method: 'POST', headers: { ...json, accept }, body })).status).toBe(200);
  }
  await over;
});

describe('closing', () => {
  test('tells WebSockets with 1001 and refuses new connections', async () => {
    const socket = await openAcknowledged(server.url);
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { ticks }' } });
    await socket.next();
    await server.close();
    expect(await socket.closed).toMatchObject({ code: 1001 });
    await eventually(() => expect(made.ticks).toEqual({ begun: 1, ended: 1 }));
    await expect(ask('/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('lets a running query finish', async () => {
    const answered = ask('/graphql', { method: 'POST', headers: json, body: '{"query":"{held}"}' });
    await eventually(() => expect(made.leases.opened).toBe(1));
    const closing = server.close();
    made.release();
    expect(JSON.parse((await answered).text)).toMatchObject({ data: { held: 'released' } });
    await closing;
  });

  test('ends although a query, a stream, an idle connection and a deaf WebSocket hang on', async () => {
    const query = ask('/graphql', { method: 'POST', headers: json, body: '{"query":"{held}"}' });
    const ended = expect(query).rejects.toThrow();
    const stream = httpRequest({
      port: server.port,
      host: '127.0.0.1',
      path: '/graphql',
      method: 'POST',
      headers: { ...json, accept: 'text/event-stream' },
    });
    stream.on('error', () => {});
    stream.end(JSON.stringify({ query: 'subscription { ticks }' }));
    const [response] = await once(stream, 'response');
    response.on('error', () => {});
    const idle = connect(server.port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    const deaf = connect(server.port, '127.0.0.1');
    deaf.on('error', () => {});
    deaf.write(
      'GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    await once(deaf, 'data');
    await eventually(() => expect(made.leases.opened).toBe(1));
    await server.close();
    await ended;
    await eventually(() => expect(made.ticks.ended).toBe(made.ticks.begun));
    idle.destroy();
    deaf.destroy();
  });

  test('may be asked for twice', async () => {
    await Promise.all([server.close(), server.close()]);
    await server.close();
  });
});

test('an idle connection is kept for the configured time, and the answer says so', async () => {
  const timeoutOf = async ({ url }: RunningServer): Promise<string | null> =>
    (await fetch(url.replace('/graphql', '/healthz'))).headers.get('keep-alive');
  expect(await timeoutOf(server)).toBe('timeout=75');
  const other = await startServer(options({ keepAliveMs: 42_000 }));
  expect(await timeoutOf(other)).toBe('timeout=42');
  await other.close();
});
