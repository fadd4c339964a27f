/** Answers by Yoga, prepared ones and those of other paths, as clients with different `accept-encoding` receive them. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { silentLogger } from '../../base/log.ts';
import { type RunningServer, startServer } from '../http-server.ts';
import { encodeBody, isCompressible, leastBytes } from './compression.ts';

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

async function send(
  { port }: RunningServer,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  const length = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/graphql',
    agent: false,
    headers: { ...length, ...headers },
  });
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(
    widgets,
    Array.from({ length: 100 }, (_, number) =>
      made({ name: `w${String(number).padStart(3, '0')}`, spec: { name: `a name with an é, number ${number}` } }),
    ),
  );
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    readiness: () => ({
      ready: false,
      failing: Array.from({ length: 100 }, (_, n) => ({ resource: `r${n}`, error: 'cannot be listed' })),
    }),
    tabs: [],
    pages: fixture.pages,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  return server;
}

const prepared = '{ exampleComWidgets(first: 100) { nodes { id metadata { name } spec { name } } } }';
const executed = prepared.replace('nodes', 'totalCount nodes');

describe.each([
  ['prepared', prepared],
  ['executed', executed],
])('an answer that is %s', (_what, query) => {
  test('has the coding that the client prefers, and the same text in each', async () => {
    const server = await world();
    const texts = new Set<string>();
    // Twice: the second time every cache is warm, and the prepared page is read at once.
    for (const accepted of [
      '',
      'gzip',
      'br',
      'zstd',
      'gzip, deflate, br, zstd',
      'gzip;q=1, br;q=0.1',
      '',
      'gzip',
      'zstd',
    ]) {
      const response = await send(server, JSON.stringify({ query }), { 'accept-encoding': accepted });
      const bytes = await buffer(response);
      const coding = response.headers['content-encoding'] ?? 'identity';
      const preferred =
        accepted === '' ? 'identity' : accepted.includes('deflate') ? 'zstd' : accepted.split(/[;,]/)[0];
      expect(coding, accepted).toBe(preferred);
      expect(response.headers.vary, accepted).toBe('Origin, Accept-Encoding');
      expect(response.headers['content-length'], accepted).toBe(String(bytes.length));
      const text = decoders[coding]?.(bytes).toString() ?? '';
      if (coding !== 'identity') expect(bytes.length).toBeLessThan(text.length / 4);
      texts.add(text);
    }
    expect(texts.size).toBe(1);
    expect(JSON.parse([...texts][0] ?? '').data.exampleComWidgets.nodes).toHaveLength(100);
  });

  test('stays as it is while it is small', async () => {
    const server = await world();
    const small = query.replace('first: 100', 'first: 2');
    const response = await send(server, JSON.stringify({ query: small }), { 'accept-encoding': 'gzip, br, zstd' });
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse((await buffer(response)).toString()).data.exampleComWidgets.nodes).toHaveLength(2);
  });
});

test('other paths, and the parts of the playground', async () => {
  const { url } = await world();
  const readiness = await fetch(new URL('/readyz', url), { headers: { 'accept-encoding': 'gzip' } });
  expect([readiness.status, readiness.headers.get('content-encoding')]).toEqual([503, 'gzip']);
  expect(((await readiness.json()) as { failing: unknown[] }).failing).toHaveLength(100);
  const script = await fetch(`${url}?playground=page.js`, { headers: { 'accept-encoding': 'br' } });
  expect(script.headers.get('content-encoding')).toBe('br');
  expect(await script.text()).toContain('portolan-options');
});

test('an event of a stream arrives when it happens, although the client accepts compression', async () => {
  const made = handMadeSource();
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: made.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const response = await send(server, JSON.stringify({ query: 'subscription { ticks }' }), {
    accept: 'text/event-stream',
    'accept-encoding': 'gzip, br, zstd',
  });
  onTestFinished(() => void response.destroy());
  response.on('error', () => {});
  // Yoga itself says none.
  expect(response.headers['content-encoding']).toBe('none');
  let received = '';
  // The stream does not end: a compressor would keep these bytes until it is flushed.
  for await (const chunk of response) {
    received += String(chunk);
    if (received.includes('"ticks":1')) break;
  }
  expect(received).toContain('data: {"data":{"ticks":1}}');
});

test('the threshold is a number of bytes, not of characters', async () => {
  const body = 'é'.repeat(leastBytes / 2);
  const coded = await encodeBody(body, Buffer.byteLength(body), 'gzip');
  expect(coded.headers['content-encoding']).toBe('gzip');
  expect((await encodeBody(body, leastBytes - 1, 'gzip')).headers['content-encoding']).toBeUndefined();
});

test.each([
  ['application/json; charset=utf-8', true],
  ['application/graphql-response+json; charset=utf-8', true],
  ['text/html', true],
  ['text/plain; version=0.0.4; charset=utf-8', true],
  ['text/event-stream', false],
  ['multipart/mixed; boundary="-"', false],
  ['', false],
])('%j may be compressed: %s', (type, may) => {
  expect(isCompressible(type)).toBe(may);
});
