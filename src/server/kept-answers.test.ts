import { createClient } from 'graphql-ws';
import { describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { type AnswerPair, type Asking, answerPair, type PairOptions } from '../../test/kit/answer-pair.ts';
import { made } from '../../test/kit/engine-fixture.ts';
import { ask } from '../../test/kit/graphql-client.ts';
import { gadget, gadgets, widget, widgets } from '../../test/kit/graphql-world.ts';
import { serveFixture } from '../../test/kit/served-fixture.ts';
import { userOf } from '../../test/kit/user.ts';
import { localUser } from '../access/caller.ts';
import { fixedRights, seesEverything } from '../access/rights.ts';
import { type Scope, type Scopes, unrestricted } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { must } from '../base/must.ts';
import { rawJson } from '../catalog/values/raw-json.ts';
import { KeptAnswers } from '../operation/answers/kept-answers.ts';
import { beginOperation } from '../operation/operation.ts';
import type { Metrics } from './health/metrics.ts';
import { startServer } from './http-server.ts';

const names = '{ exampleComWidgets { nodes { metadata { name } } } }';
const phases = '{ exampleComWidgets { aggregate { groups(by: ["status.phase"]) { keys aggregate { count } } } } }';

interface World extends AnswerPair {
  /** Asks both servers and asserts that their answers are equal. Says whether the first one answered from memory. */
  again(
    query: string,
    asking?: Asking,
  ): Promise<{ readonly hit: boolean; readonly text: string; readonly status: number }>;
}

async function world({ engine, ...options }: PairOptions = {}): Promise<World> {
  const pair = await answerPair({ ...options, engine: { answerCacheBytes: 1_000_000, ...engine } });
  const { fixture } = pair;
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [made({ name: 'a', status: { phase: 'On' } }), made({ name: 'b' })]);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })]);
  return {
    ...pair,
    async again(query, asking) {
      const { answers } = fixture.engine.source;
      const before = answers.facts.hits;
      const [mine, executors] = await pair.ask(JSON.stringify({ query }), asking);
      expect(mine).toEqual(executors);
      return { hit: answers.facts.hits > before, text: mine.text, status: mine.status };
    },
  };
}

/** The hits of so many turns of the same question. */
async function hitsOf({ again }: World, query: string, asking?: Asking): Promise<string> {
  const turns: string[] = [];
  for (let turn = 0; turn < 4; turn += 1) turns.push((await again(query, asking)).hit ? 'memory' : 'store');
  return turns.join(' ');
}

const kept = 'store store memory memory';
const never = 'store store store store';

function get(query: string, headers: Readonly<Record<string, string>> = {}): Asking {
  return {
    method: 'GET',
    path: `/graphql?query=${encodeURIComponent(query)}`,
    headers: { accept: 'application/json', ...headers },
  };
}

