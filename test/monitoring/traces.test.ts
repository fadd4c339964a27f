/** Traces of a gateway in a process of its own, over a simulated cluster behind a server that records its requests. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { type LoopbackServer, sendStatus } from '../kit/loopback-server.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../kit/otlp-receiver.ts';
import { sourceProgram } from '../kit/programs.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import { encoded, secretManifest, secretRight, secretsNamespace, secretText } from '../kit/secret-rights.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const gatewayToken = 'token-of-the-gateway';
const users = [
  { token: gatewayToken, user: 'gateway', groups: ['system:masters'] },
  ...['alice', 'bob', 'carol', 'dave', 'erin'].map((user) => ({ token: `token-of-${user}`, user, groups: [] })),
];
const remoteSpan = '00f067aa0ba902b7';

let sim: SimCluster;
let server: LoopbackServer;
let receiver: OtlpReceiver;
let gateway: GatewayProcess;
let flags: readonly string[];
const folder = kubeconfigFolder();
const auditLog = join(sharedDirectory('traces'), 'audit.jsonl');

beforeAll(async () => {
  [sim, receiver] = await Promise.all([startSimCluster({ features: { users } }), startOtlpReceiver()]);
  const world = [
    { path: '/api/v1/namespaces', body: { metadata: { name: secretsNamespace } } },
    ...['own', 'broken', 'slow'].map(secretManifest),
    ...['alice', 'carol', 'dave', 'erin'].flatMap((user) => secretRight(user, ['get', 'list', 'watch'])),
  ];
  for (const { path, body } of world) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${gatewayToken}` };
    const response = await fetch(`${sim.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(201);
  }
  server = await startRecordingProxy({ url: sim.url }, ({ url = '' }, response) => {
    const fail = (): void => sendStatus(response, 500, 'InternalError', 'no');
    if (url.endsWith('/secrets/broken')) fail();
    else if (url.endsWith('/secrets/slow')) setTimeout(fail, 1200);
    else return false;
    return true;
  });
  flags = [
    ...['--kubeconfig', folder.write({ server: server.url }, { token: gatewayToken }, 'east')],
    ...['--auth', 'token', '--secret-data', 'live', '--kinds', 'secrets,namespaces', '--audit-log', auditLog],
    ...['--slow-query-ms', '1000'],
  ];
  gateway = await startTraced({});
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  await Promise.all([server?.close(), receiver?.close()]);
  await sim?.close();
  folder.remove();
}, 60_000);

/** A gateway that exports to the receiver, and has synced. */
async function startTraced(environment: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const started = await startGatewayProcess(flags, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...environment,
  });
  await eventually(async () => {
    expect(await ask('carol', '{ secrets { totalCount } }', {}, started)).toMatchObject({ secrets: { totalCount: 3 } });
  });
  return started;
}

