import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type Client, createClient } from 'graphql-ws';
import { describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { type EngineFixture, engineFixture, type FixtureOptions, made } from '../../test/kit/engine-fixture.ts';
import { eventually } from '../../test/kit/eventually.ts';
import { ask } from '../../test/kit/graphql-client.ts';
import { gadget, gadgets, widget, widgets } from '../../test/kit/graphql-world.ts';
import { serveFixture } from '../../test/kit/served-fixture.ts';
import { userOf } from '../../test/kit/user.ts';
import { localUser } from '../access/caller.ts';
import { fixedRights } from '../access/rights.ts';
import { type Scopes, unrestricted } from '../access/scope.ts';
import type { RunningServer, ServerOptions } from './http-server.ts';

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is the query's, which the test has beside it.
  readonly data?: Readonly<Record<string, any>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

interface World {
  readonly fixture: EngineFixture;
  readonly server: RunningServer;
  readonly client: Client;
  /** Results over WebSocket, as they come. */
  live(query: string, variables?: Record<string, unknown>, client?: Client): Promise<Live>;
  connect(): Client;
}

interface Live {
  readonly results: readonly Result[];
  /** The newest one, when there are so many. */
  until(count: number): Promise<Result>;
  readonly isOver: () => boolean;
  stop(): Promise<void>;
}

async function world(options: FixtureOptions = {}, more: Partial<ServerOptions> = {}): Promise<World> {
  const fixture = engineFixture(options);
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [made({ name: 'a', status: { phase: 'On' } }), made({ name: 'b' })]);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })]);
  const server = await serveFixture(fixture, more);
  const connect = (): Client => {
    const url = server.url.replace(/^http/, 'ws');
    const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    onTestFinished(() => void client.dispose());
    return client;
  };
  const client = connect();
  return {
    fixture,
    server,
    client,
    connect,
    async live(query, variables = {}, over = client) {
      const results: Result[] = [];
      let isOver = false;
      const events = over.iterate({ query, variables });
      void (async () => {
        try {
          for await (const result of events) results.push(result as unknown as Result);
        } catch (error) {
          results.push({ errors: [error].flat() as unknown as Result['errors'] & {} });
        }
        isOver = true;
      })();
      const until = async (count: number): Promise<Result> => {
        await expect.poll(() => results.length, { timeout: 25_000 }).toBeGreaterThanOrEqual(count);
        return results.at(-1) as Result;
      };
      await until(1);
      return { results, until, isOver: () => isOver, stop: async () => void (await events.return?.()) };
    },
  };
}

const list = (throttle = 0): string =>
  `query @live(throttle: ${throttle}) { exampleComWidgets { totalCount nodes { metadata { name } status { phase } } } }`;