describe('the same question again', () => {
  test.each([
    ['a prepared answer', names],
    ["the executor's", phases],
    ['one object', '{ exampleComWidget(namespace: "default", name: "a") { id } }'],
    ['one that depends on every kind', '{ exampleComWidgets { nodes { owners { nodes { id } } } } }'],
  ])('is answered from memory from the third time: %s', async (_what, query) => {
    const asked = await world();
    expect(await hitsOf(asked, query)).toBe(kept);
    expect(await hitsOf(asked, query, get(query))).toBe('memory memory memory memory');
  });

  test.each([
    [
      'a relative time',
      '{ exampleComWidgets(filter: { metadata: { creationTimestamp: { lt: "-1h" } } }) { nodes { id } } }',
    ],
    ['the progress of ingest', '{ clusters { name objects } }'],
    ['the state of resources', '{ resources { key } }'],
    ['decisions about rights', '{ viewer { name } exampleComWidgets { nodes { id viewerCan(verb: "get") } } }'],
    ['references to what is not there', '{ danglingReferences { nodes { path } } }'],
    ['nothing of the store', '{ __typename }'],
    ['introspection beside data', '{ __type(name: "Query") { fields { name } } exampleComWidgets { nodes { id } } }'],
    ['an error', '{ exampleComWidgets(first: -1) { nodes { id } } }'],
    ['a warning', '{ exampleComWidgets(filter: { metadata: { namespace: { eq: "gone" } } }) { nodes { id } } }'],
  ])('is answered from the store each time: %s', async (_what, query) => {
    const asked = await world();
    // So that the warning can be given.
    expect(await hitsOf(asked, query)).toMatch(query.includes('"gone"') ? /store/ : never);
  });

  test('a change of its kind is seen at once, a change of another kind moves its revision', async () => {
    const asked = await world();
    await hitsOf(asked, names);
    const { fixture, again } = asked;
    const before = JSON.parse((await again(names)).text);
    fixture.apply(gadgets, 'ADDED', made({ name: 'h', namespace: null }));
    const other = await again(names);
    expect(other.hit).toBe(true);
    expect(JSON.parse(other.text).extensions.portolan.revision).toBe(before.extensions.portolan.revision + 1);
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    const own = await again(names);
    expect(own).toMatchObject({ hit: false, text: expect.stringContaining('"c"') });
    expect((await again(names)).hit).toBe(true);
  });

  test('a cursor of changes is that of the newest revision', async () => {
    const query = '{ exampleComWidgets { changesCursor } }';
    const asked = await world();
    expect(await hitsOf(asked, query)).toBe(kept);
    asked.fixture.apply(gadgets, 'ADDED', made({ name: 'h', namespace: null }));
    expect((await asked.again(query)).hit).toBe(false);
  });

  test('a kind that changes faster than the question is asked is not kept', async () => {
    const asked = await world();
    await hitsOf(asked, names);
    for (const name of ['c', 'd']) {
      asked.fixture.apply(widgets, 'ADDED', made({ name }));
      await asked.again(names);
    }
    // The second change came before the answer was used: the question must be asked twice again.
    expect(await hitsOf(asked, names)).toBe('store memory memory memory');
  });

  test('a new generation answers anew', async () => {
    const asked = await world();
    await hitsOf(asked, names);
    await asked.fixture.declare(gadget('west'));
    expect(await hitsOf(asked, names)).toBe(kept);
  });

  test('variables and operations are other questions', async () => {
    const asked = await world();
    const { fixture } = asked;
    const query =
      'query A($n: Int) { exampleComWidgets(first: $n) { nodes { id } } } query B { exampleComWidgets { totalCount } }';
    const ask = async (body: object): Promise<boolean> => {
      const before = fixture.engine.source.answers.facts.hits;
      const [mine, executors] = await asked.ask(JSON.stringify({ query, ...body }));
      expect(mine).toEqual(executors);
      return fixture.engine.source.answers.facts.hits > before;
    };
    const one = { operationName: 'A', variables: { n: 1 } };
    for (let turn = 0; turn < 2; turn += 1) expect(await ask(one)).toBe(false);
    expect(await ask(one)).toBe(true);
    expect(await ask({ operationName: 'A', variables: { n: 2 } })).toBe(false);
    expect(await ask({ operationName: 'B' })).toBe(false);
  });
});

describe('callers', () => {
  const some = (id: string, scope: Scope): Scopes => ({ id, of: () => scope });

  test('share answers if they may see the same, and never otherwise', async () => {
    let scopes = some('few', {
      rows: 'some',
      clusters: new Map([['east', { namespaces: new Set(['other']), names: new Map() }]]),
    });
    const asked = await world({ engine: { rights: fixedRights(() => scopes) } });
    expect(await hitsOf(asked, names)).toBe(kept);
    expect((await asked.again(names)).text).toContain('"nodes":[]');
    scopes = unrestricted;
    expect(await asked.again(names)).toMatchObject({ hit: false, text: expect.stringContaining('"a"') });
    // Equal ids mean equal scopes: the question of the other caller counts.
    scopes = some('all', { rows: 'all' });
    expect(await hitsOf(asked, names)).toBe('store memory memory memory');
  });

  test('whose rights come from reviews get an answer from memory for two seconds', async () => {
    let now = 0;
    const scopes: Scopes = { ...some('reviewed', { rows: 'all' }), want: () => {} };
    const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
    const asked = await world({
      engine: { rights: fixedRights(() => scopes), clock } as unknown as PairOptions['engine'] & {},
    });
    expect(await hitsOf(asked, phases)).toBe(kept);
    now = 1999;
    expect((await asked.again(phases)).hit).toBe(true);
    now = 2000;
    expect((await asked.again(phases)).hit).toBe(false);
  });
});

