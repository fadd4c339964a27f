/** WebSockets of clients that are not graphql-ws: which subprotocols they offer, where they put a token, what they send by mistake. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { clientMessage, closeReason } from '../../../src/server/websocket/socket-protocol.ts';
import { openRawSocket } from '../../kit/raw-socket.ts';
import { frame } from '../../kit/web-socket-frames.ts';
import { answer, byToken, foreignGateway, query, subscription } from './foreign-gateway.ts';

const gateway = foreignGateway();
const guarded = foreignGateway(byToken);

const init = { type: 'connection_init' };

test.each([
  ['as gql of Python offers them', ['graphql-ws', 'graphql-transport-ws']],
  ['the other way round', ['graphql-transport-ws', 'graphql-ws']],
  ['beside others', ['chat', 'graphql-ws', 'graphql-transport-ws', 'bearer.abc']],
])('graphql-transport-ws is chosen wherever it is offered: %s', async (_how, protocol) => {
  const socket = await openRawSocket(gateway.url, { protocol });
  expect(socket.protocol).toBe('graphql-transport-ws');
  socket.send(init);
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  socket.send({ id: '1', type: 'subscribe', payload: { query } });
  expect(await socket.next()).toMatchObject({ id: '1', type: 'next', payload: { data: answer } });
});

test('a client of the legacy subprotocol gets the reason in its own words, and in the close', async () => {
  const socket = await openRawSocket(gateway.url, { protocol: 'graphql-ws' });
  socket.send({ ...init, payload: {} });
  const reason = 'The client offers graphql-ws; offer the subprotocol graphql-transport-ws.';
  expect(await socket.next()).toEqual({ type: 'connection_error', payload: { message: reason } });
  expect(await socket.closed).toEqual({ code: 4406, reason });
});

test('a client of the legacy subprotocol that sends nothing is closed too', async () => {
  const socket = await openRawSocket(gateway.url, { protocol: 'graphql-ws' });
  expect(await socket.closed).toMatchObject({ code: 4406 });
});

test.each([
  ['no subprotocol', [], 'no subprotocol'],
  ['another one', ['chat'], 'chat'],
  ['a long one', ['x'.repeat(200)], 'xxx'],
])('a client that offers %s is closed with the reason', async (_what, protocol, named) => {
  const socket = await openRawSocket(gateway.url, { protocol });
  const { code, reason } = await socket.closed;
  expect(code).toBe(4406);
  expect(reason).toContain(`The client offers ${named}`);
});

/** What Apollo iOS sends: its Origin is the URL of the WebSocket. */
const upgradeOfApolloIos = (host: string, origin: string): string =>
  [
    'GET /graphql HTTP/1.1',
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: c2l4dGVlbiBieXRlcyBvaw==',
    'Sec-WebSocket-Protocol: graphql-transport-ws',
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits; server_max_window_bits=15',
    `Origin: ${origin}`,
    'apollographql-client-name: com.example.console-apollo-ios',
    'apollographql-client-version: 1.0-1',
    '\r\n',
  ].join('\r\n');

test('the handshake of Apollo iOS, and its first messages', async () => {
  const { port } = gateway;
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  const until = async (part: string): Promise<void> => {
    while (!received.includes(part)) await once(socket, 'data');
  };
  socket.write(upgradeOfApolloIos(`127.0.0.1:${port}`, `ws://127.0.0.1:${port}`));
  await until('\r\n\r\n');
  expect(received).toContain('101 Switching Protocols');
  expect(received).toContain('Sec-WebSocket-Protocol: graphql-transport-ws');
  socket.write(frame('{"payload":{},"type":"connection_init"}'));
  await until('"connection_ack"');
  const subscribe = {
    id: '1',
    payload: {
      extensions: { clientLibrary: { name: 'apollo-ios', version: '1.23.0' } },
      operationName: 'Changes',
      query: `subscription Changes ${subscription.replace('subscription ', '')}`,
      variables: null,
    },
    type: 'subscribe',
  };
  socket.write(frame(JSON.stringify(subscribe)));
  await until('"ticks":1');
  socket.write(frame('{"id":"1","type":"complete"}'));
  // closeConnection() sends the legacy message at the end.
  socket.write(frame('{"type":"connection_terminate"}'));
  await until('Invalid message received');
});

test.each([
  ['no token', {}, {}, 'Send a bearer token.'],
  ['a wrong token', { authorization: 'Bearer wrong' }, {}, 'The bearer token is wrong.'],
  ['a wrong token in the headers', {}, { authorization: 'Bearer wrong' }, 'The bearer token is wrong.'],
  [
    'other credentials',
    { authorization: 'Basic abc' },
    {},
    'The credentials are no bearer token: send "Authorization: Bearer TOKEN", or { authorization: "Bearer TOKEN" } as connect…',
  ],
])('the close names the reason of a refusal: %s', async (_what, payload, headers, reason) => {
  const { url } = guarded;
  const socket = await openRawSocket(url, { headers });
  socket.send({ ...init, payload });
  expect(await socket.closed).toEqual({ code: 4403, reason });
  const request = { method: 'POST', headers: { 'content-type': 'application/json', ...payload, ...headers } };
  const { errors } = (await (await fetch(url, { ...request, body: '{"query":"{__typename}"}' })).json()) as {
    errors: readonly { message: string }[];
  };
  expect(closeReason(errors[0]?.message ?? '')).toBe(reason);
});

