/** The attacks of hostile callers on a gateway. Each goes on until its time is over, and leaves nothing behind. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface Target {
  readonly port: number;
  /** The tokens of two callers. */
  readonly tokens: readonly [string, string];
  readonly seconds: number;
}

/** Returns the number of requests, connections or messages. */
type Attack = (target: Target) => Promise<number>;

const connections = 8;
const host = '127.0.0.1';

/** Sends requests over some connections, each as soon as the last one is answered. Answers are read and dropped. */
async function flood(
  { port, seconds }: Target,
  headers: Readonly<Record<string, string>>,
  made: (index: number) => { readonly path?: string; readonly body?: string },
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      const { path = '/graphql', body } = made(count);
      count += 1;
      await new Promise<void>((resolve) => {
        const method = body === undefined ? 'GET' : 'POST';
        const stop = AbortSignal.timeout(Math.ceil(Math.max(1, until - performance.now())));
        const sent = request({ host, port, path, method, agent, headers, signal: stop }, (response) => {
          response.resume().once('close', resolve);
        });
        sent.once('error', () => resolve());
        sent.end(body);
      });
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  agent.destroy();
  return count;
}

function asking(token: string, accept = 'application/json'): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
}

const queries =
  (query: (index: number) => string, accept?: string): Attack =>
  (target) =>
    flood(target, asking(target.tokens[0], accept), (index) => ({ body: JSON.stringify({ query: query(index) }) }));

/** Opens sockets that send something and read nothing, and holds them. One that is ended is opened again. */
async function hold({ port, seconds }: Target, count: number, text: (index: number) => string): Promise<number> {
  const until = performance.now() + seconds * 1000;
  const sockets = new Set<Socket>();
  let opened = 0;
  while (performance.now() < until) {
    for (let step = 0; sockets.size < count && step < 50; step += 1) {
      const socket = connect(port, host).pause();
      const index = opened;
      opened += 1;
      sockets.add(socket);
      socket.once('connect', () => void socket.write(text(index)));
      socket.once('error', () => sockets.delete(socket)).once('close', () => sockets.delete(socket));
    }
    await sleep(20);
  }
  for (const socket of sockets) socket.destroy();
  return opened;
}

function post(token: string, query: string, accept = 'application/json'): string {
  const body = JSON.stringify({ query });
  const headers = Object.entries({ host, ...asking(token, accept), 'content-length': Buffer.byteLength(body) });
  return `POST /graphql HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`;
}

/** A WebSocket whose caller is accepted; null if the gateway refuses it. */
async function socketOf(port: number, token: string): Promise<WebSocket | null> {
  const socket = new WebSocket(`ws://${host}:${port}/graphql`, 'graphql-transport-ws');
  socket.on('error', () => {});
  try {
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
    await once(socket, 'message');
    return socket;
  } catch {
    return null;
  }
}

const large = '{ pods(first: 500) { nodes { raw } } }';
const subscribe = (id: number, query: string): string =>
  JSON.stringify({ type: 'subscribe', id: String(id), payload: { query } });
const many = (count: number, made: (index: number) => string): string =>
  Array.from({ length: count }, (_, at) => made(at)).join(' ');