const namesIn = ({ data }: Result): readonly string[] =>
  data?.['exampleComWidgets'].nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a live query', () => {
  test('gives the whole result at first, and again when it is another one', async () => {
    const { fixture, live } = await world();
    const { until, results, stop } = await live(list());
    expect(namesIn(await until(1))).toEqual(['a', 'b']);
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    expect(namesIn(await until(2))).toEqual(['a', 'b', 'c']);
    fixture.apply(widgets, 'DELETED', made({ name: 'a' }));
    expect(namesIn(await until(3))).toEqual(['b', 'c']);
    await stop();
    await eventually(() => expect(fixture.engine.source.liveQueries.facts).toMatchObject({ cohorts: 0, members: 0 }));
    expect(results).toHaveLength(3);
  });

  test.each([
    ['an aggregate', 'exampleComWidgets { aggregate { groups(by: ["status.phase"]) { keys aggregate { count } } } }'],
    [
      'a relation',
      'exampleComGadgets { nodes { id } } exampleComWidgets { nodes { metadata { name } owners { nodes { id } } } }',
    ],
    ['one object', 'exampleComWidget(namespace: "default", name: "c") { id }'],
    ['several kinds', 'objects(kinds: ["ExampleComWidget", "ExampleComGadget"]) { totalCount nodes { id } }'],
    ['a search', 'exampleComWidgets(filter: { search: "c" }) { nodes { metadata { name } } }'],
  ])('may hold %s', async (_what, selection) => {
    const { fixture, live, server } = await world();
    while (fixture.writer().maintain());
    const query = `query @live(throttle: 0) { ${selection} }`;
    const { until } = await live(query);
    fixture.apply(widgets, 'ADDED', made({ name: 'c', status: { phase: 'Off' } }));
    const { data } = await until(2);
    expect(data).toEqual((await ask(server.url, query)).data);
  });

  test('may hold the health of what an object owns', async () => {
    const { fixture, live } = await world();
    fixture.apply(gadgets, 'ADDED', made({ name: 'app', namespace: null, uid: 'u-app' }));
    const child = (status: string) =>
      made({ name: 'child', owner: { uid: 'u-app' }, status: { conditions: [{ type: 'Ready', status }] } });
    fixture.apply(widgets, 'ADDED', child('True'));
    const { results, until } = await live(
      'query @live(throttle: 0) { exampleComGadget(name: "app") { health(rollUp: OWNED) { status culprit { metadata { name } } } } }',
    );
    const healths = () => results.map(({ data }) => data?.['exampleComGadget'].health);
    fixture.apply(widgets, 'MODIFIED', child('False'));
    await until(2);
    fixture.apply(widgets, 'DELETED', child('False'));
    await until(3);
    const well = { status: 'Current', culprit: null };
    expect(healths()).toEqual([well, { status: 'InProgress', culprit: { metadata: { name: 'child' } } }, well]);
  });

  test('with a plan runs without a lease once its route is known, also with a count of few objects', async () => {
    const { fixture, live, server } = await world();
    const labelled = (name: string, phase: string) => made({ name, labels: { app: 'web' }, status: { phase } });
    fixture.apply(widgets, 'ADDED', labelled('w0', 'On'));
    const query = `query @live(throttle: 0) { exampleComWidgets(filter: { labelSelector: "app=web" }, first: 5) {
      totalCount nodes { metadata { name } status { phase } }
    } }`;
    const { until } = await live(query);
    fixture.apply(widgets, 'ADDED', labelled('w1', 'On'));
    await until(2);
    fixture.statements.length = 0;
    fixture.apply(widgets, 'ADDED', labelled('w2', 'On'));
    const third = await until(3);
    expect(third.data?.['exampleComWidgets'].totalCount).toBe(3);
    fixture.apply(widgets, 'MODIFIED', labelled('w1', 'Off'));
    const fourth = await until(4);
    expect(fixture.statements).toEqual([]);
    expect(fourth).toMatchObject({ data: (await ask(server.url, query)).data });
  });

  test('runs once for all subscribers, and not for a change that does not concern it', async () => {
    const { fixture, live, connect } = await world();
    const query = `query @live(throttle: 0) { exampleComWidgets(filter: { status: { phase: { eq: "On" } } }) { nodes { metadata { name } } } }`;
    const all = [];
    for (let each = 0; each < 5; each += 1) all.push(await live(query, {}, connect()));
    const { liveQueries } = fixture.engine.source;
    expect(liveQueries.facts).toMatchObject({ members: 5, cohorts: 1 });
    await pause(50);
    const before = liveQueries.facts.runs;
    // The filter does not match before, and does not match after.
    fixture.apply(widgets, 'ADDED', made({ name: 'off', status: { phase: 'Off' } }));
    fixture.apply(widgets, 'MODIFIED', made({ name: 'b', status: { phase: 'Off' } }));
    fixture.apply(gadgets, 'ADDED', made({ name: 'h', namespace: null }));
    await pause(300);
    expect(liveQueries.facts.runs).toBe(before);
    fixture.apply(widgets, 'MODIFIED', made({ name: 'b', status: { phase: 'On' } }));
    for (const { until } of all) expect(namesIn(await until(2))).toEqual(['a', 'b']);
    fixture.apply(widgets, 'MODIFIED', made({ name: 'a', status: { phase: 'Off' } }));
    for (const { until } of all) expect(namesIn(await until(3))).toEqual(['b']);
    // Each run at most once more: for a change that came while it ran.
    expect(liveQueries.facts.runs - before).toBeLessThanOrEqual(4);
  });

  test('sends nothing when a change leaves its result as it is', async () => {
    const { fixture, live } = await world();
    const { until, results } = await live(
      'query @live(throttle: 0) { exampleComWidgets { nodes { metadata { name } } } }',
    );
    const { liveQueries } = fixture.engine.source;
    fixture.apply(widgets, 'MODIFIED', made({ name: 'a', status: { phase: 'Off' } }));
    await expect.poll(() => liveQueries.facts.runs, { timeout: 10_000 }).toBeGreaterThan(0);
    await pause(50);
    expect(results).toHaveLength(1);
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    expect(namesIn(await until(2))).toEqual(['a', 'b', 'c']);
  });

  test('waits for the throttle between two results', async () => {
    const { fixture, live } = await world();
    const { until, results } = await live(list(400));
    for (const name of ['c', 'd', 'e']) {
      fixture.apply(widgets, 'ADDED', made({ name }));
      await pause(20);
    }
    expect(results).toHaveLength(1);
    expect(namesIn(await until(2))).toEqual(['a', 'b', 'c', 'd', 'e']);
    await pause(100);
    expect(results).toHaveLength(2);
  });

  test('follows relative times as time passes', async () => {
    const { fixture, live } = await world();
    const at = new Date(Date.now() - 3_599_000).toISOString();
    await fixture.sync(widgets, [made({ name: 'soon', metadata: { creationTimestamp: at } })]);
    const query = `query @live(throttle: 100) { exampleComWidgets(filter: { metadata: { creationTimestamp: { lt: "-1h" } } }) { nodes { metadata { name } } } }`;
    const { until } = await live(query);
    expect(namesIn(await until(1))).toEqual([]);
    expect(namesIn(await until(2))).toEqual(['soon']);
  });

  test('shows an error, and the result after it', async () => {
    const { fixture, live } = await world();
    const query =
      'query @live(throttle: 0) { exampleComWidget(namespace: "default", name: "a") { id } clusters { name } }';
    const { results } = await live(query);
    expect(results[0]?.errors).toBeUndefined();
    expect(fixture.engine.source.liveQueries.facts.cohorts).toBe(1);
  });
});

