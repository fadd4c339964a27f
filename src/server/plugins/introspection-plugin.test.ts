/** Introspection through the endpoint, compared with an endpoint whose executor answers it. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { buildClientSchema, type IntrospectionQuery, parse, print, printSchema } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';
import {
  type IntrospectionDocument,
  mixedDocuments,
  otherDocuments,
  wholeSchemaDocuments,
} from '../../../test/kit/introspection-documents.ts';
import { userOf } from '../../../test/kit/user.ts';
import { localUser } from '../../access/caller.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { IntrospectionAnswers } from '../../graphql/introspection/introspection-answers.ts';
import { IntrospectionThread } from '../../graphql/introspection/introspection-thread.ts';
import { createYogaServer, type Yoga } from '../graphql/yoga-server.ts';
import type { Metrics } from '../health/metrics.ts';
import type { OperationMetrics } from '../health/operation-metrics.ts';
import { startServer } from '../http-server.ts';

const standard = must(wholeSchemaDocuments['graphql-js, Insomnia, Relay'], 'the standard document');

interface Sent {
  readonly method?: 'GET';
  readonly accept?: string;
  readonly encoding?: string;
}

/** The encoded answer; it is not decoded. */
async function ask(yoga: Yoga, document: IntrospectionDocument, { method, accept, encoding }: Sent = {}) {
  const headers = {
    ...(accept === undefined ? {} : { accept }),
    ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
  };
  const url = new URL('http://portolan/graphql');
  const { query, operationName, variables } = document;
  if (method === 'GET') {
    url.searchParams.set('query', query);
    if (operationName !== undefined) url.searchParams.set('operationName', operationName);
    if (variables !== undefined) url.searchParams.set('variables', JSON.stringify(variables));
  }
  const response = await yoga.fetch(
    url.href,
    method === 'GET'
      ? { headers }
      : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(document) },
  );
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** A thread that counts its requests, and delays them while `held` is set. */
class CountedThread extends IntrospectionThread {
  asked = 0;
  held: Promise<void> | null = null;

  override async ask(...question: Parameters<IntrospectionThread['ask']>) {
    this.asked += 1;
    await this.held;
    return super.ask(...question);
  }
}

interface World extends EngineFixture {
  readonly yoga: Yoga;
  /** The same, with every answer from the executor. */
  readonly executor: Yoga;
  readonly thread: CountedThread;
}

async function world(options: Parameters<typeof engineFixture>[0] = {}, metrics?: Metrics): Promise<World> {
  const fixture = engineFixture(options);
  await fixture.declare(widget(), gadget());
  const thread = new CountedThread();
  const common = {
    source: fixture.engine.source,
    log: silentLogger,
    tabs: [],
    ...(metrics === undefined ? {} : { metrics }),
  };
  const yoga = createYogaServer({ ...common, introspection: new IntrospectionAnswers(thread) });
  onTestFinished(async () => void (await yoga.dispose()));
  return { ...fixture, yoga, executor: createYogaServer({ ...common, introspection: null }), thread };
}

test('the answers to the documents of clients are those of the executor, byte for byte', async () => {
  const { yoga, executor, thread } = await world();
  for (const [who, document] of Object.entries(wholeSchemaDocuments)) {
    for (const method of [undefined, 'GET'] as const) {
      const sent: Sent = method === undefined ? {} : { method };
      const [answer, expected] = [await ask(yoga, document, sent), await ask(executor, document, sent)];
      expect(expected.status, who).toBe(200);
      expect(answer.bytes.equals(expected.bytes), who).toBe(true);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe(expected.headers.get('content-type'));
      expect(answer.headers.get('content-length')).toBe(String(expected.bytes.length));
    }
  }
  // POST and GET, with and without comments, are the same form, so the thread receives each form once.
  const forms = Object.values(wholeSchemaDocuments).map(({ query, operationName, variables }) =>
    JSON.stringify([print(parse(query)), operationName, variables]),
  );
  expect(thread.asked).toBe(new Set(forms).size);
  expect(thread.asked).toBeLessThan(forms.length);
  const { data } = JSON.parse((await ask(yoga, standard)).bytes.toString()) as { data: IntrospectionQuery };
  expect(printSchema(buildClientSchema(data))).toContain('type ExampleComWidget implements KubernetesObject');
});

test('other documents are executed, and start no thread', async () => {
  const { yoga, executor, thread } = await world();
  for (const [what, document] of Object.entries(otherDocuments)) {
    const [answer, expected] = [await ask(yoga, document), await ask(executor, document)];
    expect(answer.bytes.toString(), what).toBe(expected.bytes.toString());
    expect(answer.headers.get('vary'), what).toBeNull();
  }
  expect(thread.asked).toBe(0);
  expect(thread.isRunning).toBe(false);
});