describe('GET', () => {
  async function tagOf({ server }: AnswerPair, query: string, headers = {}): Promise<Response> {
    const { path = '', headers: more = {} } = get(query, headers);
    return fetch(`http://127.0.0.1:${server.port}${path}`, { headers: more });
  }

  test.each([
    ['prepared', names],
    ["the executor's", phases],
  ])('the client keeps its answer until it is another one: %s', async (_what, query) => {
    const asked = await world();
    const first = await tagOf(asked, query);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('vary')).toBe('Origin, Accept, Accept-Encoding');
    await first.text();
    for (let turn = 0; turn < 4; turn += 1) {
      asked.fixture.apply(gadgets, 'ADDED', made({ name: `h${turn}`, namespace: null }));
      const { hit, status, text } = await asked.again(query, get(query, { 'if-none-match': tag }));
      expect({ hit, status, text }).toEqual({ hit: turn > 0, status: 304, text: '' });
    }
    asked.fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    expect(await asked.again(query, get(query, { 'if-none-match': tag }))).toMatchObject({ hit: false, status: 200 });
  });

  test('the tag of another caller confirms nothing', async () => {
    let scopes = unrestricted;
    const asked = await world({ engine: { rights: fixedRights(() => scopes) } });
    await hitsOf(asked, names);
    const tag = (await tagOf(asked, names)).headers.get('etag') ?? '';
    scopes = { id: 'none of them', of: () => ({ rows: 'some', clusters: new Map() }) };
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await asked.again(names, get(names, { 'if-none-match': tag }))).status).toBe(200);
    }
  });

  test('a POST is answered, whatever its if-none-match', async () => {
    const asked = await world();
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await asked.again(names, { headers: { 'if-none-match': '*' } })).status).toBe(200);
    }
  });

  test('a mutation, a URL with a member twice, and the playground are answered as by Yoga', async () => {
    const asked = await world();
    const path = `/graphql?query=${encodeURIComponent(names)}`;
    for (const asking of [
      { method: 'GET', path: `${path}&query=x` },
      { method: 'GET', path: '/graphql?query=mutation%7Bx%7D' },
      { method: 'GET', path, headers: { accept: 'text/html' } },
    ]) {
      for (let turn = 0; turn < 3; turn += 1) await asked.again(names, asking);
    }
  });
});

