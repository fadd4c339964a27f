/** Clients that ask and do not read: their answers are bounded, and others are answered. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Caller } from '../../src/access/caller.ts';
import { defaultBounds } from '../../src/admission/caller-limits.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { UnsentBounds } from '../../src/server/connections/unsent-answers.ts';
import { type RunningServer, startServer } from '../../src/server/http-server.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { widget, widgets } from '../kit/graphql-world.ts';
import { frame, upgrade } from '../kit/web-socket-frames.ts';

const megabyte = 1024 * 1024;
/** More than the kernel keeps for a connection. */
const answerBytes = 16 * megabyte;
const prepared = '{ exampleComWidgets(first: 100) { nodes { spec { name } } } }';
const executed = prepared.replace('nodes', 'totalCount nodes');
const small = '{ exampleComWidgets(first: 1) { nodes { metadata { name } } } }';
const patient: UnsentBounds = { perCaller: 1e9, inAll: 1e9, stalledMs: 600_000, everyMs: 50 };

async function gateway(unsentBounds: Partial<UnsentBounds>, requests = 100): Promise<RunningServer> {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const name = 'x'.repeat(answerBytes / 100);
  await fixture.sync(
    widgets,
    Array.from({ length: 100 }, (_, number) => made({ name: `w${number}`, spec: { name } })),
  );
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    authenticate: ({ header, connectionParams }): Caller => {
      const user = header('x-name') ?? String(connectionParams?.['name'] ?? 'nobody');
      return { user: { user, groups: [], uid: '', extra: {} }, validUntil: null } as unknown as Caller;
    },
    callerBounds: { ...defaultBounds, requests },
    unsentBounds: { ...patient, ...unsentBounds },
    readiness: () => ({ ready: true }),
    tabs: [],
    pages: fixture.pages,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  return server;
}

interface Client {
  readonly socket: Socket;
  bytes: number;
  isOver: boolean;
}

async function open({ port }: RunningServer): Promise<Client> {
  const client: Client = { socket: connect(port, '127.0.0.1'), bytes: 0, isOver: false };
  client.socket.on('error', () => {});
  client.socket.on('close', () => {
    client.isOver = true;
  });
  onTestFinished(() => void client.socket.destroy());
  await once(client.socket, 'connect');
  return client;
}

function asked(name: string, query: string, accept = 'application/json'): string {
  const body = JSON.stringify({ query });
  const lines = [
    ...['POST /graphql HTTP/1.1', 'Host: 127.0.0.1', `Accept: ${accept}`, `X-Name: ${name}`],
    ...['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`],
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Asks, and reads nothing of the answer. A connection that is paused does not see its end, so it is seen at the server. */
async function askUnread(server: RunningServer, name: string, query: string, accept?: string): Promise<Client> {
  const client = await open(server);
  client.socket.pause();
  client.socket.write(asked(name, query, accept));
  return client;
}

/** Opens a stream in single connection mode, asks, and reads nothing. */
async function askUnreadStream(server: RunningServer, name: string, query: string): Promise<Client> {
  const reserved = await fetch(server.url, { method: 'PUT', headers: { 'x-name': name } });
  const token = await reserved.text();
  const client = await open(server);
  client.socket.pause();
  const lines = ['GET /graphql HTTP/1.1', 'Host: 127.0.0.1', 'Accept: text/event-stream', `X-Name: ${name}`];
  client.socket.write(`${[...lines, `X-GraphQL-Event-Stream-Token: ${token}`].join('\r\n')}\r\n\r\n`);
  const headers = { 'content-type': 'application/json', 'x-name': name, 'x-graphql-event-stream-token': token };
  const body = JSON.stringify({ query, extensions: { operationId: '1' } });
  expect((await fetch(server.url, { method: 'POST', headers, body })).status).toBe(202);
  return client;
}

/** What a client gets that reads from now on: the bytes until the answer is whole or the connection ends. */
async function readAll(client: Client): Promise<number> {
  client.socket.on('data', (chunk: Buffer) => {
    client.bytes += chunk.length;
  });
  client.socket.resume();
  await eventually(async () => expect(client.isOver || client.bytes >= answerBytes).toBe(true), 30_000);
  return client.bytes;
}

/** The code of the answer's error; OK without one. */
async function codeOf(server: RunningServer, name: string, query: string): Promise<string> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-name': name },
    body: JSON.stringify({ query }),
  });
  const { errors } = (await response.json()) as {
    errors?: readonly { readonly extensions: { readonly code: string } }[];
  };
  return errors?.[0]?.extensions.code ?? 'OK';
}

