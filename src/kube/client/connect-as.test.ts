/** Requests of callers: the server receives the caller's identity and nothing of the gateway's. */
import { once } from 'node:events';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CertificateAuthority, createCertificateAuthority } from '../../../test/kit/certificates.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendStatus, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { BearerToken } from '../credentials/bearer-token.ts';
import {
  type Connection,
  type ConnectionRequest,
  connect,
  type RequestIdentity,
  type RequestSender,
} from './connection.ts';
import { RestClient } from './rest-client.ts';

const get: ConnectionRequest = { method: 'GET', path: '/version', headersTimeoutMs: 5000, bodyTimeoutMs: 5000 };
const secret = 'caller-secret-1';

/** One request, as received by the server. */
interface Seen {
  /** Common name of the client certificate; undefined without a certificate. */
  readonly certificate: string | undefined;
  /** Whether the TLS session of an earlier connection was resumed. */
  readonly resumed: boolean;
  readonly headers: NodeJS.Dict<string[]>;
}

let folder: KubeconfigFolder;
let authority: CertificateAuthority;
let gatewayCertificate: object;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = kubeconfigFolder();
  authority = await createCertificateAuthority();
  const { cert, key } = await authority.issue({ names: [], commonName: 'gateway' });
  gatewayCertificate = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => {
  folder.remove();
  authority.remove();
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const withToken = (text: string): RequestIdentity => ({ type: 'token', token: new BearerToken(text) });

/** A TLS server that requests client certificates but does not require them, and answers by `status`. */
async function serve(status: (seen: Seen) => number = () => 200): Promise<LoopbackServer & { seen: Seen[] }> {
  const seen: Seen[] = [];
  const leaf = await authority.issue({ names: ['IP:127.0.0.1', 'DNS:kubernetes'] });
  const server = await startLoopbackServer(
    (request, response) => {
      const socket = request.socket as TLSSocket;
      const { subject } = socket.getPeerCertificate() as { subject?: { CN?: string } };
      const one = { certificate: subject?.CN, resumed: socket.isSessionReused(), headers: request.headersDistinct };
      seen.push(one);
      if (request.url === '/once') response.setHeader('connection', 'close');
      if (request.url === '/stream') return void response.write('begun');
      const code = status(one);
      if (code === 200) response.end('ok');
      else
        sendStatus(response, code, code === 401 ? 'Unauthorized' : 'Forbidden', `no, ${one.certificate ?? 'caller'}`);
    },
    { ...leaf, ca: authority.ca, requestCert: true, rejectUnauthorized: false },
  );
  closing.push(() => server.close());
  return Object.assign(server, { seen });
}

async function open(
  server: { readonly url: string },
  user: object | null = gatewayCertificate,
  { cluster = {}, clock = systemClock }: { cluster?: object; clock?: Clock } = {},
): Promise<Connection> {
  const trusted = { server: server.url, 'certificate-authority-data': base64(authority.ca), ...cluster };
  const connection = await connect({ env: {}, kubeconfig: folder.write(trusted, user), clock });
  closing.push(() => connection.close());
  return connection;
}

async function ask(sender: RequestSender, request: Partial<ConnectionRequest> = {}): Promise<number> {
  const answer = await sender.request({ ...get, ...request });
  await readText(answer.body);
  return answer.status;
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable('it must fail'),
    (error: unknown) => error,
  );

describe('a caller with a token', () => {
  test('is seen by the token alone, while the gateway is seen by its certificate', async () => {
    const server = await serve();
    const connection = await open(server);
    await ask(connection);
    await ask(connection.connectAs(withToken(secret)));
    await ask(connection);
    expect(server.seen.map(({ certificate, headers }) => [certificate, headers['authorization']])).toEqual([
      ['gateway', undefined],
      [undefined, [`Bearer ${secret}`]],
      ['gateway', undefined],
    ]);
  });

  test.each([
    ['a token', { token: 'gateway-secret' }],
    ['a password', { username: 'gateway', password: 'gateway-secret' }],
    ['an impersonated user', { token: 'gateway-secret', as: 'somebody', 'as-groups': ['g'], 'as-uid': '1' }],
  ])('takes nothing from a gateway with %s', async (_, user) => {
    const server = await serve();
    const connection = await open(server, user);
    await ask(connection);
    await ask(connection.connectAs(withToken(secret)), { headers: { accept: 'application/json' } });
    const [gateway, caller] = server.seen;
    expect(JSON.stringify(gateway)).toMatch(/Bearer gateway-secret|Basic /);
    const names = Object.keys(caller?.headers ?? {}).sort();
    expect(names).toEqual(['accept', 'accept-encoding', 'authorization', 'connection', 'host']);
    expect(caller?.headers['authorization']).toEqual([`Bearer ${secret}`]);
  });

  test('keeps its identity among others that use the same connections at once', async () => {
    const server = await serve();
    const connection = await open(server, { ...gatewayCertificate, token: 'gateway-secret' });
    const tokens = Array.from({ length: 8 }, (_, index) => `token-of-${index}`);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([
        ask(connection),
        ...tokens.map((token) => ask(connection.connectAs(withToken(token)), { headers: { 'x-caller': token } })),
      ]);
    }
    const callers = server.seen.filter(({ headers }) => headers['x-caller'] !== undefined);
    expect(callers).toHaveLength(24);
    for (const { certificate, headers } of callers) {
      expect([certificate, headers['authorization']]).toEqual([undefined, [`Bearer ${headers['x-caller']}`]]);
    }
    const gateways = server.seen.filter(({ headers }) => headers['x-caller'] === undefined);
    expect(gateways.map(({ certificate, headers }) => [certificate, headers['authorization']])).toEqual(
      Array.from({ length: 3 }, () => ['gateway', ['Bearer gateway-secret']]),
    );
    // The callers share connections; no caller has its own.
    expect(server.connections()).toBeLessThan(24);
  });

  test('resumes no TLS session that was begun with the certificate', async () => {
    const server = await serve();
    const connection = await open(server);
    const caller = connection.connectAs(withToken(secret));
    // The server closes each connection after its answer, so that each request begins with a handshake.
    for (const sender of [connection, connection, caller, caller, connection, caller]) {
      await ask(sender, { path: '/once' });
    }
    expect(server.seen.map(({ certificate }) => certificate)).toEqual([
      'gateway',
      'gateway',
      undefined,
      undefined,
      'gateway',
      undefined,
    ]);
    // Proves that sessions are resumed, for the gateway and for callers.
    expect(new Set(server.seen.filter(({ resumed }) => resumed).map(({ certificate }) => certificate))).toEqual(
      new Set(['gateway', undefined]),
    );
  });

  test('gets the 401 that it caused, and the gateway keeps its credentials', async () => {
    const server = await serve(({ headers }) => (headers['authorization']?.[0] === 'Bearer good-1' ? 200 : 401));
    const runs = folder.file('runs-of-401', '');
    const plugin = folder.file(
      'plugin-of-401.mjs',
      `import { appendFileSync, readFileSync } from 'node:fs';
       appendFileSync(process.argv[2], 'x');
       const token = 'good-' + readFileSync(process.argv[2], 'utf8').length;
       console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }));`,
    );
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: [plugin, runs],
      interactiveMode: 'Never',
    };
    const connection = await open(server, { exec });
    expect(await ask(connection)).toBe(200);
    expect(await ask(connection.connectAs(withToken(secret)), { method: 'POST', body: '{}' })).toBe(401);
    expect(server.seen).toHaveLength(2);
    // If the 401 had dropped the credential, the plugin would now return `good-2`, which the server rejects.
    expect(await ask(connection)).toBe(200);
  });

  test('needs neither the plugin nor the files of the gateway', async () => {
    const server = await serve();
    const tokenFile = folder.file('token-that-goes', 'gateway-secret');
    const connection = await open(server, { tokenFile });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/nowhere', interactiveMode: 'Never' };
    const other = await open(server, { exec });
    folder.file('token-that-goes', '');
    expect(codeOf(await failureOf(ask(connection)))).toBe('UNAUTHENTICATED');
    await failureOf(ask(other));
    expect(await ask(connection.connectAs(withToken(secret)))).toBe(200);
    expect(await ask(other.connectAs(withToken(secret)))).toBe(200);
  });

  test('trusts the server as the gateway does, by its CA and its name', async () => {
    const server = await serve();
    const named = await open(server, gatewayCertificate, { cluster: { 'tls-server-name': 'kubernetes' } });
    expect(await ask(named.connectAs(withToken(secret)))).toBe(200);
    const misnamed = await open(server, gatewayCertificate, { cluster: { 'tls-server-name': 'another' } });
    await expect(ask(misnamed.connectAs(withToken(secret)))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const system = await open(server, null, { cluster: { 'certificate-authority-data': undefined } });
    await expect(ask(system.connectAs(withToken(secret)))).rejects.toThrow(/certificate/);
    const unchecked = await open(server, null, {
      cluster: { 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true },
    });
    expect(await ask(unchecked.connectAs(withToken(secret)))).toBe(200);
  });

  test('follows a CA file that changes', async () => {
    const server = await serve();
    const other = await createCertificateAuthority();
    closing.push(async () => other.remove());
    const caFile = folder.file('changing-ca.crt', other.ca);
    let now = 1_000_000;
    const clock = { ...systemClock, now: () => now };
    const cluster = { 'certificate-authority-data': undefined, 'certificate-authority': caFile };
    const caller = (await open(server, null, { cluster, clock })).connectAs(withToken(secret));
    await expect(ask(caller)).rejects.toThrow(/certificate/);
    folder.file('changing-ca.crt', authority.ca);
    now += 60_001;
    expect(await ask(caller)).toBe(200);
  });

  test('goes through the proxy of the cluster', async () => {
    const server = await serve();
    const asked: string[] = [];
    const tunnel = createSocketServer((socket) => {
      socket.once('data', (head) => {
        asked.push(String(head).split('\r\n', 1)[0] ?? '');
        socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      });
      socket.on('error', () => {});
    }).listen(0, '127.0.0.1');
    await once(tunnel, 'listening');
    closing.push(async () => void tunnel.close());
    const { port } = tunnel.address() as AddressInfo;
    const connection = await open(server, gatewayCertificate, { cluster: { 'proxy-url': `http://127.0.0.1:${port}` } });
    await failureOf(ask(connection.connectAs(withToken(secret))));
    expect(asked[0]).toBe(`CONNECT 127.0.0.1:${server.port} HTTP/1.1`);
    expect(server.seen).toHaveLength(0);
  });

  test('ends with the connection', async () => {
    const server = await serve();
    const connection = await open(server);
    const caller = connection.connectAs(withToken(secret));
    const answer = await caller.request({ ...get, path: '/stream', bodyTimeoutMs: 0 });
    const failed = once(answer.body, 'error');
    answer.body.resume();
    await connection.close();
    await failed;
    await expect(ask(caller)).rejects.toThrow(/was closed/);
  });

  test.each(['', ' ', 'a b', 'a\r\nx: y', 'ä', '\u0000'])('with the token %j is refused', (text) => {
    expect(() => new BearerToken(text)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
  });
});

describe('an impersonated user', () => {
  test('is named beside the credentials of the gateway', async () => {
    const server = await serve();
    const connection = await open(server, { ...gatewayCertificate, token: 'gateway-secret' });
    const user = {
      name: 'jane',
      groups: ['dev', 'a, b'],
      uid: '42',
      extra: { 'example.com/Scopes': ['x', 'y'], 'odd (key)': ['z'] },
    };
    await ask(connection.connectAs({ type: 'impersonation', user }));
    await ask(connection);
    const [caller, gateway] = server.seen;
    expect(caller).toMatchObject({
      certificate: 'gateway',
      headers: {
        authorization: ['Bearer gateway-secret'],
        'impersonate-user': ['jane'],
        'impersonate-group': ['dev', 'a, b'],
        'impersonate-uid': ['42'],
        // The server reads the name in lower case, and decodes it then: example.com/Scopes.
        'impersonate-extra-example.com%2f%53copes': ['x', 'y'],
        'impersonate-extra-odd%20%28key%29': ['z'],
      },
    });
    const named = ({ headers }: Seen): readonly string[] =>
      Object.keys(headers).filter((name) => name.startsWith('impersonate'));
    expect(caller === undefined ? [] : named(caller)).toHaveLength(5);
    expect(gateway === undefined ? null : named(gateway)).toEqual([]);
  });

  test.each(['Jürgen', 'Ã¼', '王'])('%s is sent as UTF-8 bytes', async (name) => {
    const server = await serve();
    const connection = await open(server);
    await ask(connection.connectAs({ type: 'impersonation', user: { name, groups: [name] } }));
    const { headers } = server.seen[0] ?? expect.unreachable('a request came');
    // Node reads each byte of a header as one character.
    const received = ['impersonate-user', 'impersonate-group'].map((header) =>
      Buffer.from(headers[header]?.[0] ?? '', 'latin1').toString('utf8'),
    );
    expect(received).toEqual([name, name]);
  });

  test.each([
    { name: '', groups: [] },
    { name: ' admin', groups: [] },
    { name: 'admin\t', groups: [] },
    { name: 'a\r\nImpersonate-Group: system:masters', groups: [] },
    { name: 'a\ud800', groups: [] },
    { name: 'a', groups: [''] },
    { name: 'a', groups: ['system:masters '] },
    { name: 'a', groups: [], uid: '' },
    { name: 'a', groups: [], extra: { '': ['x'] } },
    { name: 'a', groups: [], extra: { key: ['x\n'] } },
  ])('that no header can name is refused: %j', async (user) => {
    const connection = await open({ url: 'https://127.0.0.1:1' });
    expect(() => connection.connectAs({ type: 'impersonation', user })).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN' }),
    );
  });

  test.each([{ as: 'somebody' }, { as: 'somebody', 'as-groups': ['g'] }])(
    'is refused where the kubeconfig impersonates a user itself: %j',
    async (user) => {
      const connection = await open({ url: 'https://127.0.0.1:1' }, { token: 't', ...user });
      expect(() => connection.connectAs({ type: 'impersonation', user: { name: 'jane', groups: [] } })).toThrow(
        expect.objectContaining({ code: 'CONFIGURATION', message: expect.stringContaining('remove its as') }),
      );
    },
  );

  test('has the 401 of the gateway: its credentials are fetched again', async () => {
    const server = await serve(({ headers }) => (headers['authorization']?.[0] === 'Bearer new' ? 200 : 401));
    const tokenFile = folder.file('impersonating', 'old');
    const connection = await open(server, { tokenFile });
    expect(await ask(connection)).toBe(401);
    folder.file('impersonating', 'new');
    const caller = connection.connectAs({ type: 'impersonation', user: { name: 'jane', groups: [] } });
    expect(await ask(caller)).toBe(200);
    expect(server.seen.slice(1).map(({ headers }) => [headers['authorization'], headers['impersonate-user']])).toEqual([
      [['Bearer old'], ['jane']],
      [['Bearer new'], ['jane']],
    ]);
  });
});

