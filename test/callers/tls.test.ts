/** TLS of the gateway's own port: client certificates, front proxies, and files that change. */

import { X509Certificate } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import type { Caller } from '../../src/access/caller.ts';
import { type Certificate, type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { eventually } from '../kit/eventually.ts';
import { type Asked, askOverTls, gatewayNames, tlsGateway } from '../kit/tls-gateway.ts';

let gateway: CertificateAuthority;
let users: CertificateAuthority;
let proxies: CertificateAuthority;
let strangers: CertificateAuthority;
let jane: Certificate;
let front: Certificate;

const issued = (authority: CertificateAuthority, commonName: string, more: object = {}): Promise<Certificate> =>
  authority.issue({ names: [], commonName, ...more });

beforeAll(async () => {
  gateway = await createCertificateAuthority('gateways');
  users = await createCertificateAuthority('users');
  proxies = await createCertificateAuthority('proxies');
  strangers = await createCertificateAuthority('users');
  jane = await issued(users, 'jane', { organization: 'devs' });
  front = await issued(proxies, 'front');
}, 60_000);
afterAll(() => {
  for (const authority of [gateway, users, proxies, strangers]) authority.remove();
});

const world = () => tlsGateway({ gateway, users: users.ca, proxies: proxies.ca });
const ask = (url: string, asked: Omit<Asked, 'ca'>) => askOverTls(url, { ca: gateway.ca, ...asked });

const remote = { 'x-remote-user': 'olga', 'x-remote-group': ['ops', 'a, b'] };

test('a certificate names its user, and a proxy names another', async () => {
  const { url } = await world();
  expect((await ask(url, { certificate: jane })).body.data?.viewer).toEqual({
    name: 'jane',
    groups: ['devs', 'system:authenticated'],
  });
  expect((await ask(url, { certificate: front, headers: remote })).body.data?.viewer).toEqual({
    name: 'olga',
    groups: ['ops', 'a, b', 'system:authenticated'],
  });
  // A prepared answer.
  const page = await ask(url, { certificate: jane, query: '{ exampleComWidgets { nodes { metadata { name } } } }' });
  expect(page.body.data).toEqual({ exampleComWidgets: { nodes: [{ metadata: { name: 'a' } }] } });
});

test('a caller has the uid and the extra of the certificate, or those that the proxy sends', async () => {
  const callers: Caller[] = [];
  const { url } = await tlsGateway({
    ...{ gateway, users: users.ca, proxies: proxies.ca },
    onCaller: (caller) => callers.push(caller),
  });
  const certificate = await issued(users, 'jane', { uid: '42' });
  await ask(url, { certificate });
  const extra = { 'x-remote-extra-Example.com%2FScopes': ['read', 'list, watch'], 'x-remote-uid': '7' };
  await ask(url, { certificate: front, headers: { ...remote, ...extra } });
  const fingerprint = new X509Certificate(certificate.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  expect(callers.map(({ user }) => user)).toEqual([
    {
      user: 'jane',
      groups: ['system:authenticated'],
      uid: '42',
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
    },
    {
      user: 'olga',
      groups: ['ops', 'a, b', 'system:authenticated'],
      uid: '7',
      extra: { 'example.com/scopes': ['read', 'list, watch'] },
    },
  ]);
});

test('nobody else is authenticated', async () => {
  const { url } = await world();
  const refused: readonly (readonly [string, Omit<Asked, 'ca'>])[] = [
    ['no certificate', {}],
    ['a certificate of a third authority', { certificate: await issued(strangers, 'jane') }],
    ['a certificate of the gateway itself', { certificate: await issued(gateway, 'jane') }],
    ['an expired certificate', { certificate: await issued(users, 'jane', { fromDays: -9, untilDays: -1 }) }],
    ['a certificate of tomorrow', { certificate: await issued(users, 'jane', { fromDays: 1, untilDays: 9 }) }],
    ['a self-signed certificate', { certificate: await users.selfSigned(['DNS:jane']) }],
    ['a proxy as a user', { certificate: front }],
    ['a user as a proxy', { certificate: jane, headers: remote }],
    ['headers of a proxy without a certificate', { headers: remote }],
    ['extra without a proxy', { certificate: jane, headers: { 'x-remote-extra-scopes': 'all' } }],
    ['a uid without a proxy', { certificate: jane, headers: { 'x-remote-uid': '1' } }],
    ['another name of the proxies', { certificate: await issued(proxies, 'other'), headers: remote }],
    ['a token', { headers: { authorization: 'Bearer abc' } }],
  ];
  for (const [what, asked] of refused) {
    const { status, body } = await ask(url, asked);
    expect([what, status, body.data]).toEqual([what, 401, undefined]);
  }
});

test('a WebSocket is authenticated by its certificate', async () => {
  const { url } = await world();
  const over = (certificate: Certificate | null) => {
    class Secured extends WebSocket {
      constructor(address: string, protocols: string | string[]) {
        super(address, protocols, {
          ca: gateway.ca,
          ...(certificate === null ? {} : { cert: certificate.cert, key: certificate.key }),
        });
      }
    }
    const client = createClient({ url: url.replace('https', 'wss'), webSocketImpl: Secured, retryAttempts: 0 });
    onTestFinished(() => void client.dispose());
    return client.iterate({ query: '{ viewer { name } }' }).next();
  };
  expect((await over(jane)).value).toMatchObject({ data: { viewer: { name: 'jane' } } });
  await expect(over(null)).rejects.toMatchObject({ code: 4403 });
});

test('new files are used by the next connections, and broken ones are not', async () => {
  const { url, port, dir, write } = await world();
  const served = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca: gateway.ca, servername: 'localhost' }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });
  expect(await served()).toBe('gateway');
  const next = await gateway.issue({ names: gatewayNames, commonName: 'gateway-2' });
  // Between the two files, the pair does not fit.
  write('tls.crt.new', next.cert);
  write('tls.key.new', next.key);
  renameSync(join(dir, 'tls.crt.new'), join(dir, 'tls.crt'));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await served()).toBe('gateway');
  renameSync(join(dir, 'tls.key.new'), join(dir, 'tls.key'));
  await eventually(async () => expect(await served()).toBe('gateway-2'));
  // The authority of users is replaced too.
  write('users.crt', strangers.ca);
  const other = await issued(strangers, 'jane');
  await eventually(async () => expect((await ask(url, { certificate: other })).status).toBe(200));
  expect((await ask(url, { certificate: jane })).status).toBe(401);
});
