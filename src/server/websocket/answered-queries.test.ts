/** Queries over WebSocket that need no executor. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { type AnswerPair, answerPair, type PairOptions } from '../../../test/kit/answer-pair.ts';
import { made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { recordedLogger } from '../../../test/kit/recorded-logger.ts';
import { serveFixture } from '../../../test/kit/served-fixture.ts';
import { userOf } from '../../../test/kit/user.ts';
import { localUser } from '../../access/caller.ts';
import type { RunningServer } from '../http-server.ts';

const named =
  'query Named($first: Int, $name: String) { exampleComWidgets(first: $first, filter: { metadata: { name: { ne: $name } } }) { nodes { id metadata { name } } } }';

async function world(options: PairOptions = {}): Promise<AnswerPair> {
  const pair = await answerPair(options);
  await pair.fixture.declare(widget());
  await pair.fixture.sync(
    widgets,
    ['a', 'b', 'c'].map((name) => made({ name })),
  );
  return pair;
}

interface Client {
  readonly messages: string[];
  send(message: object | string): void;
  /** Ends the connection. */
  end(): void;
  /** The messages of an operation, when it is over. */
  whole(id: string, payload: object): Promise<readonly string[]>;
}

async function connected({ url }: RunningServer): Promise<Client> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const messages: string[] = [];
  socket.on('message', (data) => void messages.push(String(data)));
  const send = (message: object | string): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  send({ type: 'connection_init' });
  await eventually(() => expect(messages).toHaveLength(1));
  return {
    messages,
    send,
    end: () => socket.terminate(),
    async whole(id, payload) {
      const from = messages.length;
      send({ id, type: 'subscribe', payload });
      return eventually(() => {
        const mine = messages.slice(from).filter((message) => message.includes(`"id":"${id}"`));
        expect(mine.at(-1)).toMatch(/"type":"(complete|error)"/);
        return mine;
      });
    },
  };
}

test.each([
  ['of a list', { query: named, variables: { first: 3, name: 'x' } }],
  ['with variables', { query: named, variables: { first: 2, name: 'b' } }],
  ['with a number beyond 2^53 in a variable', { query: named, variables: { first: 2, name: '9007199254740993' } }],
  [
    'of a chosen operation',
    { query: `${named} query O { __typename }`, operationName: 'Named', variables: { name: 'x' } },
  ],
  ['of an operation that is not there', { query: named, operationName: 'Missing' }],
  ['with extensions', { query: named, variables: { name: 'x' }, extensions: { traceparent: '00-1-1-00' } }],
  ['with a variable that does not fit', { query: named, variables: { first: 'two' } }],
  ['that is not valid', { query: '{ exampleComWidgets { none } }' }],
  ['that only the executor answers', { query: '{ exampleComWidgets { aggregate { count } } }' }],
])('a query %s has the messages of the executor, each time', async (_what, payload) => {
  const { fixture, server, pages } = await world();
  const plain = await serveFixture({ engine: fixture.engine });
  const [mine, executors] = await Promise.all([connected(server), connected(plain)]);
  for (let time = 0; time < 3; time += 1) {
    expect(await mine.whole('1', payload)).toEqual(await executors.whole('1', payload));
  }
  const isPlanned = payload.query.startsWith('query Named') && !/two|Missing/.test(JSON.stringify(payload));
  expect(pages.given + pages.atOnce > 0).toBe(isPlanned);
});

test('a live query stays live, although its answer was asked for before', async () => {
  const { fixture, server } = await world({ engine: { answerCacheBytes: 1_000_000 } });
  const query = `query Live @live(throttle: 0) { exampleComWidgets { nodes { metadata { name } } } }`;
  for (let time = 0; time < 3; time += 1) {
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect((await answer.json()).data.exampleComWidgets.nodes).toHaveLength(3);
  }
  const { messages, send } = await connected(server);
  send({ id: '1', type: 'subscribe', payload: { query } });
  await eventually(() => expect(messages).toHaveLength(2));
  await fixture.sync(
    widgets,
    ['a', 'b'].map((name) => made({ name })),
  );
  await eventually(() => expect(messages.at(-1)).not.toContain('"name":"c"'));
  expect(messages.every((message) => !message.includes('"complete"'))).toBe(true);
});

test('a query that its client ends before its answer is not in flight any more', async () => {
  const { fixture } = await world();
  const held = Promise.withResolvers<void>();
  const pages = {
    pagesNow: () => null,
    async pages(...given: Parameters<typeof fixture.pages.pages>) {
      await held.promise;
      return fixture.pages.pages(...given);
    },
  };
  const server = await serveFixture(fixture, {
    pages,
    authenticate: () => ({ ...localUser, name: 'dev', user: userOf('dev') }),
    callerBounds: { requests: 2, costPerMinute: 1e9, subscriptions: 1, connections: 1, logs: 1, logBytes: 1e9 },
  });
  const { send, whole } = await connected(server);
  const payload = { query: named, variables: { name: 'x' } };
  for (const id of ['1', '2']) {
    send({ id, type: 'subscribe', payload });
    send({ id, type: 'complete' });
  }
  const refused = await whole('3', payload);
  expect(refused.join()).toContain('TOO_MANY_REQUESTS');
  held.resolve();
  await eventually(async () => expect((await whole('4', payload)).join()).not.toContain('TOO_MANY_REQUESTS'));
});

test('the text of a message is no body of HTTP that says something else', async () => {
  const { server } = await world();
  const { whole } = await connected(server);
  const plain = '{ exampleComWidgets { nodes { id } } }';
  expect((await whole('1', { query: plain })).join()).toContain('"next"');
  const post = async (body: unknown): Promise<number> =>
    (
      await fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status;
  expect(await post([plain, null, null])).toBe(400);
  expect(await post({ query: plain })).toBe(200);
});

test('a number without end is refused, also after null was answered', async () => {
  const { server } = await world({ engine: { answerCacheBytes: 1_000_000 } });
  const { send, messages, whole } = await connected(server);
  for (let time = 0; time < 4; time += 1) await whole('1', { query: named, variables: { first: null, name: 'x' } });
  const text = `{"query":${JSON.stringify(named)},"variables":{"first":1e400,"name":"x"}}`;
  send(`{"id":"2","type":"subscribe","payload":${text}}`);
  await eventually(() => expect(messages.join()).toContain('cannot represent non-integer value'));
  const posted = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  expect(await posted.text()).toContain('cannot represent non-integer value');
});

test('a client that leaves before its answer is no defect', async () => {
  const { entries, logger } = recordedLogger();
  const { fixture } = await world();
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const pages = {
    pagesNow: () => null,
    pages: (...[, , options]: Parameters<typeof fixture.pages.pages>) => {
      asked.resolve(options?.signal);
      return new Promise<never>((_, reject) =>
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
      );
    },
  };
  const server = await serveFixture(fixture, { pages, log: logger });
  const { send, end } = await connected(server);
  send({ id: '1', type: 'subscribe', payload: { query: named, variables: { name: 'x' } } });
  const signal = await asked.promise;
  end();
  await eventually(() => expect(signal?.aborted).toBe(true));
  await server.close();
  expect(entries.filter(({ level }) => level === 'error')).toEqual([]);
});
