import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { JointWrites, SocketEvents } from './socket-events.ts';

/** A client, and the server's side of its connection with the number of its writes. */
async function connected() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[WebSocket, { socket: import('node:net').Socket }]>;
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => client.terminate());
  const received: string[] = [];
  client.on('message', (data: Buffer) => received.push(data.toString('utf8')));
  const [[socket, { socket: connection }]] = await Promise.all([accepted, once(client, 'open')]);
  let writes = 0;
  const writev = connection._writev?.bind(connection);
  connection._writev = (chunks, done) => {
    writes += 1;
    writev?.(chunks, done);
  };
  const joint = new JointWrites(connection);
  return {
    socket,
    received,
    writes: () => writes,
    events: (id: string) => new SocketEvents(socket, joint, id),
    arrived: (count: number) => expect.poll(() => received.length).toBe(count),
  };
}

test('messages of one turn leave in one write, in their order', async () => {
  const { events, received, writes, arrived } = await connected();
  const outlets = Array.from({ length: 50 }, (_, index) => events(`${index}`));
  for (const [index, outlet] of outlets.entries()) expect(outlet.push({ data: { index } })).toBe(true);
  expect(writes()).toBe(0);
  await arrived(50);
  expect(writes()).toBe(1);
  expect(received.map((text) => JSON.parse(text))).toEqual(
    outlets.map((_, index) => ({ id: `${index}`, type: 'next', payload: { data: { index } } })),
  );
});

test('a long result arrives whole, and nothing comes between its fragments', async () => {
  const { events, received, arrived } = await connected();
  const long = { data: { text: 'ä'.repeat(100_000) } };
  const [first, second] = [events('a"b'), events('2')];
  expect(first.push(long)).toBe(true);
  // The connection has more bytes than may wait, so they are written at once.
  second.push({ data: 1 });
  await arrived(2);
  expect(received.map((text) => JSON.parse(text))).toEqual([
    { id: 'a"b', type: 'next', payload: long },
    { id: '2', type: 'next', payload: { data: 1 } },
  ]);
});

test('a closed connection takes nothing', async () => {
  const { socket, events } = await connected();
  const outlet = events('1');
  socket.terminate();
  await once(socket, 'close');
  expect(outlet.push({ data: 1 })).toBe(false);
});