/** The answer of the executor, and the number of questions to the thread. */
async function bothAnswers(world: World, document: IntrospectionDocument, sent: Sent = {}) {
  const { yoga, executor, thread } = world;
  const { asked } = thread;
  const withoutPings = (bytes: Buffer) => bytes.toString().replaceAll(/^:\n\n/gm, '');
  const [answer, expected] = [await ask(yoga, document, sent), await ask(executor, document, sent)];
  return {
    answer: [answer.status, withoutPings(answer.bytes)],
    expected: [expected.status, withoutPings(expected.bytes)],
    asked: thread.asked - asked,
  };
}

test.each(Object.entries(mixedDocuments))(
  '%s: the thread makes the introspection, the executor the data',
  async (what, document) => {
    const known = await world();
    for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream']) {
      const { answer, expected, asked } = await bothAnswers(known, document, { accept });
      expect(answer).toEqual(expected);
      expect(asked).toBeLessThan(2);
    }
    expect(known.thread.asked).toBe(what === 'variables that are refused' ? 0 : 1);
  },
);

test('all introspection as a stream of events is made by the thread', async () => {
  const known = await world();
  for (const [who, document] of Object.entries(wholeSchemaDocuments)) {
    const { answer, expected } = await bothAnswers(known, document, { accept: 'text/event-stream' });
    expect([who, answer[0], answer[1] === expected[1]]).toEqual([who, 200, true]);
  }
  expect(known.thread.asked).toBeGreaterThan(10);
});

test('other requests are answered while the introspection beside data is made', async () => {
  const { yoga, thread } = await world();
  const released = Promise.withResolvers<void>();
  thread.held = released.promise;
  const asking = ask(yoga, must(mixedDocuments['data after the schema'], 'a mixed document'));
  await expect.poll(() => thread.asked).toBe(1);
  expect((await ask(yoga, { query: '{ resources { key } }' })).status).toBe(200);
  released.resolve();
  expect((await asking).bytes.toString()).toContain('"types"');
});

test.each([
  ['as JSON', 'application/json', standard],
  ['as a stream of events', 'text/event-stream', standard],
  ['beside data', 'application/json', must(mixedDocuments['data after the schema'], 'a mixed document')],
  ['of a hundred types', 'application/json', must(wholeSchemaDocuments['a hundred types'], 'a document')],
])('introspection %s is charged to its caller by what it makes', async (_what, accept, document) => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  const yoga = createYogaServer({
    source: fixture.engine.source,
    log: silentLogger,
    authenticate: () => ({ ...localUser, user: userOf('dev') }),
    callerBounds: { requests: 10, costPerMinute: 100_000, subscriptions: 1, connections: 1, logs: 1, logBytes: 1e9 },
  });
  onTestFinished(async () => void (await yoga.dispose()));
  const texts: string[] = [];
  for (let turn = 0; turn < 200 && texts.at(-1)?.includes('TOO_MANY_REQUESTS') !== true; turn += 1) {
    texts.push((await ask(yoga, document, { accept })).bytes.toString());
  }
  expect(texts[0]).toContain('"data"');
  expect(texts.at(-1)).toContain('TOO_MANY_REQUESTS');
});

test('an answer has the encoding that the client prefers', async () => {
  const { yoga, executor } = await world();
  const { bytes: expected } = await ask(executor, standard);
  for (const [encoding, coding, decode] of [
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['gzip;q=0.5, br;q=0.1', 'gzip', gunzipSync],
    ['gzip, zstd', 'zstd', zstdDecompressSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['identity', null, (bytes: Buffer) => bytes],
    ['deflate', null, (bytes: Buffer) => bytes],
  ] as const) {
    const { bytes, headers } = await ask(yoga, standard, { encoding });
    expect(headers.get('content-encoding'), encoding).toBe(coding);
    expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
    expect(headers.get('content-length')).toBe(String(bytes.length));
    expect(decode(bytes).equals(expected), encoding).toBe(true);
    if (coding !== null) expect(bytes.length).toBeLessThan(expected.length / 5);
  }
});

test('an answer has the media type that the client accepts', async () => {
  const { yoga, executor, thread } = await world();
  for (const [accept, asked] of [
    ['application/graphql-response+json, application/json;q=0.9', 1],
    ['multipart/mixed;deferSpec=20220824,application/json', 1],
    ['text/event-stream', 2],
    ['multipart/mixed', 2],
  ] as const) {
    const [answer, expected] = [await ask(yoga, standard, { accept }), await ask(executor, standard, { accept })];
    expect(answer.headers.get('content-type'), accept).toBe(expected.headers.get('content-type'));
    const withoutPings = (bytes: Buffer) => bytes.toString().replaceAll(/^:\n\n/gm, '');
    expect(withoutPings(answer.bytes) === withoutPings(expected.bytes), accept).toBe(true);
    // The text is the same for both media types. Streams have the part as a result.
    expect(thread.asked, accept).toBe(asked);
  }
});

test('over a connection that is kept, those who accept different encodings get theirs, and closing ends the thread', async () => {
  const { engine, executor } = await world();
  const thread = new CountedThread();
  const { bytes: expected } = await ask(executor, standard);
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: engine.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
    introspection: new IntrospectionAnswers(thread),
  });
  onTestFinished(() => server.close());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const answers = ['br', 'gzip', 'identity', 'br'].map(async (encoding) => {
    const headers = { 'content-type': 'application/json', 'accept-encoding': encoding };
    const sent = request(server.url, { method: 'POST', agent, headers }).end(JSON.stringify(standard));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { coding: response.headers['content-encoding'], bytes: await buffer(response) };
  });
  const decoded = (await Promise.all(answers)).map(({ coding, bytes }) => {
    if (coding === 'br') return brotliDecompressSync(bytes);
    return coding === 'gzip' ? gunzipSync(bytes) : bytes;
  });
  expect(decoded.map((bytes) => bytes.equals(expected))).toEqual([true, true, true, true]);
  expect(thread.asked).toBe(3);
  await server.close();
  expect(thread.isRunning).toBe(false);
});