describe('is answered once', () => {
  test('over plain HTTP', async () => {
    const { server, fixture } = await world();
    for (let turn = 0; turn < 2; turn += 1) {
      expect(namesIn((await ask(server.url, list())) as Result)).toEqual(['a', 'b']);
    }
    expect(fixture.engine.source.liveQueries.facts).toMatchObject({ cohorts: 0, runs: 0 });
  });

  test('over WebSocket with if: false', async () => {
    const { live } = await world();
    const query = 'query ($live: Boolean!) @live(if: $live) { exampleComWidgets { totalCount nodes { id } } }';
    const { isOver, results } = await live(query, { live: false });
    await expect.poll(isOver).toBe(true);
    expect(results).toHaveLength(1);
    expect((await live(query, { live: true })).isOver()).toBe(false);
  });

  test.each([
    ['a throttle that is negative', 'query @live(throttle: -1) { exampleComWidgets { totalCount } }', 'BAD_USER_INPUT'],
    [
      'a cost over the limit',
      'query @live { exampleComWidgets(first: 500) { nodes { raw metadata { name uid } } } }',
      'QUERY_TOO_COSTLY',
    ],
  ])('if it is refused for %s', async (_what, query, code) => {
    const { live, server } = await world({ maxCost: 1000 });
    const { results, isOver } = await live(query);
    await expect.poll(isOver).toBe(true);
    expect(results.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([code]);
    expect((await ask(server.url, query)).errors?.[0]?.extensions?.['code']).toBe(code);
  });
});

describe('callers', () => {
  const few: Scopes = {
    id: 'few',
    of: () => ({
      rows: 'some',
      clusters: new Map([['east', { namespaces: new Set<string>(), names: new Map([['', new Set(['b'])]]) }]]),
    }),
  };

  test('see what their rights show, and lose what is revoked', async () => {
    const byUser = new Map<string, Scopes>([
      ['one', unrestricted],
      ['two', few],
    ]);
    const rights = fixedRights(({ name }) => byUser.get(name) ?? few);
    const { fixture, live, server } = await world(
      { engine: { rights } },
      {
        authenticate: (credentials) => {
          const name = String(credentials.connectionParams?.['authorization']);
          return { ...localUser, name, user: userOf(name) };
        },
      },
    );
    const connectAs = (name: string): Client => {
      const client = createClient({
        url: server.url.replace(/^http/, 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: name },
      });
      onTestFinished(() => void client.dispose());
      return client;
    };
    const [one, two] = [await live(list(), {}, connectAs('one')), await live(list(), {}, connectAs('two'))];
    expect([namesIn(await one.until(1)), namesIn(await two.until(1))]).toEqual([['a', 'b'], ['b']]);
    expect(fixture.engine.source.liveQueries.facts).toMatchObject({ cohorts: 2 });
    byUser.set('one', few);
    fixture.engine.interrupt();
    expect(namesIn(await one.until(2))).toEqual(['b']);
    await expect.poll(() => fixture.engine.source.liveQueries.facts.cohorts).toBe(1);
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    await pause(100);
    expect([one.results.length, two.results.length]).toEqual([2, 1]);
    byUser.set('two', unrestricted);
    fixture.engine.interrupt();
    expect(namesIn(await two.until(2))).toEqual(['a', 'b', 'c']);
  });

  test('with the same rights never get each other’s own answers', async () => {
    const { live, server, fixture } = await world(
      {},
      {
        authenticate: (credentials) => {
          const name = String(credentials.connectionParams?.['authorization']);
          return { ...localUser, name, user: userOf(name) };
        },
      },
    );
    const query = 'query @live(throttle: 0) { viewer { name } exampleComWidgets { totalCount } }';
    const all = [];
    for (const name of ['one', 'two', 'one']) {
      const client = createClient({
        url: server.url.replace(/^http/, 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: name },
      });
      onTestFinished(() => void client.dispose());
      all.push(await live(query, {}, client));
    }
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    for (const [index, each] of all.entries()) {
      expect((await each.until(2)).data).toEqual({
        viewer: { name: index === 1 ? 'two' : 'one' },
        exampleComWidgets: { totalCount: 3 },
      });
    }
    expect(fixture.engine.source.liveQueries.facts).toMatchObject({ cohorts: 2 });
  });

  test('whose credentials end get UNAUTHENTICATED', async () => {
    let validUntil = Date.now() + 60_000;
    const caller = {
      name: 'dev',
      user: userOf('dev'),
      get validUntil() {
        return validUntil;
      },
    };
    const { fixture, live } = await world({}, { authenticate: () => caller });
    const { until, isOver } = await live(list());
    validUntil = Date.now() - 1000;
    fixture.engine.interrupt();
    expect((await until(2)).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    await expect.poll(isOver).toBe(true);
  });
});

describe('a new schema', () => {
  test('that leaves the query valid is not noticed', async () => {
    const { fixture, live } = await world();
    const { until, results } = await live(list());
    await fixture.declare(gadget('west'));
    await pause(200);
    expect(results).toHaveLength(1);
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    expect(namesIn(await until(2))).toEqual(['a', 'b', 'c']);
  });

  test('that the query does not fit ends it with SCHEMA_RELOAD', async () => {
    const { fixture, live } = await world();
    const { until, isOver } = await live(list());
    await fixture.declare(widget('east', { spec: { type: 'object', properties: { name: { type: 'string' } } } }));
    expect((await until(2)).errors?.[0]?.extensions.code).toBe('SCHEMA_RELOAD');
    await expect.poll(isOver).toBe(true);
  });
});

test('a list that is made anew gives the new result', async () => {
  const { fixture, live } = await world();
  const { until } = await live(list());
  await fixture.sync(widgets, [made({ name: 'x' })]);
  expect(namesIn(await until(2))).toEqual(['x']);
});

test('over server-sent events, results come as events', async () => {
  const { fixture, server } = await world();
  const body = JSON.stringify({ query: list() });
  const request = httpRequest(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
  });
  request.end(body);
  const [response] = await once(request, 'response');
  onTestFinished(() => void request.destroy());
  expect(response.headers['content-type']).toBe('text/event-stream');
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (piece: string) => {
    text += piece;
  });
  const results = (): readonly Result[] =>
    [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, each = '']) => JSON.parse(each) as Result);
  await expect.poll(() => results().length).toBe(1);
  fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
  await expect.poll(() => results().length).toBe(2);
  expect(results().map(namesIn)).toEqual([
    ['a', 'b'],
    ['a', 'b', 'c'],
  ]);
  request.destroy();
  await expect.poll(() => fixture.engine.source.liveQueries.facts.members).toBe(0);
});

