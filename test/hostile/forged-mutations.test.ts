/**
 * A page, a form or a forged name never gets a mutation executed, over any door, at a gateway that needs no credentials: the demo world's.
 * A mutation that is sent in the right way is executed each time, once: it is no prepared and no kept answer. A proxy before the API
 * server counts what arrives.
 */
import { type IncomingMessage, request as send } from 'node:http';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { silentLogger } from '../../src/base/log.ts';
import { type Gateway, startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';

import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';

let cluster: SimCluster;
let proxy: LoopbackServer;
let folder: KubeconfigFolder;
let gateway: Gateway;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  proxy = await startRecordingProxy({ url: cluster.url });
  folder = kubeconfigFolder();
  const kubeconfig = folder.write({ server: proxy.url }, {}, 'demo');
  const config = loadConfig({ flags: { port: '0', logLevel: 'silent' }, environment: {} });
  gateway = await startGateway(config, [{ name: 'demo', kubeconfig }], silentLogger, { isDemo: true });
  await gateway.synced;
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  await proxy?.close();
  await cluster?.close();
  folder?.remove();
});

const yaml = 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: forged, namespace: default }\\n';
const mutation = `mutation { create(docs: [{ yaml: "${yaml}" }]) { complete } }`;
const body = JSON.stringify({ query: mutation });

/** Requests at the API server that would change something, dry runs among them. */
const writes = (): number => proxy.requests.filter(({ method }) => method !== 'GET').length;

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Received {
  readonly status: number;
  readonly text: string;
}

/** Sends exactly these headers. Resolves when the headers of the answer are there. */
function opened({ method = 'POST', path = '/graphql', headers = {}, body: text = '' }: Sent): Promise<IncomingMessage> {
  const { hostname, port, host } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const request = send({ hostname, port, method, path, headers: { host, ...headers } }, resolve);
    request.on('error', reject);
    request.end(text);
  });
}

async function sent(request: Sent): Promise<Received> {
  return received(await opened(request));
}

/** An event stream is read until an operation is complete. */
async function received(response: IncomingMessage): Promise<Received> {
  let text = '';
  for await (const part of response.setEncoding('utf8')) {
    text += part;
    if (text.includes('event: complete')) break;
  }
  return { status: response.statusCode ?? 0, text };
}

const json = { 'content-type': 'application/json', accept: 'application/json' };
const events = { 'content-type': 'application/json', accept: 'text/event-stream' };
const inQuery = `/graphql?query=${encodeURIComponent(mutation)}`;
const boundary = 'forged';
const multipart = [
  ...[`--${boundary}`, 'content-disposition: form-data; name="operations"', '', body],
  ...[`--${boundary}`, 'content-disposition: form-data; name="map"', '', '{}', `--${boundary}--`, ''],
].join('\r\n');

