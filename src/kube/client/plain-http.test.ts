/** Plain HTTP: who is named on a way that others can read. The address 0.0.0.0 is no loopback, and yet reaches this machine. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { BearerToken } from '../credentials/bearer-token.ts';
import { type Connection, connect, type RequestIdentity, type RequestSender } from './connection.ts';

const folder = kubeconfigFolder();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => folder.remove());

const identities: readonly RequestIdentity[] = [
  { type: 'token', token: new BearerToken('caller-secret') },
  { type: 'impersonation', user: { name: 'jane', groups: [] } },
];

async function serve(): Promise<LoopbackServer & { readonly elsewhere: string }> {
  const server = await startLoopbackServer((_: IncomingMessage, response: ServerResponse) => void response.end('ok'));
  closing.push(() => server.close());
  return Object.assign(server, { elsewhere: server.url.replace('127.0.0.1', '0.0.0.0') });
}

async function open(cluster: object, user: object = { token: 'gateway-secret' }): Promise<Connection> {
  const connection = await connect({ env: {}, kubeconfig: folder.write(cluster, user) });
  closing.push(() => connection.close());
  return connection;
}

async function ask(sender: RequestSender): Promise<void> {
  const answer = await sender.request({ method: 'GET', path: '/', headersTimeoutMs: 5000, bodyTimeoutMs: 5000 });
  answer.body.resume();
}

describe('the user of a kubeconfig', () => {
  test('is named to a server on this machine, and to none that a proxy on another machine reaches', async () => {
    const server = await serve();
    const near = await open({ server: 'http://127.0.0.1:8080', 'proxy-url': server.url });
    const far = await open({ server: 'http://127.0.0.1:8080', 'proxy-url': server.elsewhere });
    for (const each of [near, far]) await ask(each);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer gateway-secret', undefined]);
    expect([near.hasCredentials, far.hasCredentials]).toEqual([true, false]);
  });

  test.each(['http://proxy.corp:3128', 'socks5://proxy.corp', 'http://127.0.0.1@proxy.corp', 'http://127.0.0.1:x'])(
    'is not named through the proxy %s',
    async (proxy) => {
      const connection = await open({ server: 'http://127.0.0.1:8080', 'proxy-url': proxy });
      expect(connection.hasCredentials).toBe(false);
    },
  );

  test.each(['socks5://LOCALHOST:1080', 'http://[::1]:3128'])('is named through the proxy %s', async (proxy) => {
    const connection = await open({ server: 'http://127.0.0.1:8080', 'proxy-url': proxy });
    expect(connection.hasCredentials).toBe(true);
  });
});

describe('a caller', () => {
  test('is named to no server of plain HTTP on another machine', async () => {
    const server = await serve();
    const clusters = [
      { server: server.elsewhere },
      { server: server.elsewhere.replace('http://', '') },
      { server: 'http://127.0.0.1:8080', 'proxy-url': server.elsewhere },
    ];
    for (const cluster of clusters) {
      const connection = await open(cluster);
      for (const identity of identities) {
        const failure = await Promise.resolve()
          .then(() => ask(connection.connectAs(identity)))
          .catch((error: unknown) => error);
        expect(codeOf(failure)).toBe('CONFIGURATION');
        expect(messageOf(failure)).toMatch(
          /^The server http:\S+ of context test in .* is one of plain HTTP on .* so nothing .* write its address with https\.$/,
        );
      }
    }
    expect(server.requests).toEqual([]);
  });

  test('is named to a server on this machine', async () => {
    const server = await serve();
    const connection = await open({ server: server.url });
    for (const identity of identities) await ask(connection.connectAs(identity));
    expect(server.requests.map(({ headers }) => [headers.authorization, headers['impersonate-user']])).toEqual([
      ['Bearer caller-secret', undefined],
      ['Bearer gateway-secret', 'jane'],
    ]);
  });
});

describe('a user in the address', () => {
  test.each(['http://jane:secret@', 'jane:secret@'])('is sent: %s', async (prefix) => {
    const server = await serve();
    const connection = await open({ server: server.url.replace('http://', prefix) }, {});
    await ask(connection);
    expect(connection.hasCredentials).toBe(true);
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('jane:secret').toString('base64')}`);
  });

  test.each([
    ['https://jane:s3cr/et@host', 'https://host'],
    ['https://jane:s3cr/e@t@host', 'https://host'],
    ['ftp://jane:s3cret@host', 'ftp://host'],
    ['https:/s3cret@host', 'https:/host'],
    ['jane:s3\ncret@host/path', 'host/path'],
  ])('is left out of the error: %j', async (server, shown) => {
    const failure = await open({ server }).catch((error: unknown) => error);
    expect(codeOf(failure)).toBe('CONFIGURATION');
    expect(messageOf(failure)).toContain(`The server ${JSON.stringify(shown)} of context test`);
  });
});
