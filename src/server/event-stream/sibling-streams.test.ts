/** Single connection mode in a gateway with several processes: each request of a client may come to another one. Here, two servers with a folder in common. */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { noExtra } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import { type RunningServer, startServer } from '../http-server.ts';
import { SiblingStreams } from './sibling-streams.ts';

const withToken = (token: string) => ({ 'x-graphql-event-stream-token': token });
const accept = 'text/event-stream';

async function process(folder: string, number: number, made = handMadeSource()) {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: made.source,
    siblings: { folder, number },
    authenticate: ({ header }) => {
      const user = header('x-name');
      if (user === undefined) throw new PortolanError('UNAUTHENTICATED', 'Say who you are.');
      return { name: user, user: { user, groups: [], uid: '', extra: noExtra }, validUntil: Date.now() + 60_000 };
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: made.log,
  });
  onTestFinished(() => server.close());
  return { made, server };
}

async function world() {
  const folder = temporaryDirectory('siblings');
  const [first, second] = [await process(folder, 1), await process(folder, 2)];
  return { folder, first: first.server, second: second.server, ...{ firstMade: first.made, secondMade: second.made } };
}

/** One request on a connection of its own. */
async function send(
  { port }: Pick<RunningServer, 'port'>,
  method: string,
  headers: Record<string, string> = {},
  { body, search = '' }: { readonly body?: object | string; readonly search?: string } = {},
) {
  const request = httpRequest({
    ...{ host: '127.0.0.1', port, method, path: `/graphql${search}`, agent: false },
    headers: { 'x-name': 'jane', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  request.end(typeof body === 'object' ? JSON.stringify(body) : body);
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    request.once('response', resolve).once('error', reject),
  );
  return { status: response.statusCode, headers: response.headers, response };
}

async function codeOf(sending: ReturnType<typeof send>): Promise<string> {
  const { status, response } = await sending;
  const { errors } = JSON.parse(await text(response)) as { errors: { extensions: { code: string } }[] };
  return `${status} ${errors[0]?.extensions.code}`;
}

async function reserve(server: RunningServer): Promise<string> {
  const { status, response } = await send(server, 'PUT');
  expect(status).toBe(201);
  return text(response);
}

/** The stream of a token, at this process. */
async function open(server: RunningServer, token: string) {
  const { status, headers, response } = await send(server, 'GET', { ...withToken(token), accept });
  const events = { text: '', isOver: false };
  response.on('data', (piece: Buffer) => {
    events.text += piece.toString();
  });
  response.once('close', () => {
    events.isOver = true;
  });
  onTestFinished(() => void response.destroy());
  return { status, headers, events, leave: () => response.destroy() };
}

const operation = (id: string, query = '{ greeting }') => ({ query, extensions: { operationId: id } });

test('the requests of a client go to any process, and its results come on its stream', async () => {
  const { first, second, firstMade, secondMade } = await world();
  for (let round = 0; round < 30; round += 1) {
    const [one, two] = round % 2 === 0 ? [first, second] : [second, first];
    const token = await reserve(one);
    const { status, headers, events, leave } = await open(round % 3 === 0 ? one : two, token);
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await send(two, 'POST', withToken(token), { body: operation('asked') })).status).toBe(202);
    await eventually(() => expect(events.text).toContain('event: complete\ndata: {"id":"asked"}\n\n'));
    const ticks = operation('ticks', 'subscription { ticks }');
    expect((await send(one, 'POST', withToken(token), { body: ticks })).status).toBe(202);
    expect(await codeOf(send(two, 'POST', withToken(token), { body: ticks }))).toBe('409 CONFLICT');
    await eventually(() => expect(events.text).toContain('"ticks":1'));
    expect((await send(two, 'DELETE', withToken(token), { search: '?operationId=ticks' })).status).toBe(200);
    await eventually(() => expect(firstMade.ticks.ended + secondMade.ticks.ended).toBe(round + 1));
    leave();
    await eventually(async () =>
      expect(await codeOf(send(two, 'POST', withToken(token), { body: operation('late') }))).toBe('404 NOT_FOUND'),
    );
  }
});

test('a token of no process, of one that is gone, and with a forged number', async () => {
  const { first, second } = await world();
  const token = await reserve(second);
  await open(second, token);
  const random = token.replace(/^\d+\./, '');
  for (const forged of [
    `3.${random}`,
    `0.${random}`,
    `9999.${random}`,
    `1.${random}`,
    `../1.${random}`,
    random,
    '2.',
    '.',
  ]) {
    expect(await codeOf(send(first, 'POST', withToken(forged), { body: operation('one') })), forged).toBe(
      '404 NOT_FOUND',
    );
    expect(await codeOf(send(first, 'GET', { ...withToken(forged), accept })), forged).toBe('404 NOT_FOUND');
  }
  await second.close();
  expect(await codeOf(send(first, 'POST', withToken(token), { body: operation('one') }))).toBe('404 NOT_FOUND');
  expect(await codeOf(send(first, 'GET', { ...withToken(token), accept }))).toBe('404 NOT_FOUND');
});

