/** The data of Secrets is fetched as the caller, on simulated clusters behind servers that record their requests. */
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { type LoopbackServer, sendStatus } from '../kit/loopback-server.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import {
  encoded,
  type Manifest,
  secretManifest,
  secretsNamespace,
  secretText,
  secretWorld,
} from '../kit/secret-rights.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const gatewayToken = 'token-of-the-gateway';
const users = [
  { token: gatewayToken, user: 'gateway', groups: ['system:masters'] },
  ...['alice', 'bob', 'carol'].map((user) => ({ token: `token-of-${user}`, user, groups: [] })),
];

let east: SimCluster;
let west: SimCluster;
let toEast: LoopbackServer;
let toWest: LoopbackServer;
let gateway: GatewayProcess;
const folder = kubeconfigFolder();
const data = join(sharedDirectory('secret-data'), 'portolan.db');

async function apply(sim: SimCluster, { path, body }: Manifest): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gatewayToken}` };
  const response = await fetch(`${sim.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

const oneSecret = /\/secrets\/[^/?]+$/;
let inFlight = 0;
let mostInFlight = 0;

/** Names of Secrets that the API server fails for. */
const broken = /\/secrets\/(broken|gone|rejected)$/;

beforeAll(async () => {
  [east, west] = await Promise.all([
    startSimCluster({ features: { users } }),
    startSimCluster({ features: { users } }),
  ]);
  for (const sim of [east, west]) for (const manifest of secretWorld) await apply(sim, manifest);
  for (const name of ['broken', 'gone', 'rejected']) await apply(east, secretManifest(name));
  toEast = await startRecordingProxy({ url: east.url }, ({ url }, response) => {
    if (oneSecret.test(url ?? '')) {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      response.once('close', () => {
        inFlight -= 1;
      });
    }
    const [, name] = broken.exec(url ?? '') ?? [];
    if (name === 'broken') sendStatus(response, 500, 'InternalError', 'no');
    if (name === 'rejected') sendStatus(response, 401, 'Unauthorized', 'no');
    if (name === 'gone') sendStatus(response, 404, 'NotFound', 'no');
    return name !== undefined;
  });
  toWest = await startRecordingProxy({ url: west.url });
  const contexts = { east: toEast.url, west: toWest.url };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: Object.entries(contexts).map(([name, server]) => ({ name, cluster: { server } })),
    users: [{ name: 'gateway', user: { token: gatewayToken } }],
    contexts: Object.keys(contexts).map((name) => ({ name, context: { cluster: name, user: 'gateway' } })),
  };
  gateway = await startGatewayProcess([
    ...['--kubeconfig', folder.file('config', JSON.stringify(config)), '--context', 'east', '--context', 'west'],
    ...['--auth', 'token', '--auth-cluster', 'east', '--same-users', '--secret-data', 'live', '--log-level', 'debug'],
    ...['--kinds', 'secrets', '--kinds', 'namespaces', '--data', data],
  ]);
  await eventually(async () => {
    const { data: found } = await askAs('carol', '{ secrets { totalCount } }');
    expect(found).toEqual({ secrets: { totalCount: 7 } });
  });
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  await Promise.all([toEast?.close(), toWest?.close()]);
  await Promise.all([east?.close(), west?.close()]);
  folder.remove();
}, 60_000);