/** The server's end of the connection, as the kernel has it: its state, and the bytes that the client has not taken. */
function serversEnd(
  { port }: RunningServer,
  { socket }: Client,
): { readonly isOpen: boolean; readonly unsent: number } {
  const hex = (number: number | undefined): string => (number ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const line = new RegExp(`^ *\\d+: \\w+:${hex(port)} \\w+:${hex(socket.localPort)} (\\w\\w) (\\w+):`, 'm');
  const [, state, unsent = '0'] = line.exec(readFileSync('/proc/net/tcp', 'utf8')) ?? [];
  return { isOpen: state === '01', unsent: Number.parseInt(unsent, 16) };
}

/** The server ends the connection of a client that reads nothing. */
const endedByServer = (server: RunningServer, client: Client): Promise<void> =>
  eventually(() => expect(serversEnd(server, client).isOpen).toBe(false));

/** The answer is made: the kernel has taken as much of it as it keeps. */
const isMade = (server: RunningServer, client: Client): Promise<void> =>
  eventually(() => expect(serversEnd(server, client).unsent).toBeGreaterThan(0));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test.each([
  ['prepared', prepared, undefined],
  ['executed', executed, undefined],
  ['a stream of events', executed.replace('{ ', 'query @live { '), 'text/event-stream'],
])('a connection that takes nothing of its answer ends: %s', async (_how, query, accept) => {
  const server = await gateway({ stalledMs: 500 });
  const client = await askUnread(server, 'mallory', query, accept);
  await endedByServer(server, client);
  expect(await readAll(client)).toBeLessThan(answerBytes);
});

test('a connection that takes its answer slowly gets all of it', async () => {
  const server = await gateway({ stalledMs: 3000 });
  const client = await open(server);
  const began = performance.now();
  let rests = 0;
  client.socket.on('data', (chunk: Buffer) => {
    client.bytes += chunk.length;
    // It rests half a second after each megabyte: all rests together are longer than a connection may stall.
    if (client.bytes < (rests + 1) * megabyte) return;
    rests += 1;
    client.socket.pause();
    setTimeout(() => client.socket.resume(), 500);
  });
  client.socket.write(asked('olga', prepared));
  await eventually(async () => expect(client.bytes).toBeGreaterThan(answerBytes), 30_000);
  expect(performance.now() - began).toBeGreaterThan(3000);
});

test('what one caller does not read is bounded, and others get their answers', async () => {
  const server = await gateway({ perCaller: 2 * answerBytes });
  const unread: Client[] = [];
  for (let count = 0; count < 6; count += 1) {
    unread.push(await askUnread(server, 'mallory', count % 2 === 0 ? prepared : executed));
    await pause(300);
  }
  const olga = await open(server);
  olga.socket.write(asked('olga', prepared));
  expect(await readAll(olga)).toBeGreaterThan(answerBytes);
  const whole = await Promise.all(unread.map(readAll));
  const ended = whole.filter((bytes) => bytes < answerBytes).length;
  expect(ended).toBeGreaterThanOrEqual(3);
  expect(ended).toBeLessThan(6);
});

test('what all callers do not read is bounded; the caller with the most loses first', async () => {
  const server = await gateway({ inAll: 3 * answerBytes });
  const olga = await askUnread(server, 'olga', prepared);
  const unread: Client[] = [];
  for (let count = 0; count < 5; count += 1) {
    unread.push(await askUnread(server, 'mallory', prepared));
    await pause(300);
  }
  expect(await readAll(olga)).toBeGreaterThan(answerBytes);
  const whole = await Promise.all(unread.map(readAll));
  expect(whole.filter((bytes) => bytes < answerBytes).length).toBeGreaterThanOrEqual(2);
});

test.each([
  ['prepared', prepared],
  ['executed', executed],
])('a query is in flight until its answer is sent: %s', async (_how, query) => {
  const server = await gateway({}, 2);
  const unread = [await askUnread(server, 'mallory', query), await askUnread(server, 'mallory', query)];
  await eventually(async () => expect(await codeOf(server, 'mallory', small)).toBe('TOO_MANY_REQUESTS'), 20_000);
  expect(await codeOf(server, 'olga', small)).toBe('OK');
  await Promise.all(unread.map(readAll));
  await eventually(async () => expect(await codeOf(server, 'mallory', small)).toBe('OK'), 20_000);
});

/** A WebSocket of a caller, which reads nothing from now on. */
async function openUnreadSocket(server: RunningServer, name: string): Promise<Client> {
  const client = await open(server);
  await upgrade(client.socket);
  client.socket.write(frame(JSON.stringify({ type: 'connection_init', payload: { name } })));
  await once(client.socket, 'data');
  client.socket.pause();
  return client;
}

const subscribe = (id: number, query: string): Buffer =>
  frame(JSON.stringify({ type: 'subscribe', id: String(id), payload: { query } }));

async function openAndAskUnread(server: RunningServer, name: string, query: string): Promise<Client> {
  const client = await openUnreadSocket(server, name);
  client.socket.write(subscribe(1, query));
  return client;
}

test('a query over WebSocket is in flight until its answer is sent, or its connection ends', async () => {
  const server = await gateway({}, 2);
  const sockets = [await openUnreadSocket(server, 'mallory'), await openUnreadSocket(server, 'mallory')];
  for (const { socket } of sockets) socket.write(subscribe(1, executed));
  await Promise.all(sockets.map((client) => isMade(server, client)));
  await eventually(async () => expect(await codeOf(server, 'mallory', small)).toBe('TOO_MANY_REQUESTS'), 20_000);
  expect(await codeOf(server, 'olga', small)).toBe('OK');
  const [first, second] = sockets;
  second?.socket.destroy();
  await eventually(async () => expect(await codeOf(server, 'mallory', small)).toBe('OK'), 20_000);
  second?.socket.destroy();
  first?.socket.resume();
  // Refused, aborted and completed queries are not in flight for ever either.
  for (let id = 2; id < 8; id += 1) {
    first?.socket.write(subscribe(id, id % 2 === 0 ? executed : '{ nothing }'));
    if (id % 3 === 0) first?.socket.write(frame(JSON.stringify({ type: 'complete', id: String(id) })));
  }
  await pause(500);
  first?.socket.destroy();
  await eventually(async () => {
    const codes = await Promise.all([codeOf(server, 'mallory', small), codeOf(server, 'mallory', small)]);
    expect(codes).toEqual(['OK', 'OK']);
  }, 20_000);
});

test.each([
  ['WebSocket', openAndAskUnread],
  ['a stream of events', (...given: Parameters<typeof askUnreadStream>) => askUnread(...given, 'text/event-stream')],
  ['a stream of events in single connection mode', askUnreadStream],
] as readonly [string, typeof askUnreadStream][])(
  'what streams leave unread is bounded at once, not a second later: %s',
  async (_how, ask) => {
    const server = await gateway({ perCaller: 2 * answerBytes, everyMs: 600_000 });
    const unread: Client[] = [];
    for (let count = 0; count < 6; count += 1) {
      const query = executed.replace('{ ', 'query @live { ');
      unread.push(await ask(server, 'mallory', query));
      await pause(500);
    }
    const whole = await Promise.all(unread.map(readAll));
    expect(whole.filter((bytes) => bytes < answerBytes).length).toBeGreaterThanOrEqual(3);
  },
);

test('subscribers that wait for the next result hold none', async () => {
  const server = await gateway({});
  const count = 20;
  // Each runs the query once itself.
  const query = executed.replace('first: 100', 'first: 10').replace('{ ', 'query @live { ');
  let first = 0;
  const connections: WebSocket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = new WebSocket(server.url.replace('http', 'ws'), 'graphql-transport-ws');
    onTestFinished(() => socket.terminate());
    connections.push(socket);
    await once(socket, 'open');
    socket.on('message', (data: Buffer) => {
      if (data.length > 1000) first += 1;
    });
    socket.send(JSON.stringify({ type: 'connection_init', payload: { name: `olga ${at}` } }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
  }
  await eventually(async () => expect(first).toBe(count), 20_000);
  queryObjects(WebSocket);
  const { heapUsed } = process.memoryUsage();
  for (const socket of connections) socket.terminate();
  await eventually(async () => expect(await codeOf(server, 'olga', small)).toBe('OK'));
  await pause(1000);
  queryObjects(WebSocket);
  expect(heapUsed - process.memoryUsage().heapUsed).toBeLessThan(count * 0.2 * megabyte);
});

test('a WebSocket that takes nothing of its answers ends', async () => {
  const server = await gateway({ stalledMs: 500 });
  const client = await openUnreadSocket(server, 'mallory');
  client.socket.write(subscribe(1, executed));
  await endedByServer(server, client);
  expect(await readAll(client)).toBeLessThan(answerBytes);
});

test('parts of the playground that are not read cost nobody an answer', async () => {
  const server = await gateway({ inAll: 2 * answerBytes });
  const olga = await askUnread(server, 'olga', prepared);
  const lines = ['GET /graphql?playground=editor.js HTTP/1.1', 'Host: 127.0.0.1'];
  const unread: Client[] = [];
  // 25 parts of three megabytes are more than all callers together may leave unread.
  for (let count = 0; count < 25; count += 1) {
    const client = await open(server);
    client.socket.pause();
    client.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    unread.push(client);
  }
  await pause(1000);
  expect(await readAll(olga)).toBeGreaterThan(answerBytes);
});
