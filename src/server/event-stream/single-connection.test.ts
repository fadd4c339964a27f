/** Single connection mode against clients that make mistakes, and callers who use the tokens of others. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../test/kit/eventually.ts';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { type Caller, noExtra } from '../../access/caller.ts';
import { type CallerBounds, defaultBounds } from '../../admission/caller-limits.ts';
import { PortolanError } from '../../base/errors.ts';
import { startServer } from '../http-server.ts';

const json = { 'content-type': 'application/json' };

interface Made {
  readonly bounds?: Partial<CallerBounds>;
  /** Callers are known when it resolves. */
  readonly known?: () => Promise<void>;
  readonly checkCallersMs?: number;
}

async function world({ bounds = {}, known = () => Promise.resolve(), checkCallersMs = 10_000 }: Made = {}) {
  const made = handMadeSource();
  /** Callers whose credentials have ended. */
  const ended = new Set<string>();
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: made.source,
    callerBounds: { ...defaultBounds, ...bounds },
    checkCallersMs,
    authenticate: async ({ header }): Promise<Caller> => {
      await known();
      const user = header('x-name');
      if (user === undefined || ended.has(header('x-token') ?? ''))
        throw new PortolanError('UNAUTHENTICATED', 'Say who you are.');
      return { name: user, user: { user, groups: [], uid: '', extra: noExtra }, validUntil: Date.now() + 60_000 };
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: made.log,
  });
  onTestFinished(() => server.close());
  const send = (method: string, headers: Record<string, string> = {}, more: RequestInit & { search?: string } = {}) =>
    fetch(`${server.url}${more.search ?? ''}`, { method, headers: { 'x-name': 'jane', ...headers }, ...more });
  const reserve = async (headers: Record<string, string> = {}): Promise<string> => {
    const response = await send('PUT', headers);
    expect(response.status).toBe(201);
    return response.text();
  };
  /** The stream of a token: its status, and the text of its events so far. */
  const open = async (token: string, headers: Record<string, string> = {}) => {
    const gone = new AbortController();
    const accept = 'text/event-stream';
    const response = await send('GET', { ...withToken(token), accept, ...headers }, { signal: gone.signal });
    const events = { text: '', isOver: false };
    const read = async (): Promise<void> => {
      for await (const piece of response.body ?? []) events.text += Buffer.from(piece).toString();
    };
    const over = (): void => {
      events.isOver = true;
    };
    if (response.ok) read().then(over, over);
    onTestFinished(() => gone.abort());
    return { status: response.status, events, leave: () => gone.abort() };
  };
  const ask = (token: string, body: unknown, headers: Record<string, string> = {}) =>
    send('POST', { ...json, ...withToken(token), ...headers }, { body: JSON.stringify(body) });
  return { made, server, ended, send, reserve, open, ask };
}

function withToken(token: string): Record<string, string> {
  return { 'x-graphql-event-stream-token': token };
}

function operation(id: unknown, query = '{ greeting }'): object {
  return { query, extensions: { operationId: id } };
}

async function codeOf(response: Response): Promise<string> {
  const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
  return `${response.status} ${errors[0]?.extensions.code}`;
}

