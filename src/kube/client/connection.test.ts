import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectSocket, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CertificateAuthority, createCertificateAuthority } from '../../../test/kit/certificates.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, sendStatus, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { type Connection, type ConnectionRequest, type ConnectOptions, connect } from './connection.ts';

const get: ConnectionRequest = { method: 'GET', path: '/version', headersTimeoutMs: 5000, bodyTimeoutMs: 5000 };

let folder: KubeconfigFolder;
let authority: CertificateAuthority;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = kubeconfigFolder();
  authority = await createCertificateAuthority();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => {
  folder.remove();
  authority.remove();
});

async function serve(...args: Parameters<typeof startLoopbackServer>): Promise<LoopbackServer> {
  const server = await startLoopbackServer(...args);
  closing.push(() => server.close());
  return server;
}

async function open(cluster: object, user?: object | null, options: ConnectOptions = {}): Promise<Connection> {
  const connection = await connect({ env: {}, kubeconfig: folder.write(cluster, user), ...options });
  closing.push(() => connection.close());
  return connection;
}

async function ask(connection: Connection, request: Partial<ConnectionRequest> = {}): Promise<string> {
  const answer = await connection.request({ ...get, ...request });
  return `${answer.status} ${await readText(answer.body)}`;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ok = (_: IncomingMessage, response: ServerResponse): void => {
  response.end('ok');
};

/** A wall clock that the test sets; the other methods are not called. */
function movingClock(): Clock & { time: number } {
  return {
    time: 1_000_000,
    now() {
      return this.time;
    },
    monotonic: () => 0,
    sleep: async () => {},
  };
}

describe('connect', () => {
  test('names the cluster after the context, or as it is told', async () => {
    const server = await serve(ok);
    const connection = await open({ server: server.url });
    expect(connection).toMatchObject({ cluster: 'test', context: 'test', server: server.url });
    expect((await open({ server: server.url }, {}, { name: 'blue' })).cluster).toBe('blue');
  });

  test('sends nothing before the first request', async () => {
    const server = await serve(ok);
    await open({ server: server.url }, { token: 'x' });
    expect(server.connections()).toBe(0);
  });

  test.each([
    ['', '/version'],
    ['/', '/version'],
    ['/k8s/clusters/c-1', '/k8s/clusters/c-1/version'],
    ['/k8s/clusters/c-1/', '/k8s/clusters/c-1/version'],
    ['/k8s/clusters/c-1//', '/k8s/clusters/c-1/version'],
  ])('survives the server path %j', async (path, expected) => {
    const server = await serve(ok);
    const connection = await open({ server: server.url + path });
    expect(await ask(connection)).toBe('200 ok');
    expect(server.requests[0]?.url).toBe(expected);
    expect(connection.server.endsWith('/')).toBe(false);
  });

  test.each(['localhost:6443/path', 'ftp://host', 'https:host', 'https:/host', '//host', 'https:\\\\host', 'https://'])(
    'refuses the server %j',
    async (server) => {
      const failure = await open({ server }).catch((error: unknown) => error);
      expect(codeOf(failure)).toBe('CONFIGURATION');
      expect(messageOf(failure)).toContain('https://host:6443');
    },
  );
});

test.each([
  ['localhost:6443', 'http://localhost:6443'],
  ['localhost:6443/', 'http://localhost:6443'],
  ['https://host/?a=b', 'https://host'],
  ['https://host/a//b/#c', 'https://host/a/b'],
  ['HTTPS://jane:secret@host:6443', 'https://host:6443'],
])('the server %j is %s', async (server, address) => {
  const connection = await open({ server });
  expect(connection.server).toBe(address);
});

describe('a request', () => {
  test('asks for no compression and sends headers of several values as several lines', async () => {
    const server = await serve(ok);
    const connection = await open(
      { server: server.url },
      {
        token: 'secret',
        as: 'jane',
        'as-groups': ['a, b', 'c'],
        'as-uid': '42',
        'as-user-extra': { 'example.com/Scopes': ['x', 'y'] },
      },
    );
    await ask(connection);
    const { headersDistinct } = server.requests[0] as IncomingMessage;
    expect(headersDistinct).toMatchObject({
      'accept-encoding': ['identity'],
      authorization: ['Bearer secret'],
      'impersonate-user': ['jane'],
      'impersonate-group': ['a, b', 'c'],
      'impersonate-uid': ['42'],
      'impersonate-extra-example.com%2fscopes': ['x', 'y'],
    });
  });

  test('sends the name of an impersonated user as UTF-8 bytes', async () => {
    const server = await serve(ok);
    await ask(await open({ server: server.url }, { token: 'secret', as: 'Jürgen', 'as-groups': ['Büro'] }));
    const { headers } = server.requests[0] as IncomingMessage;
    // Node reads each byte of a header as one character.
    const received = [headers['impersonate-user'], headers['impersonate-group']].map((value) =>
      Buffer.from(String(value), 'latin1').toString('utf8'),
    );
    expect(received).toEqual(['Jürgen', 'Büro']);
  });

  test('sends basic credentials', async () => {
    const server = await serve(ok);
    await ask(await open({ server: server.url }, { username: 'a', password: 'b:c' }));
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${base64('a:b:c')}`);
  });

  test('opens no connection for each request', async () => {
    const server = await serve(ok);
    const connection = await open({ server: server.url });
    for (let i = 0; i < 20; i += 1) await ask(connection);
    // Two, because a request may start before the first connection is idle again.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test('does not follow a redirect', async () => {
    const target = await serve(ok);
    const server = await serve((_, response) => {
      response.writeHead(302, { location: target.url }).end();
    });
    expect(await ask(await open({ server: server.url }, { token: 'secret' }))).toBe('302 ');
    expect(target.requests).toHaveLength(0);
  });

  test('ends with the connection', async () => {
    const server = await serve((_, response) => {
      response.write('begun');
    });
    const connection = await open({ server: server.url });
    const answer = await connection.request(get);
    const failed = once(answer.body, 'error');
    answer.body.resume();
    await connection.close();
    await failed;
    await expect(ask(connection)).rejects.toThrow(/was closed/);
  });
});

describe('credentials', () => {
  test('come from a token file that is read again after a minute, without its line end', async () => {
    const server = await serve(ok);
    const tokenFile = folder.file('token', 'one\n');
    const clock = movingClock();
    const connection = await open({ server: server.url }, { tokenFile }, { clock });
    await ask(connection);
    folder.file('token', 'two\n');
    await ask(connection);
    clock.time += 60_001;
    await ask(connection);
    expect(server.requests.map((request) => request.headers.authorization)).toEqual([
      'Bearer one',
      'Bearer one',
      'Bearer two',
    ]);
  });

  test('are dropped on a 401, and the request is sent once more with new ones', async () => {
    const server = await serve((request, response) => {
      if (request.headers.authorization === 'Bearer new') response.end('ok');
      else sendStatus(response, 401, 'Unauthorized', 'Unauthorized');
    });
    const tokenFile = folder.file('rotating', 'old');
    const connection = await open({ server: server.url }, { tokenFile });
    expect(await ask(connection)).toMatch(/^401 /);
    expect(server.requests).toHaveLength(1); // the file is unchanged, so there is no second request
    folder.file('rotating', 'new');
    expect(await ask(connection, { method: 'POST', body: '{}' })).toBe('200 ok');
    expect(server.requests.map((request) => request.headers.authorization).slice(1)).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
  });

  test('that a plugin gives are fetched once for many requests, and once for many refusals', async () => {
    let good = 'token-1';
    const server = await serve((request, response) => {
      if (request.headers.authorization === `Bearer ${good}`) response.end('ok');
      else sendStatus(response, 401, 'Unauthorized', 'Unauthorized');
    });
    const runs = folder.file('runs', '');
    const plugin = folder.file(
      'plugin.mjs',
      `import { appendFileSync, readFileSync } from 'node:fs';
       appendFileSync(process.env.RUNS, 'x');
       const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
       if (info.kind !== 'ExecCredential' || info.spec.cluster.server !== process.argv[2]) process.exit(3);
       const token = 'token-' + readFileSync(process.env.RUNS, 'utf8').length;
       console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: 'ExecCredential', status: { token } }));`,
    );
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
      command: process.execPath,
      args: [plugin, server.url],
      env: [{ name: 'RUNS', value: runs }],
      provideClusterInfo: true,
    };
    const connection = await open({ server: server.url }, { exec });
    const ten = (): Promise<string[]> => Promise.all(Array.from({ length: 10 }, () => ask(connection)));
    expect(new Set(await ten())).toEqual(new Set(['200 ok']));
    expect(readFileSync(runs, 'utf8')).toHaveLength(1);
    good = 'token-2';
    expect(new Set(await ten())).toEqual(new Set(['200 ok']));
    expect(readFileSync(runs, 'utf8')).toHaveLength(2);
  });

  test('of a service account are those of the Pod', async () => {
    const leaf = await authority.issue({ names: ['IP:127.0.0.1'] });
    const server = await serve(ok, leaf);
    folder.file('ca.crt', authority.ca);
    folder.file('token', 'pod-token');
    const connection = await connect({
      inCluster: true,
      serviceAccountDir: folder.dir,
      env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) },
    });
    closing.push(() => connection.close());
    expect(await ask(connection)).toBe('200 ok');
    expect(connection.cluster).toBe('in-cluster');
    expect(server.requests[0]?.headers.authorization).toBe('Bearer pod-token');
  });
});

describe('TLS', () => {
  test('trusts the CA of the kubeconfig, in data or in a file beside it, with a user or without', async () => {
    const server = await serve(ok, await authority.issue({ names: ['IP:127.0.0.1'] }));
    folder.file('own-ca.crt', authority.ca);
    expect(await ask(await open({ server: server.url, 'certificate-authority-data': base64(authority.ca) }))).toBe(
      '200 ok',
    );
    expect(await ask(await open({ server: server.url, 'certificate-authority': 'own-ca.crt' }))).toBe('200 ok');
    expect(await ask(await open({ server: server.url, 'certificate-authority': 'own-ca.crt' }, null))).toBe('200 ok');
  });

  test('speaks HTTP/1.1 only', async () => {
    const server = await serve((request, response) => void response.end(request.httpVersion), {
      ...(await authority.issue({ names: ['IP:127.0.0.1'] })),
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    const connection = await open({ server: server.url, 'certificate-authority-data': base64(authority.ca) });
    expect(await ask(connection)).toBe('200 1.1');
  });

  test('looks for tls-server-name in the certificate instead of the host', async () => {
    const server = await serve(ok, await authority.issue({ names: ['DNS:kubernetes'] }));
    const ca = base64(authority.ca);
    const named = await open({ server: server.url, 'certificate-authority-data': ca, 'tls-server-name': 'kubernetes' });
    expect(await ask(named)).toBe('200 ok');
    await expect(ask(await open({ server: server.url, 'certificate-authority-data': ca }))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  test('checks nothing with insecure-skip-tls-verify', async () => {
    const server = await serve(ok, await authority.issue({ names: ['DNS:other'], untilDays: -0.5 }));
    expect(await ask(await open({ server: server.url, 'insecure-skip-tls-verify': true }))).toBe('200 ok');
  });

  test('shows its client certificate, and a new one when the file has changed, while old streams go on', async () => {
    const leaf = await authority.issue({ names: ['IP:127.0.0.1'] });
    const server = await serve(
      (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate();
        response.write(String(subject.CN));
        if (request.url === '/version') response.end();
        else closing.push(async () => response.end());
      },
      { ...leaf, ca: authority.ca, requestCert: true, rejectUnauthorized: true },
    );
    const write = async (commonName: string): Promise<void> => {
      const client = await authority.issue({ names: [], commonName });
      folder.file('client.crt', client.cert);
      folder.file('client.key', client.key);
    };
    await write('first');
    const clock = movingClock();
    const connection = await open(
      { server: server.url, 'certificate-authority-data': base64(authority.ca) },
      { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
      { clock },
    );
    const stream = await connection.request({ ...get, path: '/watch', bodyTimeoutMs: 0 });
    const [greeting] = await once(stream.body, 'data');
    expect(String(greeting)).toBe('first');
    await write('second');
    clock.time += 60_001;
    expect(await ask(connection)).toBe('200 second');
    expect(stream.body.errored).toBeNull();
    expect(stream.body.destroyed).toBe(false);
    stream.body.on('error', () => {});
  });

  test('says at the start which certificate cannot be used', async () => {
    const broken = await open({
      server: 'https://127.0.0.1:1',
      'certificate-authority-data': base64('nonsense'),
    }).catch((error: unknown) => error);
    expect(codeOf(broken)).toBe('CONFIGURATION');
    expect(messageOf(broken)).toContain('check certificate-authority');
    const missing = await open(
      { server: 'https://127.0.0.1:1' },
      { 'client-certificate': 'none.crt', 'client-key': 'none.key' },
    ).catch((error: unknown) => error);
    expect(codeOf(missing)).toBe('CONFIGURATION');
    expect(messageOf(missing)).toContain('none.crt');
  });
});

describe('proxy-url', () => {
  test.each(['http', 'https'])('reaches an %s server through an HTTP proxy', async (scheme) => {
    const tls = scheme === 'https' ? await authority.issue({ names: ['IP:127.0.0.1'] }) : undefined;
    const server = await serve(ok, tls);
    const proxy = await httpProxy();
    const connection = await open(
      { server: server.url, 'certificate-authority-data': base64(authority.ca), 'proxy-url': proxy.url },
      { token: 'secret' },
    );
    expect(await ask(connection)).toBe('200 ok');
    expect(proxy.asked).toEqual([
      scheme === 'https' ? `CONNECT 127.0.0.1:${server.port}` : `GET ${server.url}/version`,
    ]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer secret');
  });

  test('is refused at the start when it is no address', async () => {
    const failure = await open({ server: 'https://a', 'proxy-url': 'ftp://p' }).catch((error: unknown) => error);
    expect(codeOf(failure)).toBe('CONFIGURATION');
    expect(messageOf(failure)).toContain('http://host:3128');
  });

  test('may stand in the environment instead', async () => {
    const proxy = await httpProxy();
    const server = 'http://api.example:6443';
    const connection = await open({ server }, {}, { env: { HTTP_PROXY: proxy.url } });
    // The test's proxy cannot reach the server; the test only checks that the proxy receives the request.
    expect(await ask(connection)).toMatch(/^502 /);
    expect(proxy.asked).toEqual([`GET ${server}/version`]);
  });

  test('gets no credentials for a server of another machine without TLS', async () => {
    const proxy = await httpProxy();
    for (const server of ['http://api.example:6443', 'api.example:6443']) {
      const connection = await open({ server, 'proxy-url': proxy.url }, { token: 'secret', as: 'jane' });
      await ask(connection);
      expect(connection.hasCredentials).toBe(false);
    }
    expect(proxy.asked).toEqual(Array(2).fill('GET http://api.example:6443/version'));
    for (const headers of proxy.headers) expect(JSON.stringify(headers)).not.toMatch(/secret|jane/);
  });

  test('reaches a server through a SOCKS proxy', async () => {
    const server = await serve(ok, await authority.issue({ names: ['IP:127.0.0.1'] }));
    const proxy = await socksProxy();
    const connection = await open({
      server: server.url,
      'certificate-authority-data': base64(authority.ca),
      'proxy-url': proxy.url,
    });
    expect(await ask(connection)).toBe('200 ok');
    expect(proxy.asked).toEqual([String(server.port)]);
  });
});

async function listening(server: Server, sockets: Set<Socket>): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function join(a: Socket, b: Socket, sockets: Set<Socket>): void {
  sockets.add(b);
  b.on('error', () => a.destroy());
  a.on('close', () => b.destroy());
  b.on('close', () => a.destroy());
  a.pipe(b).pipe(a);
}

async function httpProxy(): Promise<{ url: string; asked: string[]; headers: IncomingHttpHeaders[] }> {
  const asked: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    if (!String(request.url).includes('127.0.0.1')) return void response.writeHead(502).end();
    const forwarded = await fetch(String(request.url), {
      headers: { authorization: String(request.headers.authorization) },
    });
    response.end(await forwarded.text());
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    const port = Number(String(request.url).split(':')[1]);
    const target = connectSocket(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(socket, target, sockets);
    });
  });
  return { url: `http://127.0.0.1:${await listening(server, sockets)}`, asked, headers };
}

/** The part of RFC 1928 that the test needs: no authentication, CONNECT to loopback. */
async function socksProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request: Buffer) => {
        const port = request.readUInt16BE(request.length - 2);
        asked.push(String(port));
        const target = connectSocket(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
          join(socket, target, sockets);
        });
      });
    });
  });
  return { url: `socks5://127.0.0.1:${await listening(server, sockets)}`, asked };
}

describe('a response', () => {
  test('comes as a stream with its status and headers', async () => {
    const server = await serve((_, response) => sendJson(response, 201, { a: 1 }, { 'x-test': 'yes' }));
    const answer = await (await open({ server: server.url })).request(get);
    expect(answer.status).toBe(201);
    expect(answer.headers['x-test']).toBe('yes');
    expect(await readText(answer.body)).toBe('{"a":1}');
  });
});