test('a slow subscriber gets the newest result alone [Q4]', async () => {
  const { fixture, server } = await world();
  const socket = new WebSocket(server.url.replace(/^http/, 'ws'), 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  const totals: number[] = [];
  socket.on('message', (text: Buffer) => {
    const { type, payload } = JSON.parse(text.toString());
    if (type === 'next') totals.push(payload.data.exampleComWidgets.totalCount);
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  const filler = 'x'.repeat(400_000);
  const big = (number: number) => made({ name: `big-${number}`, spec: { name: filler } });
  await fixture.sync(
    widgets,
    Array.from({ length: 40 }, (_, index) => big(index)),
  );
  const query = 'query @live(throttle: 0) { exampleComWidgets(first: 100) { totalCount nodes { spec { name } } } }';
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  await expect.poll(() => totals.length, { timeout: 10_000 }).toBe(1);
  socket.pause();
  for (let number = 40; number < 60; number += 1) {
    fixture.apply(widgets, 'ADDED', big(number));
    await pause(60);
  }
  socket.resume();
  await expect.poll(() => totals.at(-1), { timeout: 20_000 }).toBe(60);
  expect(totals.length).toBeLessThan(8);
});

test('at its limit of subscriptions, a caller gets no live query', async () => {
  const { live } = await world(
    {},
    {
      authenticate: () => ({ ...localUser, user: userOf('dev') }),
      callerBounds: {
        requests: 10,
        costPerMinute: 1_000_000,
        subscriptions: 1,
        connections: 5,
        logs: 1,
        logBytes: 1e9,
      },
    },
  );
  const first = await live(list());
  const second = await live(list());
  expect((await second.until(1)).errors?.[0]?.extensions.code).toBe('TOO_MANY_REQUESTS');
  await first.stop();
  await expect.poll(async () => (await live(list())).results[0]?.errors).toBeUndefined();
});
