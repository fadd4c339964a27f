/**
 * No answer of any door tells anything of the gateway itself: malformed requests over raw connections, with and without authentication,
 * over plain HTTP and WebSocket. Each is answered with a status below 500, or the connection is closed.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

/** Paths, stacks, packages and statements. */
const telltale =
  /node_modules|file:\/\/|\/src\/|\.[cm]?[jt]s:\d|\n\s+at |\bat (?:async )?\w+ \(|TypeError|RangeError|ERR_[A-Z]|SQLITE|SELECT .* FROM|yoga|whatwg|better-sqlite3|x-powered-by|^server:/im;

const seed = Number(process.env['PORTOLAN_ANSWERS_SEED'] ?? '7');
const runs = Number(process.env['PORTOLAN_ANSWERS'] ?? '300');

describe.each([
  ['without authentication', { auth: [] as string[] }],
  ['with tokens', { auth: ['token'] }],
])('a gateway %s', (_what, flags) => {
  const folder = kubeconfigFolder();
  let sim: Awaited<ReturnType<typeof startSimCluster>>;
  let gateway: RunningGateway;
  let port: number;

  beforeAll(async () => {
    const users = [{ token: 'token-of-admin', user: 'admin', groups: ['system:masters'] }];
    sim = await startSimCluster({ features: { users } });
    const kubeconfig = folder.file('config', sim.kubeconfig());
    gateway = await runGateway({ name: 'east', kubeconfig }, flags.auth.length === 0 ? {} : flags);
    port = Number(new URL(gateway.url).port);
  }, 60_000);
  afterAll(async () => {
    await gateway?.close();
    await sim?.close();
    folder.remove();
  });

  /** What the gateway answers to these bytes until it closes the connection, or has answered and is silent. */
  async function answerTo(bytes: Buffer): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: false });
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
    });
    await once(socket, 'connect');
    socket.end(bytes);
    await once(socket, 'close');
    return text;
  }

  async function expectQuiet(bytes: Buffer): Promise<void> {
    const answer = await answerTo(bytes);
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
    const sent = bytes.toString('latin1').slice(0, 400);
    expect([sent, answer.match(telltale)?.[0] ?? null]).toEqual([sent, null]);
    expect([sent, statuses.filter((status) => status >= 500)]).toEqual([sent, []]);
  }

  const request = (line: string, headers: readonly string[], body: string | Buffer = ''): Buffer =>
    Buffer.concat([
      Buffer.from(`${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1'),
      Buffer.from(body),
    ]);
  const post = (body: string | Buffer, more: readonly string[] = []): Buffer =>
    request(
      'POST /graphql HTTP/1.1',
      ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, ...more],
      body,
    );

  test.each<[string, string]>([
    ['a blank in it', 'x y'],
    ['a path', 'localhost/..'],
    ['a user', 'a@localhost'],
    ['a fragment', 'localhost#'],
    ['a query', 'localhost?x'],
    ['an open bracket', '[::1'],
    ['a port out of range', 'localhost:99999'],
    ['a port that is none', 'localhost:x'],
    ['two hosts', 'localhost, elsewhere'],
    ['bytes that are no text', '\xff\xfe'],
    ['a bad escape', '%zz'],
    ['nothing', ''],
    ['a thousand dots', '.'.repeat(1000)],
  ])('refuses a Host with %s', async (_name, host) => {
    for (const line of [
      'GET /graphql?query={viewer{name}} HTTP/1.1',
      'GET /healthz HTTP/1.1',
      'GET /metrics HTTP/1.1',
    ]) {
      const answer = await answerTo(request(line, [`Host: ${host}`]));
      expect([line, /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]]).toEqual([line, expect.stringMatching(/^40[013]$/)]);
    }
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    for (const bytes of [
      request('GET /graphql HTTP/1.1', [`Host: ${host}`]),
      post('{"query":"{viewer{name}}"}', [`Host: ${host}`]),
    ]) {
      await expectQuiet(bytes);
    }
    await expectQuiet(
      Buffer.from(
        `${['GET /graphql HTTP/1.1', `Host: ${host}`, ...upgrade, 'Connection: Upgrade'].join('\r\n')}\r\n\r\n`,
        'latin1',
      ),
    );
  });

  const host = ['Host: localhost'];
  test.each<[string, () => Buffer]>([
    ['an absolute target', () => request('GET http://localhost/graphql?query={x} HTTP/1.1', host)],
    ['an absolute target of another host', () => request('GET http://a b/graphql HTTP/1.1', host)],
    ['a target with bad escapes', () => request('GET /graphql?query=%zz%ff&variables=%7B HTTP/1.1', host)],
    ['a target of //', () => request('GET //elsewhere/graphql?query={x} HTTP/1.1', host)],
    ['the target *', () => request('OPTIONS * HTTP/1.1', host)],
    ['CONNECT', () => request('CONNECT localhost:1 HTTP/1.1', host)],
    ['an unknown method', () => request('BREW /graphql HTTP/1.1', host)],
    ['PUT', () => request('PUT /graphql HTTP/1.1', [...host, 'Content-Length: 2'], '{}')],
    ['HTTP/1.0 without a Host', () => request('GET /graphql?query={viewer{name}} HTTP/1.0', [])],
    ['HTTP/3', () => request('GET / HTTP/3', host)],
    ['no Host', () => request('GET / HTTP/1.1', [])],
    ['two Hosts', () => request('GET / HTTP/1.1', [...host, 'Host: elsewhere'])],
    ['long headers', () => request('GET /healthz HTTP/1.1', [...host, `X-Long: ${'a'.repeat(20_000)}`])],
    [
      'a bad chunk',
      () =>
        request(
          'POST /graphql HTTP/1.1',
          [...host, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
          'zz\r\n',
        ),
    ],
    ['two lengths', () => request('POST /graphql HTTP/1.1', [...host, 'Content-Length: 2', 'Content-Length: 3'], '{}')],
    ['an unknown content coding', () => post('{}', ['Content-Encoding: brotli-or-not'])],
    ['bytes that are no gzip', () => post('{}', ['Content-Encoding: gzip'])],
    [
      'an unknown charset',
      () =>
        request(
          'POST /graphql HTTP/1.1',
          [...host, 'Content-Type: application/json; charset=x-none', 'Content-Length: 2'],
          '{}',
        ),
    ],
    ['no UTF-8', () => post(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
    ['a lone surrogate', () => post('{"query":"{ viewer { name } } #\\ud800"}')],
    ['NUL', () => post('{"query":"{ viewer\\u0000 { name } }"}')],
    ['no object', () => post('null')],
    ['a list', () => post('[{"query":"{ viewer { name } }"}]')],
    ['__proto__', () => post('{"__proto__":{"query":"{ viewer { name } }"}}')],
    [
      'variables of __proto__',
      () => post('{"query":"query($a: Int) { viewer { name } }","variables":{"__proto__":{"a":1},"constructor":1}}'),
    ],
    [
      'deep JSON',
      () => post(`{"query":"{ viewer { name } }","variables":${'[{"a":'.repeat(20_000)}1${'}]'.repeat(20_000)}}`),
    ],
    ['a deep document', () => post(JSON.stringify({ query: `${'{ a'.repeat(20_000)}${'}'.repeat(20_000)}` }))],
    ['a query that is no text', () => post('{"query":{"a":1}}')],
    ['an operation that is no text', () => post('{"query":"{ viewer { name } }","operationName":7}')],
    ['extensions that are no object', () => post('{"query":"{ viewer { name } }","extensions":"x"}')],
    [
      'a form',
      () =>
        request('POST /graphql HTTP/1.1', [...host, 'Content-Type: multipart/form-data', 'Content-Length: 2'], '{}'),
    ],
    ['no content type', () => request('POST /graphql HTTP/1.1', [...host, 'Content-Length: 2'], '{}')],
    ['a body of 2 MB', () => post(`{"query":"${'#'.repeat(2_000_000)}"}`)],
    [
      'a WebSocket of an unknown protocol',
      () =>
        request('GET /graphql HTTP/1.1', [
          ...host,
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Sec-WebSocket-Protocol: soap',
        ]),
    ],
    [
      'a WebSocket of version 7',
      () =>
        Buffer.from(
          'GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\n\r\n',
        ),
    ],
    [
      'an upgrade to h2c',
      () => Buffer.from('GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
    ],
    ['a TLS handshake', () => Buffer.from('16030100c8010000c40303', 'hex')],
  ])('answers %s without a word about itself', async (_name, bytes) => {
    await expectQuiet(bytes());
  });

  test('random requests are answered without a word about the gateway', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        'localhost',
        '/graphql',
        '/graphql?query={viewer{name}}',
        '/metrics',
        '*',
        '../..',
        '%00',
        '{',
        '"',
      ),
    );
    const headerName = fc.constantFrom(
      ...['Host', 'Accept', 'Accept-Encoding', 'Authorization', 'Content-Type', 'Content-Length', 'Content-Encoding'],
      ...['Origin', 'Sec-Fetch-Site', 'If-None-Match', 'Transfer-Encoding', 'Expect', 'X-Remote-User', 'traceparent'],
    );
    const one = (value: string): string => value.replace(/[\r\n\0]/g, ' ');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE'),
        text,
        fc.array(fc.tuple(headerName, text), { maxLength: 5 }),
        fc.oneof(text, fc.json()),
        async (method, target, headers, body) => {
          const lines = headers.map(([name, value]) => `${name}: ${one(value)}`);
          const line = `${method} ${one(target).replaceAll(' ', '%20')} HTTP/1.1`;
          await expectQuiet(
            request(line, [...(lines.some((each) => each.startsWith('Host')) ? [] : host), ...lines], body),
          );
        },
      ),
      { seed, numRuns: runs },
    );
  }, 120_000);
});