describe('an operation', () => {
  test('is answered by events of its id, also if it comes before the stream', async () => {
    const { reserve, open, ask } = await world();
    const token = await reserve();
    const asked = ask(token, operation('one'));
    const { events, status } = await open(token);
    expect([status, (await asked).status]).toEqual([200, 202]);
    await eventually(() => expect(events.text).toContain('event: complete\ndata: {"id":"one"}\n\n'));
    expect(events.text).toMatch(/event: next\ndata: \{"id":"one",.*"greeting":"[^"]+".*\}\n\n/);
  });

  test('has an id of its own until it ends', async () => {
    const { made, send, reserve, open, ask } = await world();
    const token = await reserve();
    const { events } = await open(token);
    const ticks = operation('one', 'subscription { ticks }');
    expect((await ask(token, ticks)).status).toBe(202);
    expect(await codeOf(await ask(token, ticks))).toBe('409 CONFLICT');
    await eventually(() => expect(events.text).toContain('"ticks":1'));
    expect((await send('DELETE', withToken(token), { search: '?operationId=one' })).status).toBe(200);
    await eventually(() => expect(made.ticks.ended).toBe(1));
    expect((await ask(token, ticks)).status).toBe(202);
    expect((await send('DELETE', withToken(token), { search: '?operationId=other' })).status).toBe(200);
  });

  const bad: readonly (readonly [what: string, body: unknown, headers?: Record<string, string>])[] = [
    ['without an id', { query: '{ greeting }' }],
    ['with an id that is no text', operation(1)],
    ['with an empty id', operation('')],
    ['with a long id', operation('x'.repeat(201))],
    ['without a query', { extensions: { operationId: 'one' } }],
    ['that is a list', [operation('one')]],
    ['that is null', null],
    ['with variables that are no object', { ...operation('one'), variables: 'x' }],
    ['of another type', operation('one'), { 'content-type': 'text/plain' }],
    ['of 2 MB', operation('one', `{ greeting } # ${'x'.repeat(2_000_000)}`)],
  ];
  test.each(bad.map(([what, body, headers = {}]) => ({ what, body, headers })))(
    '$what is refused, and the stream goes on',
    async ({ body, headers }) => {
      const { reserve, open, ask } = await world();
      const token = await reserve();
      const { events } = await open(token);
      expect(await codeOf(await ask(token, body, headers))).toBe('400 BAD_USER_INPUT');
      expect((await ask(token, operation('other'))).status).toBe(202);
      await eventually(() => expect(events.text).toContain('"id":"other"'));
    },
  );
});

describe('a token', () => {
  test('of another caller is unknown', async () => {
    const { send, reserve, open, ask } = await world();
    const token = await reserve();
    const { events } = await open(token);
    const other = { 'x-name': 'mallory' };
    const accept = 'text/event-stream';
    expect(await codeOf(await send('GET', { ...withToken(token), ...other, accept }))).toBe('404 NOT_FOUND');
    expect(await codeOf(await ask(token, operation('one'), other))).toBe('404 NOT_FOUND');
    const search = '?operationId=one';
    expect(await codeOf(await send('DELETE', { ...withToken(token), ...other }, { search }))).toBe('404 NOT_FOUND');
    expect(events.text).not.toContain('event: next');
  });

  test('has one stream, and ends with it, as its operations do', async () => {
    const { made, send, reserve, open, ask } = await world();
    const token = await reserve();
    const { leave } = await open(token);
    const accept = 'text/event-stream';
    expect(await codeOf(await send('GET', { ...withToken(token), accept }))).toBe('409 CONFLICT');
    await ask(token, operation('one', 'subscription { ticks }'));
    await eventually(() => expect(made.ticks.begun).toBe(1));
    leave();
    await eventually(() => expect(made.ticks.ended).toBe(1));
    expect(await codeOf(await ask(token, operation('two')))).toBe('404 NOT_FOUND');
  });

  test('may be in the URL of a stream', async () => {
    const { send, reserve } = await world();
    const token = await reserve();
    const accept = 'text/event-stream';
    const response = await send('GET', { accept }, { search: `?token=${token}` });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await response.body?.cancel();
  });
});

describe('bounds of a caller', () => {
  test('reservations without a stream', async () => {
    const { send, reserve } = await world();
    for (let each = 0; each < 100; each += 1) await reserve();
    expect(await codeOf(await send('PUT'))).toBe('429 TOO_MANY_REQUESTS');
    await reserve({ 'x-name': 'john' });
  });

  test('streams count as connections', async () => {
    const { reserve, open } = await world({ bounds: { connections: 1 } });
    const first = await open(await reserve());
    expect(first.status).toBe(200);
    expect((await open(await reserve())).status).toBe(429);
    first.leave();
    await eventually(async () => expect((await open(await reserve())).status).toBe(200));
  });

  test('subscriptions', async () => {
    const { reserve, open, ask } = await world({ bounds: { subscriptions: 1 } });
    const token = await reserve();
    const { events } = await open(token);
    await ask(token, operation('one', 'subscription { ticks }'));
    await eventually(() => expect(events.text).toContain('"ticks":1'));
    await ask(token, operation('two', 'subscription { ticks }'));
    await eventually(() => expect(events.text).toMatch(/"id":"two".*TOO_MANY_REQUESTS/));
  });
});

test('a caller without credentials gets no reservation', async () => {
  const { server } = await world();
  const response = await fetch(server.url, { method: 'PUT' });
  expect(await codeOf(response)).toBe('401 UNAUTHENTICATED');
});

test('the end of the server ends the streams', async () => {
  const { server, reserve, open } = await world();
  const { events } = await open(await reserve());
  await server.close();
  await eventually(() => expect(events.isOver).toBe(true));
});

/** A connection that writes requests and reads nothing. */
async function unread(port: number, ...lines: readonly string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(`${['GET /graphql HTTP/1.1', 'Host: 127.0.0.1', 'X-Name: jane', ...lines].join('\r\n')}\r\n\r\n`);
  return socket;
}

describe('a client that reads nothing', () => {
  /** The kernel may take tens of megabytes for a client that does not read. */
  const long = (id: string): object => operation(id, '{ megabyte }');

  test.each(['text/event-stream', 'Text/Event-Stream'])(
    '%s: has a bounded stream, and harms nobody',
    async (accept) => {
      const { server, reserve, ask } = await world();
      const token = await reserve();
      await unread(server.port, `Accept: ${accept}`, `X-GraphQL-Event-Stream-Token: ${token}`);
      let sent = 0;
      // The results are made after the requests are answered.
      await eventually(
        async () => {
          sent += 1;
          const response = await ask(token, long(String(sent)));
          expect(response.status).toBe(429);
          expect(await codeOf(response)).toBe('429 TOO_MANY_REQUESTS');
        },
        60_000,
        5,
      );
      // A stream that ended while a request waited must not be written to.
      expect((await ask(token, operation('x'))).status).toBe(429);
    },
  );

  test('loses its stream when its credentials end', async () => {
    const { server, ended, reserve, ask, made } = await world({ checkCallersMs: 50 });
    const token = await reserve();
    await unread(server.port, 'Accept: text/event-stream', `X-GraphQL-Event-Stream-Token: ${token}`, 'X-Token: old');
    expect((await ask(token, operation('ticks', 'subscription { ticks }'))).status).toBe(202);
    for (let each = 0; each < 50; each += 1) await ask(token, long(String(each)));
    ended.add('old');
    await eventually(async () => expect((await ask(token, operation('late'))).status).toBe(404));
    await eventually(() => expect(made.ticks.ended).toBe(1));
  });
});

describe('what is taken is given back', () => {
  test('by a stream that is refused: its reservation, and the request that waits for it', async () => {
    const { reserve, open, ask, send } = await world({ bounds: { connections: 0 } });
    for (let each = 0; each < 101; each += 1) {
      const token = await reserve();
      const waiting = ask(token, operation('one'));
      expect((await open(token)).status).toBe(429);
      expect(await codeOf(await waiting)).toBe('404 NOT_FOUND');
    }
    expect((await send('PUT')).status).toBe(201);
  });

  test('by a client that leaves while it is authenticated', async () => {
    let ms = 0;
    const known = () => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const { server, reserve, open } = await world({ bounds: { connections: 2 }, known });
    for (const leftAfter of [20, 20, 20, 150, 150, 150]) {
      const token = await reserve();
      ms = 100;
      const socket = await unread(server.port, 'Accept: text/event-stream', `X-GraphQL-Event-Stream-Token: ${token}`);
      setTimeout(() => socket.destroy(), leftAfter);
      await once(socket, 'close');
      ms = 0;
    }
    await eventually(async () => expect((await open(await reserve())).status).toBe(200));
  });

  test('by a WebSocket that leaves while it is authenticated', async () => {
    let ms = 100;
    const known = () => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const { server } = await world({ bounds: { connections: 1 }, known });
    const connected = async (): Promise<WebSocket> => {
      const headers = { 'x-name': 'jane' };
      const socket = new WebSocket(server.url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
      onTestFinished(() => socket.terminate());
      await once(socket, 'open');
      socket.send('{"type":"connection_init"}');
      return socket;
    };
    const left = await connected();
    await new Promise((resolve) => setTimeout(resolve, 30));
    left.terminate();
    await new Promise((resolve) => setTimeout(resolve, 200));
    ms = 0;
    const [message] = await once(await connected(), 'message');
    expect(JSON.parse(String(message))).toEqual({ type: 'connection_ack' });
  });

  test('by an open stream: the place of its request', async () => {
    const { reserve, open, ask } = await world({ bounds: { requests: 1 } });
    const token = await reserve();
    const { events } = await open(token);
    await eventually(async () => expect((await ask(token, operation('one'))).status).toBe(202));
    await eventually(() => expect(events.text).toContain('"id":"one"'));
  });
});

test('an id is free when its operation has ended, not when the client asks for the end', async () => {
  const { made, send, reserve, open, ask } = await world();
  const token = await reserve();
  const { events } = await open(token);
  await ask(token, operation('one', '{ held }'));
  const search = '?operationId=one';
  expect((await send('DELETE', withToken(token), { search })).status).toBe(200);
  const again = await ask(token, operation('one', 'subscription { ticks }'));
  made.release();
  if (again.status === 409) {
    await eventually(async () =>
      expect((await ask(token, operation('one', 'subscription { ticks }'))).status).toBe(202),
    );
  }
  await eventually(() => expect(events.text).toContain('"ticks":1'));
  expect(events.text).not.toContain('held');
  expect((await send('DELETE', withToken(token), { search })).status).toBe(200);
  await eventually(() => expect(made.ticks.ended).toBe(1));
});

test('two streams on one connection are refused', async () => {
  const { server, reserve, send } = await world();
  const [first, second] = [await reserve(), await reserve()];
  const accept = 'Accept: text/event-stream';
  const socket = await unread(server.port, accept, `X-GraphQL-Event-Stream-Token: ${first}`);
  socket.write(
    `${['GET /graphql HTTP/1.1', 'Host: 127.0.0.1', 'X-Name: jane', accept, `X-GraphQL-Event-Stream-Token: ${second}`].join('\r\n')}\r\n\r\n`,
  );
  // The second reservation has no stream yet, so another connection may open it.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const response = await send('GET', { ...withToken(second), accept: 'text/event-stream' });
  expect(response.status).toBe(200);
  await response.body?.cancel();
});