async function ask(
  user: string,
  query: string,
  { id: _, ...headers }: Readonly<Record<string, string>>,
  { url }: Pick<GatewayProcess, 'url'> = gateway,
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer token-of-${user}`, ...headers },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { readonly data?: unknown }).data;
}

let traces = 0;
function newTrace(flag = '01'): { readonly id: string; readonly traceparent: string } {
  traces += 1;
  const id = `4bf92f3577b34da6a3ce929d0e0e${String(traces).padStart(4, '0')}`;
  return { id, traceparent: `00-${id}-${remoteSpan}-${flag}` };
}

/** The spans of a trace, once that of the request has come, which ends last. */
async function spansOf(id: string): Promise<readonly ReceivedSpan[]> {
  const found = (): readonly ReceivedSpan[] => receiver.spans.filter(({ traceId }) => traceId === id);
  await eventually(() => expect(found().some(({ parentSpanId }) => parentSpanId === remoteSpan)).toBe(true));
  return found();
}

const pathsOf = (spans: readonly ReceivedSpan[]): readonly string[] =>
  spans.map((span) => receiver.pathOf(span).join(' > ')).sort();

const ownSecret = `secret(namespace: "${secretsNamespace}", name: "own")`;
const secretPath = '/api/v1/namespaces/{namespace}/secrets/{name}';
const reviewPath = '/apis/authentication.k8s.io/v1/tokenreviews';

/** The headers of the requests to the API server with this trace, by their paths. */
function continued(id: string): ReadonlyMap<string, string> {
  const sent = server.requests.filter(({ headers }) => String(headers['traceparent']).includes(id));
  return new Map(sent.map(({ url = '', headers }) => [url, String(headers['traceparent'])]));
}

test('one trace goes from the client through the operation, its lease and statement to the API server', async () => {
  const { id, traceparent } = newTrace();
  const headers = { traceparent, tracestate: 'vendor=1', baggage: 'team=shop' };
  const answer = await ask('alice', `query Own { ${ownSecret} { data } }`, headers);
  expect(answer).toEqual({ secret: { data: { password: encoded(secretText('own')) } } });
  const spans = await spansOf(id);
  const paths = pathsOf(spans);
  expect(paths).toEqual(
    expect.arrayContaining(['query', `query > POST ${reviewPath}`, 'query > lease', 'query > lease > SELECT']),
  );
  expect(paths).toContain(`query > GET ${secretPath}`);
  const operation = must(
    spans.find(({ name }) => name === 'query'),
    'the operation',
  );
  expect(operation).toMatchObject({ kind: 2, failed: false, parentSpanId: remoteSpan });
  expect(operation.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/graphql',
    'http.response.status_code': 200,
    'network.protocol.name': 'http',
    'graphql.operation.type': 'query',
    'graphql.operation.name': 'Own',
  });
  expect(operation.resource).toMatchObject({
    'service.name': 'portolan',
    'deployment.environment.name': 'test',
  });
  const read = must(
    spans.find(({ name }) => name === `GET ${secretPath}`),
    'the request for the Secret',
  );
  expect(read).toMatchObject({ kind: 3, failed: false });
  expect(read.attributes).toEqual({
    'http.request.method': 'GET',
    'url.template': secretPath,
    'server.address': '127.0.0.1',
    'server.port': server.port,
    'k8s.cluster.name': 'test',
    'http.response.status_code': 200,
  });
  const sent = continued(id);
  expect(sent.get(`/api/v1/namespaces/${secretsNamespace}/secrets/own`)).toBe(`00-${id}-${read.spanId}-01`);
  expect([...sent.keys()]).toContain(reviewPath);
  const [request] = server.requests.filter(({ headers: { traceparent: given } }) => given?.includes(read.spanId));
  expect(request?.headers).toMatchObject({ tracestate: 'vendor=1', baggage: 'team=shop' });
});

test('a prepared answer has the same spans, with the plan and without its values', async () => {
  const query =
    'query Named { secrets(filter: { metadata: { name: { eq: "own" } } }) { nodes { metadata { name } } } }';
  // The first answer plans; the second one is read on the serving thread.
  for (const round of ['planned', 'known']) {
    const { id, traceparent } = newTrace();
    expect(await ask('carol', query, { traceparent }), round).toEqual({
      secrets: { nodes: [{ metadata: { name: 'own' } }] },
    });
    const spans = await spansOf(id);
    expect(pathsOf(spans)).toEqual(
      expect.arrayContaining(['query', 'query > lease', 'query > lease > SELECT secrets']),
    );
    const statements = spans.filter(({ name }) => name === 'SELECT secrets').map(({ attributes }) => attributes);
    expect(statements).toContainEqual({
      'db.system.name': 'sqlite',
      'db.operation.name': 'SELECT',
      'portolan.field': 'secrets',
      'portolan.kind': 'secrets',
      'portolan.plan.filter': 'metadata.name eq',
      'portolan.plan.order_by': expect.any(String),
      'portolan.plan.route': 'path',
      'db.response.returned_rows': 1,
    });
    expect(spans.find(({ name }) => name === 'query')?.attributes).toMatchObject({ 'graphql.operation.name': 'Named' });
  }
});

test('reviews of rights are parts of the operation that caused them', async () => {
  const { id, traceparent } = newTrace();
  await ask('bob', '{ namespaces { totalCount } }', { traceparent });
  const paths = pathsOf(await spansOf(id));
  expect(paths).toContain('query > POST /apis/authorization.k8s.io/v1/subjectaccessreviews');
});

test('failures mark their spans, by code alone', async () => {
  const { id, traceparent } = newTrace();
  await ask('carol', `{ secret(namespace: "${secretsNamespace}", name: "broken") { data } }`, { traceparent });
  const spans = await spansOf(id);
  expect(spans.filter(({ failed }) => failed).map(({ name, attributes }) => [name, attributes['error.type']])).toEqual(
    expect.arrayContaining([
      [`GET ${secretPath}`, '500'],
      ['query', 'UPSTREAM_UNAVAILABLE'],
    ]),
  );
  for (const query of ['{ nothing }', '{ secrets(']) {
    const wrong = newTrace();
    await ask('carol', query, { traceparent: wrong.traceparent });
    const [span] = await spansOf(wrong.id);
    expect(span).toMatchObject({ failed: true, attributes: { 'error.type': expect.stringContaining('GRAPHQL_') } });
  }
  const refused = newTrace();
  await ask('nobody', '{ secrets { totalCount } }', { traceparent: refused.traceparent });
  expect((await spansOf(refused.id)).find(({ kind }) => kind === 2)).toMatchObject({
    failed: true,
    attributes: { 'error.type': 'UNAUTHENTICATED', 'http.response.status_code': 401 },
  });
});

test('no span has a name of an object, a value of a filter or the data of a Secret', async () => {
  const { id, traceparent } = newTrace();
  await ask('dave', `{ ${ownSecret} { data } }`, { traceparent });
  await spansOf(id);
  const told = JSON.stringify(receiver.spans);
  for (const hidden of [
    secretsNamespace,
    '"own"',
    'broken',
    secretText('own'),
    encoded(secretText('own')),
    'token-of',
  ]) {
    expect(told).not.toContain(hidden);
  }
});

test('the log of slow queries and the audit log name the trace', async () => {
  const [slow, denied] = [newTrace(), newTrace()];
  await ask('carol', `{ secret(namespace: "${secretsNamespace}", name: "slow") { data } }`, slow);
  await ask('bob', '{ secrets { nodes { id } } }', denied);
  await eventually(() => {
    expect(gateway.log).toContainEqual(expect.objectContaining({ msg: 'a slow query', traceId: slow.id }));
    expect(readFileSync(auditLog, 'utf8')).toContain(`"traceId":"${denied.id}"`);
  });
});

test('over WebSocket, extensions name the trace of an operation, and the payload of the connection that of all', async () => {
  const [connection, query, subscription] = [newTrace(), newTrace(), newTrace()];
  const client = createClient({
    url: gateway.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: 'Bearer token-of-erin', traceparent: connection.traceparent },
    retryAttempts: 0,
  });
  onTestFinished(() => void client.dispose());
  const first = async (text: string, extensions: Record<string, unknown>): Promise<unknown> => {
    const results = client.iterate({ query: text, extensions });
    const { value } = await results.next();
    // A second message has no spans, and the first one has ended the span although the subscription goes on.
    onTestFinished(() => void results.return?.());
    return value;
  };
  expect(await first(`query Own { ${ownSecret} { data } }`, { traceparent: query.traceparent })).toMatchObject({
    data: { secret: { data: expect.anything() } },
  });
  expect(pathsOf(await spansOf(query.id))).toEqual(
    expect.arrayContaining(['query', 'query > lease', 'query > lease > SELECT', `query > GET ${secretPath}`]),
  );
  await first('subscription Watched { secretChanges { phase } }', { traceparent: subscription.traceparent });
  const spans = await spansOf(subscription.id);
  expect(pathsOf(spans)).toEqual(expect.arrayContaining(['subscription']));
  expect(spans.find(({ kind }) => kind === 2)?.attributes).toMatchObject({
    'graphql.operation.type': 'subscription',
    'graphql.operation.name': 'Watched',
    'network.protocol.name': 'websocket',
  });
  await first('{ secrets { totalCount } }', {});
  await eventually(() => {
    expect(pathsOf(receiver.spans.filter(({ traceId }) => traceId === connection.id))).toEqual(
      expect.arrayContaining(['connection_init', `connection_init > POST ${reviewPath}`, 'query']),
    );
  });
});

test('a trace that is not sampled is passed on, and not exported', async () => {
  const { id, traceparent } = newTrace('00');
  await ask('carol', `{ ${ownSecret} { data } }`, { traceparent });
  const sampled = newTrace();
  await ask('carol', '{ secrets { totalCount } }', { traceparent: sampled.traceparent });
  await spansOf(sampled.id);
  expect(receiver.spans.filter(({ traceId }) => traceId === id)).toEqual([]);
  const sent = [...continued(id).values()];
  expect(sent.length).toBeGreaterThan(0);
  for (const each of sent) expect(each).toMatch(/-00$/);
});

test('a shutdown exports what is left', async () => {
  const { id, traceparent } = newTrace();
  const other = await startTraced({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
  await ask('carol', '{ secrets { totalCount } }', { traceparent }, other);
  expect(receiver.spans.filter(({ traceId }) => traceId === id)).toEqual([]);
  await other.close();
  expect(receiver.spans.filter(({ traceId }) => traceId === id).map(({ name }) => name)).toContain('query');
}, 30_000);

test('the protocol and the headers of an export are those of the variables', async () => {
  const other = await startTraced({
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop',
  });
  await other.close();
  const types = receiver.requests
    .filter(({ headers }) => headers['x-tenant'] === 'shop')
    .map(({ url, headers }) => `${url} ${headers['content-type']}`);
  expect([...new Set(types)]).toEqual(['/v1/traces application/x-protobuf']);
}, 30_000);

test('a collector that is down costs one warning, and no answer', async () => {
  const other = await startTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_TRACES_SAMPLER: 'parentbased_half',
  });
  const warnings = (): readonly unknown[] =>
    other.log.filter(({ level, msg }) => level === 40 && msg.includes('traces'));
  await eventually(() => expect(warnings()).toHaveLength(1));
  for (let round = 0; round < 20; round += 1) {
    expect(await ask('carol', '{ secrets { totalCount } }', {}, other)).toEqual({ secrets: { totalCount: 3 } });
  }
  await other.close();
  expect(warnings()).toHaveLength(1);
  expect(other.log).toContainEqual(
    expect.objectContaining({ msg: expect.stringContaining('OTEL_TRACES_SAMPLER is "parentbased_half"') }),
  );
}, 30_000);

test('without the variable, the SDK is not loaded and nothing is passed on', async () => {
  const dir = sharedDirectory('traces-modules');
  const loaded = async (environment: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const list = join(dir, `modules-${Object.keys(environment).length}`);
    const hook = join(dir, 'hook.mjs');
    writeFileSync(
      hook,
      `import { appendFileSync } from 'node:fs';
       import { registerHooks } from 'node:module';
       registerHooks({ resolve(specifier, context, next) {
         const found = next(specifier, context);
         appendFileSync(process.env.MODULE_LIST, found.url + '\\n');
         return found;
       } });`,
    );
    const variables = { NODE_OPTIONS: `--import ${hook}`, MODULE_LIST: list, ...environment };
    const started = await startGatewayProcess(flags, variables, sourceProgram);
    const { id, traceparent } = newTrace();
    await eventually(async () => {
      expect(await ask('carol', `{ ${ownSecret} { data } }`, { traceparent }, started)).toMatchObject({ secret: {} });
    });
    expect(continued(id).size > 0).toBe('OTEL_EXPORTER_OTLP_ENDPOINT' in environment);
    await started.close();
    expect(existsSync(list)).toBe(true);
    return readFileSync(list, 'utf8')
      .split('\n')
      .filter((url) => url.includes('/@opentelemetry/') && !url.includes('/@opentelemetry/api/'));
  };
  expect(await loaded({})).toEqual([]);
  expect((await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).length).toBeGreaterThan(10);
}, 60_000);