export const attacks: Readonly<Record<string, Attack>> = {
  'pages of the playground': (target) =>
    flood(target, { accept: 'text/html' }, (index) =>
      index % 2 === 0 ? {} : { path: '/graphql?playground=editor.js' },
    ),
  'pages that are not read': (target) =>
    hold(target, 100, () => `GET /graphql?playground=editor.js HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
  'answers that are not read': (target) => hold(target, 180, () => post(target.tokens[0], large)),
  'event streams that are not read': (target) =>
    hold(target, 180, () => post(target.tokens[0], large.replace('{', 'query @live {'), 'text/event-stream')),
  async 'WebSockets that are not read'({ port, tokens, seconds }) {
    const opened = await Promise.all(Array.from({ length: 20 }, () => socketOf(port, tokens[0])));
    for (const socket of opened) {
      socket?.pause();
      for (let id = 0; id < 20; id += 1) socket?.send(subscribe(id, large));
    }
    await sleep(seconds * 1000);
    for (const socket of opened) socket?.terminate();
    return opened.length * 20;
  },
  async 'subscriptions that are not read'({ port, tokens, seconds }) {
    const opened = await Promise.all(Array.from({ length: 10 }, (_, at) => socketOf(port, tokens[at % 2] ?? '')));
    for (const [at, socket] of opened.entries()) {
      socket?.pause();
      for (let id = 0; id < 150; id += 1) {
        const name = `a-${at}-${id}`;
        socket?.send(
          subscribe(
            id,
            `subscription { podChanges(filter: { metadata: { name: { gt: "${name}" } } }) { cursor changes { object { raw } } } }`,
          ),
        );
      }
    }
    await sleep(seconds * 1000);
    for (const socket of opened) socket?.terminate();
    return 1500;
  },
  'fields of one name': queries((at) => `{ ${many(1100, () => 'pods(first: 1) { totalCount }')} } # ${at}`),
  fragments: queries(
    (at) => `{ ${many(200, (index) => `...F${index}`)} } # ${at}
      ${many(200, (index) => `fragment F${index} on Query { pods(first: 1) { totalCount } ...F${(index + 1) % 200} }`)}`,
  ),
  'documents that are not valid': queries((at) => `{ ${many(400, (index) => `pod${at}x${index}`)} }`),
  async 'messages at once'({ port, tokens, seconds }) {
    const until = performance.now() + seconds * 1000;
    let sent = 0;
    while (performance.now() < until) {
      const socket = await socketOf(port, tokens[0]);
      for (let id = 0; id < 5000; id += 1) socket?.send(subscribe(id, '{ pods(first: 1) { totalCount } }'));
      sent += 5000;
      await sleep(500);
      socket?.terminate();
    }
    return sent;
  },
  'introspection with a field': queries(
    () => '{ clusters { name } __schema { types { name fields { name type { name ofType { name } } } } } }',
  ),
  'introspection as a stream': queries(
    () => '{ __schema { types { name fields { name type { name ofType { name } } } } } }',
    'text/event-stream',
  ),
  'a hundred types': queries(
    (at) => `{ ${many(100, (index) => `t${at}x${index}: __type(name: "Pod") { fields { name type { name } } }`)} }`,
  ),
  'names for reviews': queries(
    (at) => `{ ${many(190, (index) => `p${index}: pod(namespace: "default", name: "n${at}-${index}") { id }`)} }`,
  ),
  'connections without a caller': (target) => hold(target, 1500, () => `GET /graphql HTTP/1.1\r\nhost: ${host}\r\n`),
  async 'WebSockets without a caller'(target) {
    const lines = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
    const keys = ['sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-protocol: graphql-transport-ws'];
    const head = `GET /graphql HTTP/1.1\r\nhost: ${host}\r\n${[...lines, ...keys].join('\r\n')}\r\n\r\n`;
    // The head of a frame of one megabyte, and most of it.
    return await hold(target, 1000, () => `${head}\x81\xff\0\0\0\0\0\x10\0\0\0\0\0\0${'x'.repeat(200_000)}`);
  },
  'paths through long lists': queries(
    (at) =>
      `{ twoPortolanExampleGadgets(filter: { path: [{ path: "spec.any.list[]", eq: "nothing ${at}" }] }) { totalCount } }`,
  ),
  async 'subscriptions at once'({ port, tokens, seconds }) {
    const until = performance.now() + seconds * 1000;
    let begun = 0;
    while (performance.now() < until) {
      const opened = await Promise.all(Array.from({ length: 10 }, (_, at) => socketOf(port, tokens[at % 2] ?? '')));
      for (const [at, socket] of opened.entries()) {
        for (let id = 0; id < 150; id += 1) {
          const name = `pod-${at}-${id}`;
          socket?.send(
            subscribe(id, `subscription { podChanges(filter: { metadata: { name: { gt: "${name}" } } }) { cursor } }`),
          );
        }
      }
      begun += 1500;
      await sleep(3000);
      for (const socket of opened) socket?.terminate();
      await sleep(200);
    }
    return begun;
  },
};