test('a token of another caller is unknown at each process', async () => {
  const { first, second } = await world();
  const token = await reserve(first);
  const { events } = await open(second, token);
  for (const server of [first, second]) {
    const other = { ...withToken(token), 'x-name': 'mallory' };
    expect(await codeOf(send(server, 'POST', other, { body: operation('one') }))).toBe('404 NOT_FOUND');
    expect(await codeOf(send(server, 'GET', { ...other, accept }))).toBe('404 NOT_FOUND');
    expect(await codeOf(send(server, 'DELETE', other, { search: '?operationId=one' }))).toBe('404 NOT_FOUND');
  }
  expect(events.text).not.toContain('event: next');
});

test('a stream that is passed ends with its process, and with its client', async () => {
  const { first, second, firstMade } = await world();
  const token = await reserve(first);
  const passed = await open(second, token);
  await send(first, 'POST', withToken(token), { body: operation('one', 'subscription { ticks }') });
  await eventually(() => expect(passed.events.text).toContain('"ticks":1'));
  passed.leave();
  await eventually(() => expect(firstMade.ticks.ended).toBe(1));
  const again = await reserve(first);
  const other = await open(second, again);
  await first.close();
  await eventually(() => expect(other.events.isOver).toBe(true));
});

test('an operation that is too long is refused, and the connection to the client ends', async () => {
  const { first, second } = await world();
  const token = await reserve(first);
  await open(second, token);
  const body = operation('one', `{ greeting } # ${'x'.repeat(2_000_000)}`);
  const { status, headers } = await send(second, 'POST', withToken(token), { body });
  expect(status).toBe(400);
  expect(headers['keep-alive']).toBeUndefined();
});

test('a body of another method is not taken for a request of its own', async () => {
  const { first, second, firstMade } = await world();
  const token = await reserve(first);
  await open(first, token);
  const content = JSON.stringify(operation('one', 'subscription { ticks }'));
  const head = ['POST /graphql HTTP/1.1', 'Host: x', 'X-Name: jane', `X-GraphQL-Event-Stream-Token: ${token}`];
  const type = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`];
  const smuggled = `${[...head, ...type].join('\r\n')}\r\n\r\n${content}`;
  const framings = [{ 'transfer-encoding': 'chunked' }, { 'content-length': `${smuggled.length}` }];
  for (const framing of framings) {
    const { status } = await send(second, 'DELETE', { ...withToken(token), ...framing }, { body: smuggled });
    expect(status).toBe(200);
  }
  // Only the operation of a request that comes later has begun.
  await send(first, 'POST', withToken(token), { body: operation('two', 'subscription { ticks }') });
  await eventually(() => expect(firstMade.ticks.begun).toBe(1));
});

test('a passed request has the address of its client, whose connection has a caller if it is accepted', async () => {
  const folder = temporaryDirectory('siblings');
  const addresses: (string | undefined)[] = [];
  let status = 200;
  const owner = await SiblingStreams.open(
    { folder, number: 1 },
    (request, response) => {
      addresses.push(request.socket.remoteAddress);
      response.writeHead(status).end();
    },
    () => {},
  );
  const known: unknown[] = [];
  const other = await SiblingStreams.open(
    { folder, number: 2 },
    () => {},
    (socket) => known.push(socket),
  );
  const door = createServer((request, response) => void other.pass(1, request, response, request)).listen(0);
  onTestFinished(async () => {
    door.close();
    await Promise.all([owner.close(), other.close()]);
  });
  await once(door, 'listening');
  const port = (door.address() as AddressInfo).port;
  for (status of [200, 401]) {
    await text((await send({ port }, 'GET', { 'x-portolan-client-address': '10.0.0.1' })).response);
  }
  expect(addresses.map((address) => address?.replace('::ffff:', ''))).toEqual(['127.0.0.1', '127.0.0.1']);
  expect(known).toHaveLength(1);
});

test('a client of HTTP/1.0 gets a body that it can read', async () => {
  const { first, second } = await world();
  const token = await reserve(first);
  const socket = connect(second.port, '127.0.0.1');
  socket.write(
    `POST /graphql HTTP/1.0\r\nHost: 127.0.0.1:${second.port}\r\nX-Name: mallory\r\nX-GraphQL-Event-Stream-Token: ${token}\r\n\r\n`,
  );
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(answer.toLowerCase()).not.toContain('transfer-encoding');
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toHaveProperty('errors');
});
