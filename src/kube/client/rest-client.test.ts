import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type KubeconfigFolder, kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import {
  type Answer,
  type LoopbackServer,
  sendJson,
  sendStatus,
  startLoopbackServer,
  writeOrClose,
} from '../../../test/kit/loopback-server.ts';
import { ApiError } from '../http/api-error.ts';
import { connect } from './connection.ts';
import { RestClient, type RestClientOptions } from './rest-client.ts';

const folder: KubeconfigFolder = kubeconfigFolder();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => folder.remove());

async function client(
  answer: Answer,
  options?: RestClientOptions,
): Promise<{ api: RestClient; server: LoopbackServer }> {
  const server = await startLoopbackServer(answer);
  closing.push(() => server.close());
  const connection = await connect({ env: {}, kubeconfig: folder.write({ server: server.url }) });
  closing.push(() => connection.close());
  return { api: new RestClient(connection, options), server };
}

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe('verbs', () => {
  test('send bodies with their content type, and queries', async () => {
    const bodies: string[] = [];
    const { api, server } = await client(async (request, response) => {
      bodies.push(await readText(request));
      sendJson(response, 200, { seen: request.method });
    });
    const query = { fieldManager: 'portolan', force: true, dryRun: ['All'], absent: undefined };
    expect(await api.get('/a', { query: { labelSelector: 'a in (b,c)', limit: 500 } })).toEqual({ seen: 'GET' });
    expect(await api.post('/a', { x: 1 })).toEqual({ seen: 'POST' });
    expect(await api.put('/a', '{"n":9007199254740993}')).toEqual({ seen: 'PUT' });
    expect(await api.patch('/a', 'apply', { x: 1 }, { query })).toEqual({ seen: 'PATCH' });
    expect(await api.patch('/a', 'merge', { x: null })).toEqual({ seen: 'PATCH' });
    expect(await api.delete('/a', { propagationPolicy: 'Foreground' })).toEqual({ seen: 'DELETE' });
    expect(await api.delete('/a')).toEqual({ seen: 'DELETE' });
    expect(server.requests.map((request) => [request.method, request.url, request.headers['content-type']])).toEqual([
      ['GET', '/a?labelSelector=a+in+%28b%2Cc%29&limit=500', undefined],
      ['POST', '/a', 'application/json'],
      ['PUT', '/a', 'application/json'],
      ['PATCH', '/a?fieldManager=portolan&force=true&dryRun=All', 'application/apply-patch+yaml'],
      ['PATCH', '/a', 'application/merge-patch+json'],
      ['DELETE', '/a', 'application/json'],
      ['DELETE', '/a', undefined],
    ]);
    expect(bodies).toEqual([
      '',
      '{"x":1}',
      '{"n":9007199254740993}',
      '{"x":1}',
      '{"x":null}',
      '{"propagationPolicy":"Foreground"}',
      '',
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'portolan' });
  });

  test('give a text as it was sent, whatever the pieces', async () => {
    const sent = '{"n":9007199254740993,"s":"\u2028é😀"}';
    const { api } = await client(async (_, response) => {
      for (const byte of Buffer.from(sent)) if (!response.write(Buffer.of(byte))) await once(response, 'drain');
      response.end();
    });
    expect(await api.text('/a')).toBe(sent);
  });
});

describe('answers that are refused', () => {
  test('a Status, with all it says', async () => {
    const { api } = await client((_, response) =>
      sendStatus(response, 409, 'AlreadyExists', 'pods "a" already exists', { retryAfterSeconds: 3 }),
    );
    const error = await failureOf(api.post('/api/v1/namespaces/a/pods', {}));
    expect(error).toMatchObject({ code: 'ALREADY_EXISTS', httpStatus: 409, retryAfterSeconds: 3 });
    expect(error.message).toContain('POST /api/v1/namespaces/a/pods');
  });

  test('a page of a proxy, for JSON, text and streams alike, with a bad status or a good one', async () => {
    for (const status of [502, 200]) {
      const { api } = await client((_, response) => {
        response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
        response.end('<html><title>Log in</title></html>');
      });
      for (const request of [api.get('/a'), api.text('/a'), api.stream('/a')]) {
        expect(await failureOf(request)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: status });
      }
    }
  });

  test('an error body without an end', async () => {
    const { api } = await client(async (_, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      const line = 'x'.repeat(64 * 1024);
      while (!response.destroyed) {
        await writeOrClose(response, line);
      }
    });
    expect(await failureOf(api.get('/a'))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: 500 });
  });

  test('a body that is not JSON, or too long', async () => {
    const { api } = await client((_, response) => void response.end('{"a":"0123456789'), { maxBodyBytes: 20 });
    expect(await failureOf(api.get('/a'))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', reason: 'UnexpectedContent' });
    const { api: longer } = await client((_, response) => void response.end('"0123456789"'), { maxBodyBytes: 11 });
    expect(await failureOf(longer.get('/a'))).toMatchObject({ reason: 'BodyTooLarge' });
  });

  test('a compressed body nobody asked for', async () => {
    const { api } = await client((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
      response.end(gzipSync('{}'));
    });
    const error = await failureOf(api.stream('/a'));
    expect(error.message).toContain('gzip');
  });

  test('304, unless it was asked for', async () => {
    const { api } = await client((_, response) => void response.writeHead(304).end());
    expect(await failureOf(api.get('/a'))).toMatchObject({ httpStatus: 304 });
    const answer = await api.send('GET', '/a', undefined, { headers: { 'if-none-match': '"x"' } });
    expect(answer).toMatchObject({ status: 304, text: '' });
  });
});

