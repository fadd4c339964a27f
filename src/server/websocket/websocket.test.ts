import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { type HandMade, handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { openAcknowledged, openRawSocket, type RawSocket } from '../../../test/kit/raw-socket.ts';
import { type RunningServer, startServer } from '../http-server.ts';

let made: HandMade;
let server: RunningServer;

beforeEach(async () => {
  made = handMadeSource();
  server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: made.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: made.log,
  });
});

afterEach(() => server.close());

const subscribe = (socket: RawSocket, query: string, more: object = {}, id = '1') =>
  socket.send({ id, type: 'subscribe', payload: { query, ...more } });

async function take(socket: RawSocket, count: number) {
  const messages = [];
  for (let index = 0; index < count; index += 1) messages.push(await socket.next());
  return messages;
}

describe('operations', () => {
  test('a query is answered once, with extensions, and completed', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, '{ greeting revision }');
    expect(await take(socket, 2)).toEqual([
      {
        id: '1',
        type: 'next',
        payload: {
          data: { greeting: 'hello', revision: 7 },
          extensions: { portolan: { generation: 'first', cost: expect.anything(), revision: 7 } },
        },
      },
      { id: '1', type: 'complete' },
    ]);
    expect(made.leases).toEqual({ opened: 1, ended: 1 });
  });

  test('a subscription runs to its end', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'subscription ($n: Int) { ticks(most: $n) }', { variables: { n: 2 } });
    expect(await take(socket, 3)).toMatchObject([
      { type: 'next', payload: { data: { ticks: 1 } } },
      { type: 'next', payload: { data: { ticks: 2 } } },
      { type: 'complete' },
    ]);
    expect(made.ticks).toEqual({ begun: 1, ended: 1 });
  });

  test('complete from the client ends the subscription at its source', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'subscription { ticks }');
    await socket.next();
    socket.send({ id: '1', type: 'complete' });
    await eventually(() => expect(made.ticks).toEqual({ begun: 1, ended: 1 }));
  });

  test('a connection that is lost ends all its subscriptions at their source', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'subscription { ticks }', {}, 'a');
    subscribe(socket, 'subscription { ticks }', {}, 'b');
    await eventually(() => expect(made.ticks.begun).toBe(2));
    socket.terminate();
    await eventually(() => expect(made.ticks).toEqual({ begun: 2, ended: 2 }));
  });

  test('a connection that is lost cuts the reads of its queries', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, '{ held }');
    await eventually(() => expect(made.leases.opened).toBe(1));
    expect(made.signals[0]?.aborted).toBe(false);
    socket.terminate();
    await eventually(() => expect(made.signals[0]?.aborted).toBe(true));
    made.release();
    await eventually(() => expect(made.leases).toEqual({ opened: 1, ended: 1 }));
  });

  test('each operation runs on the generation that is current when it begins', async () => {
    const socket = await openAcknowledged(server.url);
    made.swap('renamed');
    subscribe(socket, '{ renamed }');
    expect(await socket.next()).toMatchObject({
      payload: {
        data: { renamed: 'hello' },
        extensions: { portolan: { generation: 'renamed', cost: expect.anything() } },
      },
    });
  });
});

describe('errors end the operation and leave the socket open', () => {
  test.each([
    ['a syntax error', '{ greeting', {}, 'GRAPHQL_PARSE_FAILED'],
    ['a validation error', '{ nothingOfThatName }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a subscription that is refused', 'subscription { refused }', {}, 'FORBIDDEN'],
    ['a document too costly', `{ ${'['.repeat(300)}`, {}, 'QUERY_TOO_COSTLY'],
  ])('%s', async (_what, query, more, code) => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, query, more);
    const message = await socket.next();
    const errors = (message.type === 'error' ? message.payload : (message.payload as { errors: unknown }).errors) as {
      extensions: object;
    }[];
    expect(errors[0]?.extensions).toMatchObject({ code });
    expect(errors[0]?.extensions).not.toHaveProperty('http');
    if (message.type === 'next') await socket.next();
    subscribe(socket, '{ greeting }', {}, '2');
    expect(await socket.next()).toMatchObject({ id: '2', payload: { data: { greeting: 'hello' } } });
    expect(made.logged).toEqual([]);
  });

  test.each([
    ['query', 'query ($n: Int!) { echo(number: $n) }'],
    ['subscription', 'subscription ($n: Int!) { ticks(most: $n) }'],
  ])('a variable of a %s that does not fit is BAD_USER_INPUT', async (_what, query) => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, query, { variables: { n: 'many' } });
    expect(await socket.next()).toMatchObject({
      type: 'next',
      payload: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
    expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
    expect(made.logged).toEqual([]);
  });

  test('an operation name that the document does not have', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'query A { greeting }', { operationName: 'B' });
    expect(await socket.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }],
    });
  });

  test('a defect is masked and logged', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, '{ defect }');
    const message = await socket.next();
    expect(message).toMatchObject({ payload: { errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] } });
    expect(JSON.stringify(message)).not.toContain('secret');
    expect(made.logged).toHaveLength(1);
  });

  test('a subscription that fails between two messages says so in a last one', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'subscription { tears(code: "SCHEMA_RELOAD") }');
    expect(await take(socket, 3)).toMatchObject([
      { type: 'next', payload: { data: { tears: 1 } } },
      { type: 'next', payload: { errors: [{ extensions: { code: 'SCHEMA_RELOAD' } }] } },
      { type: 'complete' },
    ]);
    expect(made.logged).toEqual([]);
  });

  test('and when that is a defect, its message stays in the house', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'subscription { tears }');
    const messages = await take(socket, 3);
    expect(messages).toMatchObject([
      { type: 'next' },
      { type: 'next', payload: { errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] } },
      { type: 'complete' },
    ]);
    expect(JSON.stringify(messages)).not.toContain('secret');
    expect(made.logged).toHaveLength(1);
  });

  test('before there is a schema the answer is CACHE_NOT_READY', async () => {
    made.forget();
    const socket = await openAcknowledged(server.url);
    subscribe(socket, '{ greeting }');
    expect(await socket.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'CACHE_NOT_READY' } }],
    });
  });
});

describe('close codes of the protocol', () => {
  test('4400: a message that is none', async () => {
    const socket = await openAcknowledged(server.url);
    socket.sendText('{"type":"nonsense"}');
    expect(await socket.closed).toMatchObject({ code: 4400 });
  });

  test('4401: subscribe before the acknowledgement', async () => {
    const socket = await openRawSocket(server.url);
    subscribe(socket, '{ greeting }');
    expect(await socket.closed).toMatchObject({ code: 4401 });
  });

  test('4406: no protocol that both know', async () => {
    const socket = await openRawSocket(server.url, { protocol: [] });
    expect(await socket.closed).toMatchObject({ code: 4406 });
  });

  test('4409: an id that is in use', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, 'subscription { ticks }');
    await socket.next();
    subscribe(socket, 'subscription { ticks }');
    expect(await socket.closed).toMatchObject({ code: 4409 });
    await eventually(() => expect(made.ticks.ended).toBe(made.ticks.begun));
  });

  test('4429: a second init', async () => {
    const socket = await openAcknowledged(server.url);
    socket.send({ type: 'connection_init' });
    expect(await socket.closed).toMatchObject({ code: 4429 });
  });

  test('1009: a message that is too large', async () => {
    const socket = await openAcknowledged(server.url);
    subscribe(socket, `{ greeting } # ${'x'.repeat(1024 * 1024)}`);
    expect(await socket.closed).toMatchObject({ code: 1009 });
  });
});