describe('a request', () => {
  const names = [
    'Authorization',
    'authorization',
    'Impersonate-User',
    'impersonate-extra-a',
    'X-Remote-User',
    'Cookie',
  ];

  test.each(names)('cannot bring the header %s itself, as whoever it is sent', async (name) => {
    const server = await serve();
    const connection = await open(server);
    const senders = [
      connection,
      connection.connectAs(withToken(secret)),
      connection.connectAs({ type: 'impersonation', user: { name: 'jane', groups: [] } }),
    ];
    for (const sender of senders) {
      const failure = await failureOf(ask(sender, { headers: { [name]: 'Bearer other-secret' } }));
      expect(codeOf(failure)).toBe('INTERNAL_SERVER_ERROR');
      expect(messageOf(failure)).toContain(name);
      expect(inspect(failure, { depth: 9 })).not.toContain('other-secret');
    }
    expect(server.seen).toHaveLength(0);
  });
});

describe('the secret of a caller', () => {
  test('prints nowhere', async () => {
    const connection = await open({ url: 'https://127.0.0.1:1' });
    const identity = withToken(secret);
    const sender = connection.connectAs(identity);
    const things = { identity, sender, connection, client: new RestClient(sender), error: new Error(`${identity}`) };
    if (identity.type === 'token') expect(String(identity.token)).toBe('[bearer token]');
    expect(JSON.stringify(identity)).toBe('{"type":"token","token":"[bearer token]"}');
    expect(JSON.stringify(things)).not.toContain(secret);
    expect(inspect(things, { depth: 20, showHidden: true })).not.toContain(secret);
  });

  test('is in no error, whatever fails', async () => {
    const refusing = await serve(() => 401);
    const forbidding = await serve(() => 403);
    const silent = createSocketServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(async () => void silent.close());
    const mute = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const failures = [
      [refusing.url, {}],
      [forbidding.url, {}],
      ['https://127.0.0.1:1', {}],
      ['https://no-such-host.invalid', {}],
      [mute, { headersTimeoutMs: 1 }],
      [mute, { signal: AbortSignal.abort(new Error('stopped')) }],
    ] as const;
    const codes: string[] = [];
    for (const [url, options] of failures) {
      const client = new RestClient((await open({ url })).connectAs(withToken(secret)));
      const failure = await failureOf(client.get('/api', options));
      codes.push(codeOf(failure));
      expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(secret);
    }
    expect(codes).toEqual([
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'UPSTREAM_UNAVAILABLE',
      'UPSTREAM_UNAVAILABLE',
      'UPSTREAM_UNAVAILABLE',
      'INTERNAL_SERVER_ERROR',
    ]);
  });
});