test('what breaks a limit is refused as ever, before the thread hears of it', async () => {
  const { yoga, executor, thread } = await world({ maxCost: 3 });
  const deep = `{ __schema { types { ${'ofType { '.repeat(31)} name ${'} '.repeat(31)} } } }`;
  const many = `{ ${Array.from({ length: 201 }, (_, i) => `a${i}: __schema { types { name } }`).join(' ')} }`;
  const long = `{ __schema { types { ${'name '.repeat(10_001)} } } }`;
  const unknown = '{ __schema { types { nothing } } }';
  for (const query of [standard.query, deep, many, long, unknown]) {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const [answer, expected] = [await ask(yoga, { query }, { accept }), await ask(executor, { query }, { accept })];
      expect([answer.status, answer.bytes.toString()]).toEqual([expected.status, expected.bytes.toString()]);
      expect(answer.bytes.toString()).toContain('"errors"');
    }
  }
  expect(thread.asked).toBe(0);
});

test('an execution that has errors is the executor’s', async () => {
  const { yoga, executor } = await world();
  const query = 'query ($args: Boolean!) { __schema { types { name fields @include(if: $args) { name } } } }';
  for (const variables of [{}, { args: 'yes' }, { args: null }]) {
    const [answer, expected] = [await ask(yoga, { query, variables }), await ask(executor, { query, variables })];
    expect([answer.status, answer.bytes.toString()]).toEqual([expected.status, expected.bytes.toString()]);
    expect(answer.bytes.toString()).toContain('BAD_USER_INPUT');
  }
});

test('an operation is counted once, with its duration, however it is answered', async () => {
  const counted: string[] = [];
  const operations: Pick<OperationMetrics, 'count' | 'took'> = {
    count: (type, code) => void counted.push(`${type} ${code}`),
    took: (type) => void counted.push(`${type} took`),
  };
  const { yoga, executor } = await world({}, { operations } as unknown as Metrics);
  for (const each of [yoga, executor, yoga]) {
    await ask(each, standard);
    expect(counted.splice(0)).toEqual(['query OK', 'query took']);
  }
});

test('those who ask at the same time share one run, and each encoding is made once', async () => {
  const { yoga, thread } = await world();
  const asking = Array.from({ length: 8 }, (_, i) => ask(yoga, standard, { encoding: i % 2 === 0 ? 'br' : 'gzip' }));
  const answers = await Promise.all(asking);
  expect(thread.asked).toBe(2);
  expect(new Set(answers.map(({ bytes }) => bytes.toString('base64'))).size).toBe(2);
  await ask(yoga, standard, { encoding: 'br' });
  expect(thread.asked).toBe(2);
});

test('other requests are answered while the text is made', async () => {
  const { yoga, thread } = await world();
  const released = Promise.withResolvers<void>();
  thread.held = released.promise;
  let answered = false;
  const asking = ask(yoga, standard).then(() => {
    answered = true;
  });
  await expect.poll(() => thread.asked).toBe(1);
  const { bytes } = await ask(yoga, { query: '{ resources { key } }' });
  expect(bytes.toString()).toContain('widgets.example.com');
  expect(answered).toBe(false);
  released.resolve();
  await asking;
});

test('an answer is of the generation that its operation began on, also when the schema is swapped meanwhile', async () => {
  const { yoga, executor, thread, declare } = await world();
  const before = await ask(executor, standard);
  const released = Promise.withResolvers<void>();
  thread.held = released.promise;
  const asking = ask(yoga, standard);
  await expect.poll(() => thread.asked).toBe(1);
  await declare(describedCrd({ kind: 'Late', plural: 'lates', properties: {} }), { ...gadget(), description: 'New.' });
  released.resolve();
  expect((await asking).bytes.equals(before.bytes)).toBe(true);
  const [answer, expected] = [await ask(yoga, standard), await ask(executor, standard)];
  expect(answer.bytes.equals(expected.bytes)).toBe(true);
  expect(answer.bytes.equals(before.bytes)).toBe(false);
  expect(thread.asked).toBe(2);
});
