/** Floods of connections that never say who they are: they end their own connections, and no others. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { PortolanError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { mostCallerless, mostCallerlessBytes } from '../../src/server/connections/callerless-connections.ts';
import { type RunningServer, startServer } from '../../src/server/http-server.ts';
import { eventually } from '../kit/eventually.ts';
import { handMadeSource } from '../kit/hand-made-source.ts';
import { frame, upgrade } from '../kit/web-socket-frames.ts';

async function gateway(): Promise<RunningServer> {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: handMadeSource().source,
    authenticate: async ({ header, connectionParams }) => {
      if ((header('authorization') ?? connectionParams?.['authorization']) === 'Bearer alice') {
        return { user: { user: 'alice', uid: '', groups: [], extra: {} }, validUntil: null } as never;
      }
      throw new PortolanError('UNAUTHENTICATED', 'Say who you are.');
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  return server;
}

async function open({ port }: RunningServer): Promise<Socket & { isOver: boolean }> {
  const socket = Object.assign(connect(port, '127.0.0.1'), { isOver: false });
  socket.on('error', () => {});
  socket.on('close', () => {
    socket.isOver = true;
  });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const query = (more = ''): string =>
  `GET /graphql?query=%7Bgreeting%7D HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n${more}\r\n`;
const asAlice = query('Authorization: Bearer alice\r\n');

async function answerTo(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString().split('\r\n', 1)[0] ?? '';
}

test('a flood of connections without a caller ends those that have waited longest', async () => {
  const server = await gateway();
  const alice = await open(server);
  expect(await answerTo(alice, asAlice)).toBe('HTTP/1.1 200 OK');
  const refused = await open(server);
  expect(await answerTo(refused, query('Authorization: Bearer mallory\r\n'))).toBe('HTTP/1.1 401 Unauthorized');
  const silent: (Socket & { isOver: boolean })[] = [];
  for (let count = 0; count < mostCallerless + 50; count += 1) silent.push(await open(server));
  await eventually(async () => expect(silent.filter(({ isOver }) => isOver)).toHaveLength(50));
  expect(silent.slice(0, 50).every(({ isOver }) => isOver)).toBe(true);
  expect([refused.isOver, alice.isOver]).toEqual([true, false]);
  expect(await answerTo(alice, asAlice)).toBe('HTTP/1.1 200 OK');
  expect(await answerTo(await open(server), asAlice)).toBe('HTTP/1.1 200 OK');
});

/** A WebSocket after its upgrade. */
async function webSocket(server: RunningServer): Promise<Socket & { isOver: boolean }> {
  const socket = await open(server);
  expect(await upgrade(socket)).toBe('HTTP/1.1 101 Switching Protocols');
  return socket;
}

test.each<[string, Buffer]>([
  ['in one message', frame('x'.repeat(mostCallerlessBytes + 1))],
  ['in pieces of a message that never ends', frame('x'.repeat(mostCallerlessBytes + 1), false)],
])('a WebSocket that sends too much before its caller is known is ended: %s', async (_how, bytes) => {
  const socket = await webSocket(await gateway());
  socket.write(bytes);
  await eventually(async () => expect(socket.isOver).toBe(true));
});

test('a WebSocket with a caller may send larger messages', async () => {
  const socket = await webSocket(await gateway());
  socket.write(frame(JSON.stringify({ type: 'connection_init', payload: { authorization: 'Bearer alice' } })));
  const [acknowledged] = (await once(socket, 'data')) as [Buffer];
  expect(acknowledged.toString()).toContain('connection_ack');
  const text = `{ greeting } # ${'x'.repeat(mostCallerlessBytes)}`;
  socket.write(frame(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: text } })));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toContain('"id":"1"');
  expect(socket.isOver).toBe(false);
});
