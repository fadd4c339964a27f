/** Chains of client certificates, their end, and connections that do not complete their handshake. */
import { once } from 'node:events';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { silentLogger } from '../../src/base/log.ts';
import { TlsFiles } from '../../src/server/negotiation/tls-files.ts';
import { type Certificate, type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { eventually } from '../kit/eventually.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { type Asked, askOverTls, gatewayNames, type TlsGatewayOptions, tlsGateway } from '../kit/tls-gateway.ts';

let gateway: CertificateAuthority;
let users: CertificateAuthority;
let proxies: CertificateAuthority;
const opened: CertificateAuthority[] = [];

const kept = (authority: CertificateAuthority): CertificateAuthority => {
  opened.push(authority);
  return authority;
};
const issued = (authority: CertificateAuthority, commonName: string, more: object = {}): Promise<Certificate> =>
  authority.issue({ names: [], commonName, ...more });
/** The certificate, sent with those of its issuers. */
const sentWith = ({ cert, key }: Certificate, ...issuers: CertificateAuthority[]): Certificate => ({
  cert: [cert, ...issuers.map(({ ca }) => ca)].join(''),
  key,
});
const world = (more: Partial<TlsGatewayOptions> = {}) =>
  tlsGateway({ gateway, users: users.ca, proxies: proxies.ca, ...more });
const ask = (url: string, asked: Omit<Asked, 'ca'>) => askOverTls(url, { ca: gateway.ca, ...asked });
const nameOf = async (url: string, certificate: Certificate, headers = {}): Promise<unknown> => {
  const { body } = await ask(url, { certificate, headers });
  return (body.data?.viewer as { readonly name?: string } | undefined)?.name ?? body.errors?.[0]?.message;
};
const seconds = (count: number): number => count / 86_400;

beforeAll(async () => {
  gateway = kept(await createCertificateAuthority('gateways'));
  users = kept(await createCertificateAuthority('users'));
  proxies = kept(await createCertificateAuthority('proxies'));
}, 60_000);
afterAll(() => {
  for (const authority of opened) authority.remove();
});

test('a chain counts for the authority at its end', async () => {
  const { url } = await world();
  const first = kept(await users.intermediate('first'));
  const second = kept(await first.intermediate('second'));
  const ofProxies = kept(await proxies.intermediate('of proxies'));
  const remote = { 'x-remote-user': 'olga' };
  expect(await nameOf(url, sentWith(await issued(first, 'jane'), first))).toBe('jane');
  expect(await nameOf(url, sentWith(await issued(second, 'jane'), second, first))).toBe('jane');
  expect(await nameOf(url, sentWith(await issued(second, 'jane'), second, first, users))).toBe('jane');
  expect(await nameOf(url, sentWith(await issued(ofProxies, 'front'), ofProxies), remote)).toBe('olga');
  expect(await nameOf(url, sentWith(await issued(ofProxies, 'front'), ofProxies))).toContain('X-Remote-User');
  expect(await nameOf(url, await issued(first, 'jane'))).toContain('no authority');
});

test('an intermediate authority may be trusted without its root', async () => {
  const trusted = kept(await users.intermediate('trusted'));
  const other = kept(await users.intermediate('other'));
  const { url } = await world({ users: trusted.ca });
  expect(await nameOf(url, await issued(trusted, 'jane'))).toBe('jane');
  expect(await nameOf(url, sentWith(await issued(other, 'jane'), other, users))).toContain('no authority');
});

test('an authority may not do more than its certificate allows', async () => {
  const { url } = await world();
  const serversOnly = ['basicConstraints=critical,CA:true', 'extendedKeyUsage=serverAuth'];
  const last = kept(await users.intermediate('last', ['basicConstraints=critical,CA:true,pathlen:0']));
  const tooFar = kept(await last.intermediate('too far'));
  const narrow = kept(
    await users.intermediate('narrow', [
      'basicConstraints=critical,CA:true',
      'nameConstraints=critical,permitted;DNS:inside.example',
    ]),
  );
  const servers = kept(await users.intermediate('servers', serversOnly));
  const leaf = await issued(users, 'leaf', { extensions: ['basicConstraints=critical,CA:false'] });
  const refused: readonly (readonly [string, Certificate])[] = [
    ['a path that is too long', sentWith(await issued(tooFar, 'jane'), tooFar, last)],
    ['a name outside', sentWith(await narrow.issue({ names: ['DNS:outside.example'], commonName: 'jane' }), narrow)],
    ['an authority of servers', sentWith(await issued(servers, 'jane'), servers)],
    ['a certificate of a server', await issued(users, 'jane', { extensions: ['extendedKeyUsage=serverAuth'] })],
  ];
  for (const [what, certificate] of refused) {
    const { status } = await ask(url, { certificate });
    expect([what, status]).toEqual([what, 401]);
  }
  expect(await nameOf(url, leaf)).toBe('leaf');
  const inside = await narrow.issue({ names: ['DNS:a.inside.example'], commonName: 'jane' });
  expect(await nameOf(url, sentWith(inside, narrow))).toBe('jane');
  const client = await issued(users, 'jane', { extensions: ['extendedKeyUsage=clientAuth'] });
  expect(await nameOf(url, client)).toBe('jane');
});

test('a certificate that ends is refused on a connection that stays open', async () => {
  const { url } = await world();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const certificate = await issued(users, 'jane', { untilDays: seconds(4) });
  expect((await ask(url, { certificate, agent })).status).toBe(200);
  await eventually(async () => expect((await ask(url, { certificate, agent })).status).toBe(401), 10_000);
  const { body } = await ask(url, { certificate, agent });
  expect(body.errors?.[0]?.message).toContain('expired');
});

test.each(['user', 'proxy'])('a WebSocket is closed when the certificate of its %s ends', async (kind) => {
  const { url } = await world({ checkCallersMs: 50 });
  const ends = { untilDays: seconds(4) };
  const certificate = kind === 'user' ? await issued(users, 'jane', ends) : await issued(proxies, 'front', ends);
  const headers = kind === 'user' ? {} : { 'X-Remote-User': 'jane' };
  class Secured extends WebSocket {
    constructor(address: string, protocols: string | string[]) {
      super(address, protocols, { ca: gateway.ca, headers, ...certificate });
    }
  }
  const closed: unknown[] = [];
  const client = createClient({
    url: url.replace('https', 'wss'),
    webSocketImpl: Secured,
    retryAttempts: 0,
    on: { closed: (event) => closed.push(event) },
  });
  onTestFinished(() => void client.dispose());
  const messages = client.iterate({ query: 'subscription { exampleComWidgetChanges { __typename } }' });
  expect((await messages.next()).value).toHaveProperty('data');
  await sleep(500);
  expect(closed).toEqual([]);
  await eventually(() => expect(closed).toMatchObject([{ code: 4403 }]), 10_000);
});

test('a WebSocket is closed when its authority is no longer accepted', async () => {
  const { url, write } = await world({ checkCallersMs: 50 });
  const certificate = await issued(users, 'jane');
  const socket = new WebSocket(url.replace('https', 'wss'), 'graphql-transport-ws', { ca: gateway.ca, ...certificate });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const closed = once(socket, 'close');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  write('users.crt', gateway.ca);
  expect((await closed)[0]).toBe(4403);
});

test('an authority of users and proxies at once is refused', async () => {
  const { dir } = await world();
  const [cert, key, both] = [`${dir}/tls.crt`, `${dir}/tls.key`, `${dir}/users.crt`];
  await expect(TlsFiles.open({ cert, key, clientCa: both, proxyCa: both }, silentLogger)).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('authority of their own'),
  });
  await expect(TlsFiles.open({ cert, key, clientCa: cert }, silentLogger)).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('CN=gateway'),
  });
});