describe('failures on the way', () => {
  test('a body that ends before its length, or in the middle of a chunked one', async () => {
    const { api } = await client((request, response) => {
      response.writeHead(200, request.url === '/length' ? { 'content-length': '100' } : {});
      response.write('{"items":[');
      setImmediate(() => response.destroy());
    });
    for (const path of ['/length', '/chunked']) {
      expect(await failureOf(api.get(path))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: 0 });
    }
  });

  test('headers that do not come, and a body that stops coming', async () => {
    const { api } = await client(
      (request, response) => {
        if (request.url === '/body') response.write('{');
      },
      { headersTimeoutMs: 50, bodyTimeoutMs: 50 },
    );
    expect(await failureOf(api.get('/headers'))).toMatchObject({ reason: 'UND_ERR_HEADERS_TIMEOUT' });
    expect(await failureOf(api.get('/body'))).toMatchObject({ reason: 'UND_ERR_BODY_TIMEOUT' });
  });

  test('our own stop is no failure: its reason comes back as it is', async () => {
    const arrived: IncomingMessage[] = [];
    let seen = (): void => {};
    const { api } = await client((request, response) => {
      arrived.push(request);
      if (request.url === '/body') response.write('{');
      seen();
    });
    const reason = new Error('enough');
    for (const path of ['/headers', '/body']) {
      const stop = new AbortController();
      const reached = new Promise<void>((resolve) => {
        seen = resolve;
      });
      const request = api.get(path, { signal: stop.signal });
      const settled = expect(request).rejects.toBe(reason);
      await reached;
      stop.abort(reason);
      await settled;
    }
    await expect(api.get('/never', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(arrived.map((request) => request.url)).toEqual(['/headers', '/body']);
  });
});

describe('stream', () => {
  test('gives pieces as they come, and stops the sender when nobody reads', async () => {
    let sent = 0;
    const { api } = await client(async (_, response) => {
      const line = `${'x'.repeat(64 * 1024 - 1)}\n`;
      while (!response.destroyed && sent < 4096) {
        sent += 1;
        await writeOrClose(response, line);
      }
      response.end();
    });
    const { body, status } = await api.stream('/a', { watch: true });
    expect(status).toBe(200);
    await once(body, 'readable');
    // Far below the 256 MB that are available: only the buffers of the sockets fill.
    let before = -1;
    while (sent !== before) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(sent).toBeLessThan(1024);
    body.on('error', () => {});
    body.destroy();
  });

  test('may be silent for longer than a body that is read whole', async () => {
    let speak = (): void => {};
    const { api } = await client(
      (request, response) => {
        response.write('{');
        if (request.url === '/watch') speak = () => response.end('}');
      },
      { bodyTimeoutMs: 50 },
    );
    const { body } = await api.stream('/watch');
    const whole = readText(body);
    expect(await failureOf(api.get('/list'))).toMatchObject({ reason: 'UND_ERR_BODY_TIMEOUT' });
    speak();
    expect(await whole).toBe('{}');
  });

  test('errors when it breaks off', async () => {
    const { api } = await client((_, response) => {
      response.write('{"type":"ADDED"');
      setImmediate(() => response.destroy());
    });
    const { body } = await api.stream('/a');
    await expect(readText(body)).rejects.toThrow();
  });

  test('ends at once on abort', async () => {
    const { api } = await client((_, response) => void response.write('{}\n'));
    const stop = new AbortController();
    const { body } = await api.stream('/a', {}, { signal: stop.signal });
    await once(body, 'readable');
    const failed = once(body, 'error');
    stop.abort(new Error('enough'));
    await failed;
    expect(body.destroyed).toBe(true);
  });
});
