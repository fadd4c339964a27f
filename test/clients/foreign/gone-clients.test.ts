/** A client that goes away before its answer is no error of the gateway: the log has nothing above the level debug. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../../src/server/http-server.ts';
import { eventually } from '../../kit/eventually.ts';
import { handMadeSource } from '../../kit/hand-made-source.ts';
import { openAcknowledged } from '../../kit/raw-socket.ts';
import { recordedLogger } from '../../kit/recorded-logger.ts';

async function world() {
  const made = handMadeSource();
  const { logger, entries } = recordedLogger();
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: made.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: logger,
  });
  onTestFinished(() => server.close());
  return { made, server, told: () => entries.filter(({ level }) => level !== 'debug') };
}

const body = JSON.stringify({ query: '{ held }' });

test.each([
  ['while its query runs', body.length],
  ['before its whole body was sent', body.length + 10],
])('over HTTP, %s', async (when, length) => {
  const { made, server, told } = await world();
  const request = httpRequest(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': length },
  });
  request.on('error', () => {});
  request.write(body);
  if (when.startsWith('while')) await eventually(() => expect(made.leases.opened).toBe(1));
  else await new Promise((resolve) => setTimeout(resolve, 50));
  request.destroy();
  if (when.startsWith('while')) await eventually(() => expect(made.signals[0]?.aborted).toBe(true));
  made.release();
  await eventually(() => expect(made.leases.ended).toBe(made.leases.opened));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(told()).toEqual([]);
});

test('over HTTP, by a reset of the connection', async () => {
  const { made, server, told } = await world();
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const head = `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.write(`${head}\r\n\r\n${body}`);
  await eventually(() => expect(made.leases.opened).toBe(1));
  socket.resetAndDestroy();
  await eventually(() => expect(made.signals[0]?.aborted).toBe(true));
  made.release();
  await eventually(() => expect(made.leases.ended).toBe(1));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(told()).toEqual([]);
});

test('over HTTP, during a stream of events', async () => {
  const { made, server, told } = await world();
  const gone = new AbortController();
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { ticks }' }),
    signal: gone.signal,
  });
  await response.body?.getReader().read();
  gone.abort();
  await eventually(() => expect(made.ticks.ended).toBe(1));
  expect(told()).toEqual([]);
});

test.each(['{ held }', 'subscription { ticks }'])('over WebSocket, during %s', async (query) => {
  const { made, server, told } = await world();
  const socket = await openAcknowledged(server.url);
  for (const id of ['a', 'b', 'c']) socket.send({ id, type: 'subscribe', payload: { query } });
  if (query === '{ held }') await eventually(() => expect(made.leases.opened).toBe(3));
  else await socket.next();
  socket.terminate();
  made.release();
  await eventually(() => expect(made.leases.ended).toBe(made.leases.opened));
  await eventually(() => expect(made.ticks.ended).toBe(made.ticks.begun));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(told()).toEqual([]);
});

test('over WebSocket, while its own message is answered', async () => {
  const { server, told } = await world();
  for (let time = 0; time < 20; time += 1) {
    const socket = await openAcknowledged(server.url);
    for (let ping = 0; ping < 50; ping += 1) socket.send({ type: 'ping' });
    socket.terminate();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(told()).toEqual([]);
});