test('a chain that both authorities signed names nobody', async () => {
  // The same intermediate authority, cross-signed: its certificate by the proxies is in their file.
  const shared = kept(await users.intermediate('shared'));
  const { url } = await world({
    users: users.ca,
    proxies: `${proxies.ca}${kept(await shared.intermediate('below')).ca}`,
  });
  const below = opened.at(-1) as CertificateAuthority;
  const certificate = sentWith(await issued(below, 'front'), below, shared);
  expect(await nameOf(url, certificate)).toContain('both');
  expect(await nameOf(url, certificate, { 'x-remote-user': 'root' })).toContain('X-Remote');
});

test('files that change touch neither open WebSockets nor each other, and a broken file is logged once', async () => {
  const logged: { readonly level: string; readonly fields: object }[] = [];
  const noting = (level: string) => (fields: object) => void logged.push({ level, fields });
  const log = { ...silentLogger, info: noting('info'), error: noting('error'), child: () => log };
  const { url, dir, write } = await world({ log });
  const certificate = await issued(users, 'jane');
  const socket = new WebSocket(url.replace('https', 'wss'), 'graphql-transport-ws', { ca: gateway.ca, ...certificate });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  write('users.crt', 'no certificate');
  await eventually(() => expect(logged.map(({ level }) => level)).toEqual(['error']));
  // As Kubernetes does it: the files are links into a folder, which is a link too.
  const next = await gateway.issue({ names: gatewayNames, commonName: 'next' });
  mkdirSync(join(dir, 'next'));
  write('next/tls.crt', next.cert);
  write('next/tls.key', next.key);
  symlinkSync('next', join(dir, 'data'));
  for (const name of ['tls.crt', 'tls.key']) {
    symlinkSync(join('data', name), join(dir, 'link'));
    renameSync(join(dir, 'link'), join(dir, name));
  }
  await eventually(() => expect(logged.map(({ level }) => level)).toEqual(['error', 'info']));
  expect(await nameOf(url, certificate)).toBe('jane');
  expect(JSON.stringify(logged)).not.toContain('PRIVATE');
  socket.send('{"id":"1","type":"subscribe","payload":{"query":"{ viewer { name } }"}}');
  expect(String((await once(socket, 'message'))[0])).toContain('jane');
});

