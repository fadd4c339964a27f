/**
 * Documents that are made to cost: refused before validation, and charged to their caller, at every door. Others are not affected.
 */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { localUser } from '../../src/access/caller.ts';
import { silentLogger } from '../../src/base/log.ts';
import { startServer } from '../../src/server/http-server.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { widget } from '../kit/graphql-world.ts';
import { userOf } from '../kit/user.ts';

// A character of an unknown document costs 10 values.
const bounds = { requests: 10, costPerMinute: 300_000, subscriptions: 5, connections: 5, logs: 200, logBytes: 1e9 };

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

async function server() {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const running = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    pages: fixture.pages,
    authenticate: ({ header }) => ({ ...localUser, user: userOf(header('x-user') ?? 'mallory') }),
    callerBounds: bounds,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => running.close());
  return running;
}

type Ask = (url: string, query: string, user?: string) => Promise<Answer>;

const accepts = 'application/graphql-response+json';

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const json = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
  const { errors = [] } = JSON.parse(json) as { errors?: { message: string; extensions: { code: string } }[] };
  return { status: response.status, code: errors[0]?.extensions.code ?? 'OK', message: errors[0]?.message ?? '' };
}

const post =
  (accept: string): Ask =>
  async (url, query, user = 'mallory') =>
    answerOf(
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, 'x-user': user },
        body: JSON.stringify({ query }),
      }),
    );

const doors: Readonly<Record<string, Ask>> = {
  POST: post(accepts),
  GET: async (url, query, user = 'mallory') =>
    answerOf(await fetch(`${url}?${new URLSearchParams({ query })}`, { headers: { accept: accepts, 'x-user': user } })),
  'event stream': post('text/event-stream'),
  WebSocket: async (url, query, user = 'mallory') => {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers: { 'x-user': user } });
    await once(socket, 'open');
    const said: { type: string; payload: { message: string; extensions: { code: string } }[] }[] = [];
    socket.on('message', (text: Buffer) => said.push(JSON.parse(text.toString('utf8'))));
    socket.send(JSON.stringify({ type: 'connection_init' }));
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
    await expect.poll(() => said.length).toBeGreaterThan(1);
    socket.close();
    const { type, payload } = said[1] ?? { type: '', payload: [] };
    const [error] = type === 'error' ? payload : [];
    return { status: 0, code: error?.extensions.code ?? 'OK', message: error?.message ?? '' };
  },
};

test.each(Object.entries(doors))('%s: one field a thousand times is refused before validation', async (_door, ask) => {
  const { url } = await server();
  const { code, message } = await ask(url, '{ __typename '.concat('__typename '.repeat(1100), '}'));
  expect([code, message]).toEqual(['QUERY_TOO_COSTLY', expect.stringContaining('100000 comparisons')]);
});

test.each(
  Object.entries(doors).flatMap(([door, ask]) =>
    (
      [
        ['unparsable', (at: number) => `{ a(x: "${'y'.repeat(2000)}${at}") `],
        ['invalid', (at: number) => `{ nothing${at} # ${'y'.repeat(2000)}\n}`],
        ['over a limit', (at: number) => `{ a${at} ${'b '.repeat(1000)} }`],
        ['valid, but never the same', (at: number) => `{ a${at}: __typename # ${'y'.repeat(2000)}\n}`],
      ] as const
    ).map(([kind, make]) => [door, kind, ask, make] as const),
  ),
)('%s: documents that are %s are charged to their caller', async (_door, _kind, ask, make) => {
  const { url } = await server();
  const codes: string[] = [];
  for (let at = 0; at < 20 && codes.at(-1) !== 'TOO_MANY_REQUESTS'; at += 1)
    codes.push((await ask(url, make(at))).code);
  // 300,000 values are 30,000 characters.
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.at(-1)).toBe('TOO_MANY_REQUESTS');
  expect((await ask(url, '{ a: __typename }', 'alice')).code).toBe('OK');
});

test('a valid document that is sent again costs what it asks, and no more', async () => {
  const { url } = await server();
  const query = `{ __typename # ${'y'.repeat(5000)}\n}`;
  for (let at = 0; at < 20; at += 1) expect((await post(accepts)(url, query)).code).toBe('OK');
});

test('a caller over the limit gets 429 where the media type defines statuses', async () => {
  const { url } = await server();
  const ask = post(accepts);
  await ask(url, `{ a # ${'y'.repeat(25_000)}\n}`);
  expect(await ask(url, `{ b # ${'y'.repeat(25_000)}\n}`)).toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS' });
});

test('the messages of one WebSocket that come at once are handled in many turns of the event loop', async () => {
  const { url } = await server();
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  let answers = 0;
  socket.on('message', () => {
    answers += 1;
  });
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (answers < 1000) setImmediate(count);
  };
  const query = '{ unknown }';
  socket.pause();
  for (let id = 0; id < 1000; id += 1) {
    socket.send(JSON.stringify({ type: 'subscribe', id: String(id), payload: { query } }));
  }
  socket.resume();
  count();
  await expect.poll(() => answers, { timeout: 20_000 }).toBeGreaterThanOrEqual(1000);
  expect(turns).toBeGreaterThan(900);
});