test('a compressed answer is compressed once for a revision', async () => {
  const asked = await world();
  await asked.fixture.sync(
    widgets,
    Array.from({ length: 200 }, (_, index) => made({ name: `widget-${index}` })),
  );
  const query = '{ exampleComWidgets(first: 200) { nodes { metadata { name uid } } } }';
  await hitsOf(asked, query);
  const { answers } = asked.fixture.engine.source;
  const plain = answers.facts.bytes;
  const texts: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const answer = await fetch(`http://127.0.0.1:${asked.server.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body: JSON.stringify({ query }),
    });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    texts.push(await answer.text());
  }
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toBe((await asked.again(query)).text);
  expect(answers.facts.bytes).toBeGreaterThan(plain);
  expect(answers.facts.bytes).toBeLessThan(plain * 1.5);
});

describe('bounds', () => {
  test.each([
    ['without bytes nothing is kept', 0, never],
    ['an answer that is larger than all may be is not kept', 10, never],
    ['an answer within the bound is kept', 1000, kept],
  ])('%s', async (_what, answerCacheBytes, expected) => {
    const asked = await world({ engine: { answerCacheBytes } });
    expect(await hitsOf(asked, names)).toBe(expected);
    expect(asked.fixture.engine.source.answers.facts.bytes).toBeLessThanOrEqual(answerCacheBytes);
  });

  test('a running gateway takes another bound, and answers made under other limits are dropped', async () => {
    const { fixture } = await world();
    const { source } = fixture.engine;
    let [bytes, settings] = [1000, ''];
    const answers = new KeptAnswers({
      pages: fixture.pages,
      bytes: () => bytes,
      rights: seesEverything,
      generation: () => source.generation(),
      settings: () => settings,
      monotonic: () => 0,
    });
    const question = { key: 'q', caller: localUser, scopes: unrestricted };
    const keep = async (): Promise<boolean> => {
      const operation = beginOperation(source, localUser);
      await operation.read(async (_lease, view) => view.get(widgets));
      const { made } = must(await operation.madeIn(), 'the state of widgets');
      operation.end();
      const texts = { data: '{}', extensions: `{"portolan":{"x":1,"revision":${made.state.revision}}}` };
      answers.keep(question, source.generation(), { texts, made, asked: 1, name: null });
      return answers.find(question) !== null;
    };
    expect(await keep()).toBe(true);
    settings = 'lower';
    expect(answers.find(question)).toBeNull();
    expect(await keep()).toBe(true);
    bytes = 0;
    expect(await keep()).toBe(false);
    bytes = 10;
    expect(await keep()).toBe(false);
    expect(answers.facts).toMatchObject({ answers: 0, bytes: 0 });
  });
});

describe('the admission', () => {
  test('counts each answer, and a caller at a limit is refused', async () => {
    const counted: string[] = [];
    const operations = {
      count: (type: string, code: string) => void counted.push(`${type} ${code}`),
      took: () => {},
      subscribed: () => () => {},
    };
    const asked = await world({ metrics: { operations } as unknown as Metrics });
    expect(await hitsOf(asked, names)).toBe(kept);
    expect(counted).toEqual(Array.from({ length: 4 }, () => 'query OK'));
  });

  test('charges the cost of an answer from memory', async () => {
    const { fixture } = await world();
    const server = await startServer({
      host: '127.0.0.1',
      port: 0,
      source: fixture.engine.source,
      pages: fixture.pages,
      authenticate: () => ({ ...localUser, name: 'dev', user: userOf('dev') }),
      callerBounds: { requests: 10, costPerMinute: 1000, subscriptions: 1, connections: 1, logs: 1, logBytes: 1e9 },
      readiness: () => ({ ready: true }),
      tabs: [],
      log: silentLogger,
    });
    onTestFinished(() => server.close());
    const codes = new Set<string>();
    for (let turn = 0; turn < 12; turn += 1) {
      const { errors } = await ask(server.url, names);
      codes.add(String(errors?.[0]?.extensions?.['code']));
    }
    expect([...codes]).toEqual(['undefined', 'TOO_MANY_REQUESTS']);
    expect(fixture.engine.source.answers.facts.hits).toBeGreaterThan(0);
  });

  test('refunds the cost of an answer that the executor makes after all', async () => {
    const { fixture } = await world();
    const query = '{ exampleComWidgets(first: 100) { nodes { metadata { name } } } }';
    // Ten for each character, and 301 for the answer: once, not twice.
    const costPerMinute = 10 * query.length + 2 * 301 - 1;
    const refuse = async (): Promise<never> => {
      throw new PortolanError('TIMEOUT', 'too long');
    };
    const server = await serveFixture(fixture, {
      pages: { pagesNow: () => null, pages: refuse },
      authenticate: () => ({ ...localUser, name: 'dev', user: userOf('dev') }),
      callerBounds: { requests: 10, costPerMinute, subscriptions: 1, connections: 1, logs: 1, logBytes: 1e9 },
    });
    expect((await ask(server.url, query)).errors).toBeUndefined();
  });

  test('a WebSocket gets the same answers', async () => {
    const asked = await world();
    const url = asked.server.url.replace(/^http/, 'ws');
    const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    onTestFinished(() => client.dispose());
    const query = '{ exampleComWidgets { nodes { raw metadata { labels } } } }';
    await asked.fixture.sync(widgets, [
      made({ name: 'a', labels: { 2: 'b', 1: 'a' }, spec: { total: rawJson('123456789012345678') } }),
    ]);
    const values: string[] = [];
    for (const expected of kept.split(' ')) {
      const { answers } = asked.fixture.engine.source;
      const { hits } = answers.facts;
      const { value } = await client.iterate({ query }).next();
      expect(answers.facts.hits > hits ? 'memory' : 'store').toBe(expected);
      values.push(JSON.stringify(value));
    }
    const [, executors] = await asked.ask(JSON.stringify({ query }));
    expect(new Set(values)).toEqual(new Set([JSON.stringify(JSON.parse(executors.text))]));
  });
});