test('a session is not resumed, and a connection is not negotiated again', async () => {
  const { port } = await world();
  const certificate = await issued(users, 'jane');
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const options = { host: '127.0.0.1', port, ca: gateway.ca, ...certificate, maxVersion };
    const first = connectTls(options);
    let session: Buffer | undefined;
    first.on('session', (given) => {
      session = given;
    });
    first.on('error', () => {});
    await once(first, 'secureConnect');
    first.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(first, 'data');
    if (maxVersion === 'TLSv1.2') {
      const refused = await new Promise((resolve) => {
        first.once('error', resolve);
        first.once('close', resolve);
        first.renegotiate({ rejectUnauthorized: true }, (error) => resolve(error));
        setTimeout(() => resolve('nothing happened'), 2000);
      });
      expect(refused).not.toBeNull();
    }
    first.destroy();
    const second = connectTls({ ...options, ...(session === undefined ? {} : { session }) });
    await once(second, 'secureConnect');
    expect(second.isSessionReused()).toBe(false);
    second.destroy();
  }
});

test('versions before TLS 1.2 are refused', async () => {
  const { port } = await world();
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    ca: gateway.ca,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  await expect(once(socket, 'secureConnect')).rejects.toThrow();
});

test('a connection that never begins its handshake does not delay the end', async () => {
  const running = await world();
  const socket = connect(running.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const began = performance.now();
  await running.close();
  expect(performance.now() - began).toBeLessThan(1500);
});

test('a page of plain HTTP is of another origin', async () => {
  const { url, port } = await world();
  const certificate = await issued(users, 'jane');
  const from = (origin: string) => ask(url, { certificate, headers: { origin } });
  expect((await from(`https://127.0.0.1:${port}`)).status).toBe(200);
  expect((await from(`http://127.0.0.1:${port}`)).status).toBe(403);
});

test('a caller with a certificate gets no reservation where its requests may come to another process', async () => {
  const { url } = await world({ siblings: { folder: temporaryDirectory('siblings'), number: 1 } });
  const certificate = await issued(users, 'jane');
  const { status, body } = await ask(url, { certificate, method: 'PUT' });
  expect([status, body.errors?.[0]]).toEqual([
    400,
    { message: expect.stringContaining('use a WebSocket'), extensions: { code: 'BAD_USER_INPUT' } },
  ]);
});