test.each<readonly [string, Record<string, unknown>, Record<string, string>]>([
  ['authorization', { authorization: 'Bearer right' }, {}],
  ['Authorization', { Authorization: 'Bearer right' }, {}],
  ['headers', { headers: { Authorization: 'Bearer right' } }, {}],
  ['headers in other cases', { Headers: { AUTHORIZATION: 'bearer right' } }, {}],
  ['authToken', { authToken: 'right' }, {}],
  ['authToken with the scheme', { AuthToken: 'Bearer right' }, {}],
  ['null, and the header of the upgrade', { authorization: null, authToken: null }, { authorization: 'Bearer right' }],
  ['nothing of these, and the header', { headers: null, token: 'wrong' }, { authorization: 'Bearer right' }],
  ['two of them; the first counts', { authToken: 'wrong', authorization: 'Bearer right' }, {}],
])('a token in connection_init: %s', async (_where, payload, headers) => {
  const socket = await openRawSocket(guarded.url, { headers });
  socket.send({ ...init, payload });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
});

test.each<readonly [string, readonly (object | string)[], number]>([
  ['next of a client', [init, { id: '1', type: 'next', payload: { data: null } }], 4400],
  ['error of a client', [init, { id: '1', type: 'error', payload: [{ message: 'no' }] }], 4400],
  ['connection_ack of a client', [{ type: 'connection_ack' }], 4400],
  ['start of the legacy protocol', [init, { id: '1', type: 'start', payload: { query } }], 4400],
  ['no JSON', ['{'], 4400],
  ['null', ['null'], 4400],
  ['a list', ['[]'], 4400],
  ['a payload that is a text', [{ type: 'connection_init', payload: 'x' }], 4400],
  ['subscribe without an id', [init, { type: 'subscribe', payload: { query } }], 4400],
  ['subscribe with a number as its id', [init, { id: 1, type: 'subscribe', payload: { query } }], 4400],
  ['subscribe without a query', [init, { id: '1', type: 'subscribe', payload: {} }], 4400],
  ['extensions that are a text', [init, { id: '1', type: 'subscribe', payload: { extensions: 'x' } }], 4400],
  ['a payload of subscribe that is a text', [init, { id: '1', type: 'subscribe', payload: 'x' }], 4400],
  ['a payload of subscribe that is null', [init, { id: '1', type: 'subscribe', payload: null }], 4400],
  ['a number', ['5'], 4400],
  ['a hash without an id', [init, { type: 'subscribe', payload: { extensions: { persistedQuery: {} } } }], 4400],
  ['subscribe before connection_init', [{ id: '1', type: 'subscribe', payload: { query } }], 4401],
  ['no connection_init', [], 4408],
  [
    'an id that is in use, and too long for a reason',
    [init, ...[1, 2].map(() => ({ id: 'i'.repeat(200), type: 'subscribe', payload: { query: subscription } }))],
    4409,
  ],
  ['a second connection_init', [init, init], 4429],
])('the close code of the protocol: %s', async (_what, messages, code) => {
  const socket = await openRawSocket(gateway.url);
  for (const message of messages) socket.sendText(typeof message === 'string' ? message : JSON.stringify(message));
  expect(await socket.closed).toMatchObject({ code });
  expect(gateway.told()).toEqual([]);
});

test('a message of a server closes the connection also while operations run', async () => {
  const socket = await openRawSocket(gateway.url);
  socket.send(init);
  await socket.next();
  socket.send({ id: '1', type: 'subscribe', payload: { query: subscription } });
  await socket.next();
  socket.send({ id: '1', type: 'next', payload: { data: {} } });
  expect(await socket.closed).toEqual({ code: 4400, reason: 'Only servers send messages of this type' });
});

test('any JSON in a message is read without a failure', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, extensions) => {
      for (const message of [value, { type: 'subscribe', payload: value }, { type: value, payload: { extensions } }]) {
        expect(clientMessage(JSON.stringify(message))).not.toBe('');
      }
    }),
  );
});

test.each([
  ['', ''],
  ['x'.repeat(123), 'x'.repeat(123)],
  ['x'.repeat(124), `${'x'.repeat(120)}…`],
  ['ü'.repeat(62), `${'ü'.repeat(60)}…`],
  ['🌍'.repeat(31), `${'🌍'.repeat(30)}…`],
])('a reason of a close has at most 123 bytes, cut between characters: %#', (text, reason) => {
  expect(closeReason(text)).toBe(reason);
});