async function askAs(user: string, query: string): Promise<Answer> {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer token-of-${user}` },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Answer;
}

/** The requests for single Secrets since the last call. */
function secretReads({ requests }: LoopbackServer): () => readonly string[] {
  let seen = requests.length;
  const text = ({ url, headers }: IncomingMessage): string => `${headers.authorization} ${url?.split('/').at(-1)}`;
  return () => {
    const reads = requests.slice(seen).filter(({ url = '' }) => oneSecret.test(url));
    seen = requests.length;
    return reads.map(text).sort();
  };
}

const one = (name: string, cluster = 'east'): string =>
  `secret(cluster: "${cluster}", namespace: "${secretsNamespace}", name: "${name}")`;
const password = (name: string) => ({ data: { password: encoded(secretText(name)) } });

test('a caller gets the data of the Secret that the API server gives the caller, and of no other', async () => {
  const reads = secretReads(toEast);
  expect(await askAs('alice', `{ ${one('own')} { data stringData raw } }`)).toMatchObject({
    data: { secret: { ...password('own'), stringData: null, raw: { type: 'Opaque' } } },
  });
  expect(reads()).toEqual(['Bearer token-of-alice own']);
  const other = await askAs('alice', `{ ${one('other')} { data } }`);
  expect(other.data?.['secret'] ?? null).toBeNull();
  expect(reads()).toEqual([]);
});

test('only typed data has it: raw, yaml, value, columns and filters do not', async () => {
  const fields = 'raw yaml columns { value } value(path: "data") redacted';
  const answer = await askAs(
    'carol',
    `{ ${one('own')} { ${fields} } secrets(filter: { path: [{ path: "data['password']", exists: true }] }) { totalCount } }`,
  );
  expect(answer.errors).toBeUndefined();
  expect(JSON.stringify(answer)).not.toContain(encoded(secretText('own')));
  expect(answer.data).toMatchObject({
    secret: { value: null, redacted: ['data', 'stringData'] },
    secrets: { totalCount: 0 },
  });
});

test('a refusal is FORBIDDEN at the data, and the rest of the answer stands', async () => {
  const filter = `filter: { clusters: ["east"], metadata: { name: { in: ["own", "other"] } } }`;
  const answer = await askAs('bob', `{ secrets(${filter}) { totalCount nodes { metadata { name } data } } }`);
  expect(answer.data).toEqual({
    secrets: {
      totalCount: 2,
      nodes: ['other', 'own'].map((name) => ({ metadata: { name }, data: null })),
    },
  });
  // Errors come in the order in which the API server refuses.
  const refused = [...(answer.errors ?? [])].sort((a, b) => String(a.path).localeCompare(String(b.path)));
  expect(refused).toEqual(
    [0, 1].map((index) => ({
      message: expect.stringContaining('"bob" cannot get resource "secrets"'),
      path: ['secrets', 'nodes', index, 'data'],
      extensions: expect.objectContaining({ code: 'FORBIDDEN' }),
      locations: expect.anything(),
    })),
  );
});

test('a Secret that is gone has null, and a failure of the API server is UPSTREAM_UNAVAILABLE', async () => {
  const answer = await askAs(
    'carol',
    `{ gone: ${one('gone')} { data } broken: ${one('broken')} { data } rejected: ${one('rejected')} { data } ${one('own')} { data } }`,
  );
  expect(answer.data).toEqual({
    gone: { data: null },
    broken: { data: null },
    rejected: { data: null },
    secret: password('own'),
  });
  expect(answer.errors?.map(({ path, extensions }) => [path, extensions?.['code']]).toSorted()).toEqual([
    [['broken', 'data'], 'UPSTREAM_UNAVAILABLE'],
    [['rejected', 'data'], 'UPSTREAM_UNAVAILABLE'],
  ]);
});

test('the fields of an operation share a request, and a further operation sends its own', async () => {
  const reads = secretReads(toEast);
  const list = `secrets(filter: { clusters: ["east"], metadata: { name: { eq: "own" } } }) { nodes { data } }`;
  for (let round = 0; round < 2; round += 1) {
    const answer = await askAs('carol', `{ a: ${one('own')} { data again: data } ${one('own')} { data } ${list} }`);
    expect(answer.data).toMatchObject({ a: { again: password('own').data }, secrets: { nodes: [password('own')] } });
    expect(reads()).toEqual(['Bearer token-of-carol own']);
  }
});

test('the token does not reach another cluster than its own', async () => {
  const reads = secretReads(toWest);
  const answer = await askAs('carol', `{ ${one('own', 'west')} { cluster data } }`);
  expect(answer.data).toEqual({ secret: { cluster: 'west', data: null } });
  expect(answer.errors).toEqual([
    expect.objectContaining({
      message: expect.stringContaining('not sent to west'),
      path: ['secret', 'data'],
      extensions: { code: 'FORBIDDEN' },
    }),
  ]);
  expect(reads()).toEqual([]);
  const sent = new Set(toWest.requests.map(({ headers }) => headers.authorization));
  expect([...sent]).toEqual([`Bearer ${gatewayToken}`]);
});

test('an operation fetches the data of at most 100 Secrets, 8 at a time', async () => {
  const names = Array.from({ length: 103 }, (_, index) => `many-${String(index).padStart(3, '0')}`);
  for (const name of names) await apply(east, secretManifest(name));
  const filter = `filter: { clusters: ["east"], metadata: { name: { startsWith: "many-" } } }`;
  await eventually(async () => {
    expect((await askAs('carol', `{ secrets(${filter}) { totalCount } }`)).data).toEqual({
      secrets: { totalCount: 103 },
    });
  });
  const reads = secretReads(toEast);
  const answer = await askAs('carol', `{ secrets(${filter}, first: 200) { nodes { data } } }`);
  expect(reads()).toHaveLength(100);
  expect(mostInFlight).toBe(8);
  expect(answer.errors).toMatchObject([
    {
      message: expect.stringContaining('at most 100 Secrets'),
      extensions: { code: 'QUERY_TOO_COSTLY', leftOut: 2 },
    },
  ]);
});

test('a Secret of the past has no data, and no request is sent for it', async () => {
  const reads = secretReads(toEast);
  const changes = `changes(since: "-10m", kinds: ["Secret"], clusters: ["east"], first: 3)`;
  const answer = await askAs(
    'carol',
    `{ ${changes} { nodes { type object { raw ... on Secret { data stringData } } } } }`,
  );
  expect(answer.errors).toBeUndefined();
  const object = { raw: expect.anything(), data: null, stringData: null };
  expect(answer.data).toEqual({ changes: { nodes: [0, 1, 2].map(() => ({ type: 'ADDED', object })) } });
  expect(reads()).toEqual([]);
});

test('over WebSocket, a query has the data, and a subscription an error that says to query it', async () => {
  const client = createClient({
    url: gateway.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: 'Bearer token-of-carol' },
  });
  const first = async (query: string): Promise<unknown> => {
    for await (const message of client.iterate({ query })) return message;
    return null;
  };
  expect(await first(`{ ${one('own')} { data } }`)).toMatchObject({ data: { secret: password('own') } });
  const filter = `filter: { clusters: ["east"], metadata: { name: { eq: "own" } } }`;
  const message = await first(
    `subscription { secretChanges(${filter}) { changes { object { metadata { name } data } } } }`,
  );
  expect(message).toMatchObject({
    data: { secretChanges: { changes: [{ object: { metadata: { name: 'own' }, data: null } }] } },
    errors: [{ message: expect.stringContaining('query secret('), extensions: { code: 'BAD_USER_INPUT' } }],
  });
  await client.dispose();
});

test('the data is in no file of the gateway and in no line of its log', async () => {
  await askAs('carol', `{ ${one('own')} { data } }`);
  const files = readdirSync(dirname(data)).map((name) => readFileSync(join(dirname(data), name)));
  expect(files.length).toBeGreaterThan(1);
  for (const hidden of [secretText('own'), encoded(secretText('own')), 'token-of-carol']) {
    for (const bytes of files) expect(bytes.includes(hidden)).toBe(false);
    expect(gateway.log.some((entry) => JSON.stringify(entry).includes(hidden))).toBe(false);
  }
  expect(files.some((bytes) => bytes.includes('many-000'))).toBe(true);
  expect(gateway.log.length).toBeGreaterThan(0);
});

test('a gateway without authentication does not start with --secret-data live', async () => {
  const args = ['--kubeconfig', join(folder.dir, 'config'), '--context', 'east', '--secret-data', 'live'];
  await expect(startGatewayProcess(args)).rejects.toThrow('needs --auth');
  await expect(startGatewayProcess([...args, '--auth', 'none'])).rejects.toThrow('needs --auth');
});
