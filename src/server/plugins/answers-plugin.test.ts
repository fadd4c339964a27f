import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type AnswerPair, type Asking, answerPair } from '../../../test/kit/answer-pair.ts';
import { made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { gadget, widget, widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';
import { serveFixture } from '../../../test/kit/served-fixture.ts';
import { localUser } from '../../access/caller.ts';
import { systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import { createMetrics } from '../health/metrics.ts';
import type { RunningServer } from '../http-server.ts';

const query =
  '{ exampleComWidgets(first: 2) { pageInfo { hasNextPage endCursor } nodes { id metadata { name } spec { name } } } }';
const body = (more: object = {}): string => JSON.stringify({ query, ...more });

async function three(options: Parameters<typeof answerPair>[0] = {}): Promise<AnswerPair> {
  const pair = await answerPair(options);
  await pair.fixture.declare(widget());
  await pair.fixture.sync(
    widgets,
    ['a', 'b', 'c'].map((name) => made({ name, spec: { name: `called ${name}` } })),
  );
  return pair;
}

test('a plain list is answered with prepared text, as the executor would', async () => {
  const { ask, pages } = await three();
  const [mine, executors] = await ask(body());
  expect(mine).toEqual(executors);
  expect(JSON.parse(mine.text)).toMatchObject({
    data: {
      exampleComWidgets: {
        pageInfo: { hasNextPage: true },
        nodes: [{ metadata: { name: 'a' }, spec: { name: 'called a' } }, {}],
      },
    },
    extensions: { portolan: { revision: expect.any(Number) } },
  });
  expect(pages).toEqual({ given: 1, atOnce: 0 });
  // The route of the page is cached by now.
  const [again, executorsAgain] = await ask(body());
  expect(again).toEqual(executorsAgain);
  expect(pages).toEqual({ given: 1, atOnce: 1 });
});

/** The answer of both servers, queried until every cache is warm and the page is read at once. */
async function asked({ ask, pages }: AnswerPair, query: string): Promise<string> {
  for (let time = 0; time < 3; time += 1) {
    const [mine, executors] = await ask(JSON.stringify({ query }));
    expect(mine).toEqual(executors);
  }
  expect(pages.given + pages.atOnce).toBe(3);
  return (await ask(JSON.stringify({ query })))[0].text;
}

test('a number in a cursor is the very number that the rows are ordered by', async () => {
  const pair = await answerPair();
  await pair.fixture.declare(widget());
  const ratios = [0.1 + 0.2, 0.3, 1e-7, 1e21, 5, 123456789.12345679, 5e-324];
  await pair.fixture.sync(
    widgets,
    ratios.map((ratio, index) => made({ name: `r${index}`, spec: { ratio } })),
  );
  await asked(
    pair,
    '{ exampleComWidgets(orderBy: [{ path: "spec.ratio" }]) { edges { cursor } pageInfo { endCursor } } }',
  );
});

test('an object that SQLite refuses is shown whole', async () => {
  const pair = await answerPair();
  await pair.fixture.declare(widget());
  const deep = JSON.parse('['.repeat(1100) + ']'.repeat(1100)) as unknown;
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  await pair.fixture.sync(widgets, [made({ name: 'a', status }), made({ name: 'b', status, deep })]);
  const ready = await asked(pair, '{ exampleComWidgets { nodes { condition(type: "Ready") { status } } } }');
  expect(JSON.parse(ready).data.exampleComWidgets.nodes).toEqual([
    { condition: { status: 'True' } },
    { condition: { status: 'True' } },
  ]);
});

const accepts = [
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json,application/json;q=0.9',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'text/event-stream, application/json',
  'application/json;q=0.5, application/graphql-response+json',
  'application/graphql-response+json;q=0, application/json',
  'application/*',
  '*/json',
  'application/json; charset=utf-16',
  'image/png',
  '',
];

test('every Accept is answered as without', async () => {
  const { ask } = await three();
  for (const accept of accepts) {
    const [mine, executors] = await ask(body(), { headers: { accept } });
    expect(mine, accept).toEqual(executors);
  }
});

test('S10: the weights of Accept count', async () => {
  const { ask } = await three();
  for (const [accept, type] of [
    ['application/json;q=0.5, application/graphql-response+json', 'application/graphql-response+json'],
    ['text/event-stream;q=0.1, application/json', 'application/json'],
  ]) {
    for (const { headers } of await ask(body(), { headers: { accept: accept ?? '' } })) {
      expect(headers, accept).toContainEqual(`content-type: ${type}; charset=utf-8`);
    }
  }
});

const otherRequests: readonly (readonly [string, Asking])[] = [
  ['another charset', { headers: { 'content-type': 'application/json; charset=latin1' } }],
  ['the charset named', { headers: { 'content-type': 'application/json; charset=UTF-8' } }],
  ['a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  ['GraphQL', { headers: { 'content-type': 'application/graphql' } }],
  ['no type', { headers: { 'content-type': '' } }],
  ['a coding that is none', { headers: { 'content-encoding': 'rot13' } }],
  ['a query beside it', { path: `/graphql?query=${encodeURIComponent('{__typename}')}` }],
  ['GET', { method: 'GET', path: `/graphql?query=${encodeURIComponent(query)}` }],
  ['another method', { method: 'DELETE' }],
];

test('requests of another kind are answered as without', async () => {
  const { ask } = await three();
  for (const [what, asking] of otherRequests) {
    const [mine, executors] = await ask(body(), asking);
    expect(mine, what).toEqual(executors);
  }
});

const otherBodies: readonly (readonly [string, string])[] = [
  ['no JSON', '{'],
  ['nothing in it', '{}'],
  ['a list', '[{"query":"{ __typename }"}]'],
  ['null', 'null'],
  ['a byte order mark', `\ufeff${body()}`],
  ['an unknown member', body({ more: 1 })],
  ['an unknown member that is null', body({ more: null })],
  ['extensions', body({ extensions: { a: 1 } })],
  ['a name that is none', body({ operationName: 5 })],
  ['an empty name', body({ operationName: '' })],
  ['a name that is not there', body({ operationName: 'Other' })],
  ['variables that are none', body({ variables: [1] })],
  ['variables that nobody asked for', body({ variables: { a: 1 } })],
  ['two operations', JSON.stringify({ query: `query A ${query} query B ${query}` })],
  ['one of two operations', JSON.stringify({ query: `query A ${query} query B { __typename }`, operationName: 'A' })],
  [
    'a variable that does not fit',
    JSON.stringify({ query: `query($n: Int!) ${query.replace('2', '$n')}`, variables: { n: 'x' } }),
  ],
  [
    'an order that is nonsense',
    JSON.stringify({ query: '{ exampleComWidgets(orderBy: [{ path: "a b" }]) { nodes { id } } }' }),
  ],
  ['a page that is too large', JSON.stringify({ query: query.replace('2', '501') })],
  ['a syntax error', JSON.stringify({ query: '{ exampleComWidgets {' })],
  ['a field that is not there', JSON.stringify({ query: '{ exampleComWidgets { nothing } }' })],
  [
    'too many aliases',
    JSON.stringify({
      query: `{ ${Array.from({ length: 201 }, (_, i) => `a${i}: exampleComWidgets { __typename }`).join(' ')} }`,
    }),
  ],
  ['too many brackets', JSON.stringify({ query: `{ a(b: ${'['.repeat(300)}${']'.repeat(300)}) }` })],
  ['too many tokens', JSON.stringify({ query: `{ exampleComWidgets { ${'__typename '.repeat(11_000)} } }` })],
  ['too large', JSON.stringify({ query, variables: { a: 'x'.repeat(1024 * 1024) } })],
  [
    'introspection',
    JSON.stringify({ query: '{ __schema { queryType { name } } exampleComWidgets { nodes { id } } }' }),
  ],
  ['a subscription', JSON.stringify({ query: 'subscription { nothing }' })],
];

test('bodies of every other kind are answered as without', async () => {
  const { ask } = await three();
  for (const [what, text] of otherBodies) {
    const [mine, executors] = await ask(text);
    expect(mine, what).toEqual(executors);
  }
});

test('what is not synced is refused, and what is synced in part says so', async () => {
  const { ask, fixture, pages } = await answerPair();
  await fixture.declare(widget('east'), widget('west'));
  const [early, executors] = await ask(body());
  expect(early).toEqual(executors);
  expect(early.text).toContain('CACHE_NOT_READY');
  await fixture.sync(widgets, [made({ name: 'a' })], 'east');
  const [half, halfOfExecutor] = await ask(body());
  expect(half).toEqual(halfOfExecutor);
  expect(JSON.parse(half.text).extensions.portolan.notReady).toEqual([{ cluster: 'west', key: widgets }]);
  expect(pages.given).toBeGreaterThan(0);
});

test('an answer says what ingest cannot bring up to date, and no kept answer hides it', async () => {
  const { ask, fixture } = await three({ engine: { answerCacheBytes: 1_000_000 } });
  const { staleness } = fixture.engine.source;
  const shown = async (): Promise<unknown> => {
    const [mine, executors] = await ask(body());
    expect(mine).toEqual(executors);
    return JSON.parse(mine.text).extensions.portolan.stale;
  };
  for (let time = 0; time < 3; time += 1) expect(await shown()).toBeUndefined();
  const since = Date.UTC(2026, 10, 25);
  staleness.set([
    { cluster: 'east', key: widgets, since, phase: 'PARKED', error: 'full' },
    { cluster: 'east', key: 'pods', since, phase: 'PARKED', error: 'full' },
  ]);
  const stale = [{ cluster: 'east', key: widgets, since: '2026-11-25T00:00:00.000Z' }];
  for (let time = 0; time < 3; time += 1) expect(await shown()).toEqual(stale);
  staleness.set([]);
  await eventually(async () => expect(await shown()).toBeUndefined());
});

test('a cluster that has synced since is there, whatever way was taken before', async () => {
  const { ask, fixture } = await answerPair();
  await fixture.declare(widget('east'), widget('west'));
  const inNamespace = JSON.stringify({ query: query.replace('first: 2', 'filter: { namespaces: ["default"] }') });
  await fixture.sync(widgets, [made({ name: 'a' })], 'east');
  await ask(inNamespace);
  await fixture.sync(widgets, [made({ name: 'b' })], 'west');
  const [mine, executors] = await ask(inNamespace);
  expect(mine).toEqual(executors);
  expect(JSON.parse(mine.text).data.exampleComWidgets.nodes).toHaveLength(2);
});

test('tables that have changed since are read as they are now', async () => {
  const { ask, fixture } = await three();
  await ask(body());
  await fixture.declare(gadget());
  await fixture.sync('gadgets.example.com', [made({ name: 'g', namespace: null })]);
  const [mine, executors] = await ask(body());
  expect(mine).toEqual(executors);
});

test('a plan goes with its generation', async () => {
  const { ask, fixture } = await three();
  await ask(body());
  await fixture.declare(
    widget('east', { ...widgetProperties, spec: { type: 'object', properties: { other: { type: 'string' } } } }),
  );
  const [mine, executors] = await ask(body());
  expect(mine).toEqual(executors);
  expect(mine.text).toContain('GRAPHQL_VALIDATION_FAILED');
});

test('what takes too long is left to the executor, and the next time at once', async () => {
  let tries = 0;
  const before = async (): Promise<void> => {
    tries += 1;
    throw new PortolanError('TIMEOUT', 'too long');
  };
  const { ask } = await three({ before });
  for (let time = 0; time < 3; time += 1) {
    const [mine, executors] = await ask(body());
    expect(mine).toEqual(executors);
    expect(mine.status).toBe(200);
  }
  expect(tries).toBe(1);
});

/** A server whose callers become known when `known` resolves. `arrived` is called for each request whose head has come. */
async function waiting({
  known = async () => {},
  arrived = () => {},
  pagesNow,
}: {
  readonly known?: () => Promise<void>;
  readonly arrived?: () => void;
  readonly pagesNow?: (read: PageReader['pagesNow']) => PageReader['pagesNow'];
} = {}): Promise<RunningServer> {
  const { fixture } = await three();
  const read = fixture.pages.pagesNow.bind(fixture.pages);
  return serveFixture(fixture, {
    pages: { pages: fixture.pages.pages.bind(fixture.pages), pagesNow: pagesNow?.(read) ?? read },
    authenticate: () => {
      arrived();
      return known().then(() => localUser);
    },
  });
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const head = (length: number): string =>
  `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

test('a request in two pieces, and one behind the other, are answered', async () => {
  const arrived = Promise.withResolvers<void>();
  const { port } = await waiting({ arrived: arrived.resolve });
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const text = body();
  let got = '';
  socket.on('data', (bytes) => {
    got += bytes.toString();
  });
  socket.write(head(text.length) + text.slice(0, 10));
  await arrived.promise;
  await turns(20);
  socket.write(text.slice(10, 20));
  await turns(20);
  socket.write(text.slice(20) + head(text.length) + text);
  await eventually(() => expect(got.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2));
  await eventually(() => expect(got.match(/called a/g)).toHaveLength(2));
});

test.each([-1, 0, 1])('a body of 64 KiB and %i bytes is answered as by the executor', async (more) => {
  const { ask } = await three();
  const spaces = ' '.repeat(64 * 1024 + more - body().length);
  const [mine, executors] = await ask(body() + spaces);
  expect(mine).toEqual(executors);
  expect(mine.status).toBe(200);
});

test('a client that leaves within its body, or before its turn, is not answered', async () => {
  const known = Promise.withResolvers<void>();
  let [arrivals, reads, isWarm] = [0, 0, false];
  const { port, url } = await waiting({
    known: async () => {
      if (isWarm) await known.promise;
    },
    arrived: () => {
      arrivals += 1;
    },
    pagesNow: (read) => (statements, pages) => {
      reads += 1;
      return read(statements, pages);
    },
  });
  const text = body();
  const whole = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text };
  for (let time = 0; time < 3; time += 1) expect((await fetch(url, whole)).status).toBe(200);
  expect(reads).toBeGreaterThan(0);
  [arrivals, reads, isWarm] = [0, 0, true];
  const requests = [
    head(text.length) + text,
    head(text.length) + text.slice(0, 10),
    `GET /graphql?query=${encodeURIComponent(query)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
  ];
  for (const [at, request] of requests.entries()) {
    const socket = connect(port, '127.0.0.1');
    socket.write(request);
    await eventually(() => expect(arrivals).toBe(at + 1));
    socket.destroy();
    await once(socket, 'close');
  }
  await turns(50);
  known.resolve();
  await turns(50);
  expect(reads).toBe(0);
  expect((await fetch(url, whole)).status).toBe(200);
});

test('requests whose callers become known at once begin in several turns', async () => {
  const known = Promise.withResolvers<void>();
  let [arrivals, turn, isWarm] = [0, 0, false];
  const readIn: number[] = [];
  const { url } = await waiting({
    known: async () => {
      if (isWarm) await known.promise;
    },
    arrived: () => {
      arrivals += 1;
    },
    // Each takes as long as a turn may.
    pagesNow: (read) => (statements, pages) => {
      readIn.push(turn);
      for (const until = performance.now() + 6; performance.now() < until; );
      return read(statements, pages);
    },
  });
  const text = body();
  const whole = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text };
  for (let time = 0; time < 3; time += 1) await fetch(url, whole);
  expect(readIn).not.toEqual([]);
  [arrivals, isWarm] = [0, true];
  readIn.length = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  const answers = Array.from({ length: 12 }, () => fetch(url, whole));
  await eventually(() => expect(arrivals).toBe(12));
  await turns(20);
  count();
  known.resolve();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  isOver = true;
  expect(readIn).toHaveLength(12);
  const together = Map.groupBy(readIn, (at) => at);
  expect(Math.max(...[...together.values()].map(({ length }) => length))).toBeLessThanOrEqual(2);
});

test('operations are counted once, and those of clients that have gone end', async () => {
  const entered = Promise.withResolvers<AbortSignal | undefined>();
  let hold = false;
  const before = async (options: { readonly signal?: AbortSignal } | undefined): Promise<void> => {
    if (!hold) return;
    entered.resolve(options?.signal);
    await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve));
  };
  let pair: AnswerPair | null = null;
  const source = () => pair?.fixture.engine.source;
  const metrics = createMetrics({
    reader: { stats: () => ({}) } as never,
    source: { generation: () => source()?.generation() } as never,
    progress: () => ({ clusters: [] }) as never,
    version: 'test',
    clock: systemClock,
    log: silentLogger,
  });
  pair = await three({ before, metrics });
  const counts: string[] = [];
  const count = metrics.operations.count.bind(metrics.operations);
  metrics.operations.count = (type, code) => {
    counts.push(`${type} ${code}`);
    count(type, code);
  };
  await pair.ask(body());
  await pair.ask(JSON.stringify({ query: '{ exampleComWidgets { nodes { raw } } }' }));
  await pair.ask(JSON.stringify({ query: '{ nothing }' }));
  expect(counts).toEqual(['query OK', 'query OK', 'query GRAPHQL_VALIDATION_FAILED']);

  hold = true;
  const socket = connect(pair.server.port, '127.0.0.1');
  const text = body();
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  const signal = await entered.promise;
  expect(signal?.aborted).toBe(false);
  socket.destroy();
  await once(socket, 'close');
  await eventually(() => expect(counts.at(-1)).toBe('query CANCELLED'));
  expect(signal?.aborted).toBe(true);
});