describe('nothing is executed', () => {
  test.each<[what: string, request: Sent]>([
    ['a GET', { method: 'GET', path: inQuery, headers: { accept: 'application/json' } }],
    ['a GET of a script', { method: 'GET', path: inQuery, headers: { ...json, 'apollo-require-preflight': '1' } }],
    ['a GET with a token', { method: 'GET', path: inQuery, headers: { ...json, authorization: 'Bearer x' } }],
    ['a GET of an event stream', { method: 'GET', path: inQuery, headers: { accept: 'text/event-stream' } }],
    ['a GET of a page', { method: 'GET', path: inQuery, headers: { accept: 'text/html' } }],
    ['a HEAD', { method: 'HEAD', path: inQuery, headers: { accept: 'application/json' } }],
    ['a GET that wants to be a POST', { method: 'GET', path: inQuery, headers: { ...json, 'x-http-method': 'POST' } }],
    ['plain text', { headers: { 'content-type': 'text/plain' }, body }],
    ['plain text with JSON as a parameter', { headers: { 'content-type': 'text/plain; application/json' }, body }],
    [
      'a form',
      {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `query=${encodeURIComponent(mutation)}`,
      },
    ],
    ['a form for files', { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body: multipart }],
    ['a body without a type', { body }],
    ['a body of another type in an event stream', { headers: { ...events, 'content-type': 'text/plain' }, body }],
    ['a form with the mutation in the URL', { path: inQuery, headers: { 'content-type': 'text/plain' }, body: ' ' }],
    ['a page of another site', { headers: { ...json, origin: 'https://evil.example' }, body }],
    ['a page of another port', { headers: { ...json, origin: 'http://127.0.0.1:1' }, body }],
    ['a page without an origin', { headers: { ...json, origin: 'null' }, body }],
    ['a page of another site, by Sec-Fetch-Site', { headers: { ...json, 'sec-fetch-site': 'cross-site' }, body }],
    ['an event stream of another site', { headers: { ...events, origin: 'https://evil.example' }, body }],
    ['a forged name', { headers: { ...json, host: 'evil.example' }, body }],
    [
      'a forged name with its own page',
      { headers: { ...json, host: 'evil.example', origin: 'http://evil.example' }, body },
    ],
    ['an event stream by a forged name', { headers: { ...events, host: 'evil.example' }, body }],
  ])('of %s', async (_what, request) => {
    const before = writes();
    const { text } = await sent(request);
    expect(text).not.toContain('"complete":true');
    expect(writes()).toBe(before);
  });

  test.each<[what: string, headers: Readonly<Record<string, string>>]>([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['a forged name', { host: 'evil.example' }],
  ])('over a WebSocket of %s', async (_what, headers) => {
    const socket = new WebSocket(gateway.url.replace(/^http/, 'ws'), 'graphql-transport-ws', { headers });
    const end = await new Promise<string>((resolve) => {
      socket.on('open', () => resolve('open'));
      socket.on('error', ({ message }) => resolve(message));
    });
    expect(end).toBe('Unexpected server response: 403');
  });
});

describe('each is executed once', () => {
  /** The answer to the first one tells of the object, to the others that it exists. A kept answer would send nothing. */
  async function executes(answer: () => Promise<string>): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      const before = writes();
      expect(await answer()).toMatch(/"complete":(true|false)/);
      expect(writes()).toBe(before + 1);
    }
  }

  test('over HTTP', () => executes(async () => (await sent({ headers: json, body })).text));

  test('over an event stream', () => executes(async () => (await sent({ headers: events, body })).text));

  test('over a WebSocket', () =>
    executes(
      () =>
        new Promise((resolve, reject) => {
          const url = gateway.url.replace(/^http/, 'ws');
          const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
          client.subscribe(
            { query: mutation },
            {
              next(answer) {
                resolve(JSON.stringify(answer));
                void client.dispose();
              },
              error: reject,
              complete() {},
            },
          );
        }),
    ));

  test('but a mutation is no live query', async () => {
    const before = writes();
    const live = JSON.stringify({ query: mutation.replace('mutation', 'mutation @live') });
    const { text } = await sent({ headers: events, body: live });
    expect(text).toContain('"errors"');
    expect(writes()).toBe(before);
  });
});

test('a stream in single connection mode executes what its own client sends as JSON, and nothing else', async () => {
  const foreign = await sent({ method: 'PUT', headers: { origin: 'https://evil.example' } });
  expect(foreign.status).toBe(403);
  const { text: token } = await sent({ method: 'PUT' });
  const stream = await opened({ method: 'GET', path: `/graphql?token=${token}`, headers: { accept: events.accept } });
  const operation = JSON.stringify({ query: mutation, extensions: { operationId: '1' } });
  const withToken = { 'x-graphql-event-stream-token': token };
  const before = writes();
  for (const request of [
    { headers: { ...withToken, 'content-type': 'text/plain' }, body: operation },
    { headers: { ...withToken, ...json, origin: 'https://evil.example' }, body: operation },
    { headers: { ...withToken, ...json, host: 'evil.example' }, body: operation },
    { headers: { ...json, 'x-graphql-event-stream-token': 'another' }, body: operation },
    { path: `/graphql?token=${token}`, headers: { 'content-type': 'text/plain' }, body: operation },
    { method: 'GET', path: `${inQuery}&token=${token}`, headers: { accept: 'application/json' } },
  ]) {
    expect((await sent(request)).status).toBeGreaterThanOrEqual(400);
  }
  expect(writes()).toBe(before);
  expect((await sent({ headers: { ...withToken, ...json }, body: operation })).status).toBe(202);
  expect((await received(stream)).text).toMatch(/"complete":(true|false)/);
  expect(writes()).toBe(before + 1);
});
