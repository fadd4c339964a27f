import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CertificateAuthority, createCertificateAuthority } from '../../../test/kit/certificates.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { sendStatus, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { PortolanError } from '../../base/errors.ts';
import { connect } from './connection.ts';
import { explainConnectionFailure } from './explain.ts';
import { RestClient, type RestClientOptions } from './rest-client.ts';

const folder = kubeconfigFolder();
const closing: (() => Promise<unknown>)[] = [];
let authority: CertificateAuthority;
let stranger: CertificateAuthority;
beforeAll(async () => {
  authority = await createCertificateAuthority();
  stranger = await createCertificateAuthority();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => {
  folder.remove();
  authority.remove();
  stranger.remove();
});

/** The explanation of a failed first request: code and one sentence. */
async function explanation(cluster: object, user: object = {}, options: RestClientOptions = {}): Promise<string> {
  const connection = await connect({ env: {}, kubeconfig: folder.write(cluster, user) });
  closing.push(() => connection.close());
  const error = await new RestClient(connection, options).get('/version').then(
    () => new Error('it worked'),
    (thrown: unknown) => thrown,
  );
  const explained = explainConnectionFailure(error, connection);
  expect(explained).toBeInstanceOf(PortolanError);
  expect(explained.cause).toBe(error);
  expect(explained.message).not.toContain('\n');
  expect(explained.message).toMatch(/\.$/);
  expect(explained.message).toContain(connection.server);
  return `${explained.code}: ${explained.message}`;
}

async function serve(...args: Parameters<typeof startLoopbackServer>) {
  const server = await startLoopbackServer(...args);
  closing.push(() => server.close());
  return server;
}

const trusting = (server: string): object => ({
  server,
  'certificate-authority-data': Buffer.from(authority.ca).toString('base64'),
});

describe('a server that cannot be reached', () => {
  test('where nothing listens', async () => {
    const server = await startLoopbackServer(() => {});
    await server.close();
    expect(await explanation({ server: server.url })).toMatch(
      /^UPSTREAM_UNAVAILABLE: Nothing listens .*ECONNREFUSED.*: start the cluster, or correct the server of context test in .*config\.$/,
    );
  });

  test('whose name is unknown', async () => {
    expect(await explanation({ server: 'https://api.invalid:6443' })).toMatch(
      /^UPSTREAM_UNAVAILABLE: The API server's host name cannot be resolved here .*(ENOTFOUND|EAI_AGAIN).*VPN/,
    );
  });

  test('that does not answer', async () => {
    const server = await serve(() => {});
    expect(await explanation({ server: server.url }, {}, { headersTimeoutMs: 50 })).toMatch(
      /^UPSTREAM_UNAVAILABLE: The API server did not answer in time .*UND_ERR_HEADERS_TIMEOUT.*firewall/,
    );
  });

  test('because its proxy does not let through, or is not there', async () => {
    const absent = await startLoopbackServer(() => {});
    await absent.close();
    const refusing = createHttpServer().on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    refusing.listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    closing.push(async () => {
      refusing.close();
      await once(refusing, 'close');
    });
    const address = refusing.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const server = 'https://api.example:6443';
    expect(await explanation({ server, 'proxy-url': `http://127.0.0.1:${port}` })).toMatch(
      /^UPSTREAM_UNAVAILABLE: The proxy before the API server did not open a tunnel .*NO_PROXY/,
    );
    const secret = absent.url.replace('//', '//user:secret@');
    const said = await explanation({ server, 'proxy-url': secret });
    expect(said).toContain(`The proxy ${absent.url} before the API server cannot be reached`);
    expect(said).not.toContain('secret');
  });

  test('that hangs up', async () => {
    const server = createServer((socket) => socket.destroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => {
      server.close();
      await once(server, 'close');
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await explanation({ server: `http://127.0.0.1:${port}` })).toMatch(
      /^UPSTREAM_UNAVAILABLE: The connection to the API server broke off .*check that an API server runs there/,
    );
  });
});

describe('a certificate that is refused', () => {
  const ok = (_: unknown, response: { end(text: string): void }): void => response.end('{}');

  test('signed by nobody who is trusted', async () => {
    const leaf = await stranger.issue({ names: ['IP:127.0.0.1'] });
    const server = await serve(ok, leaf);
    const expected = /^UPSTREAM_UNAVAILABLE: .*not signed by an authority.*certificate-authority-data/;
    expect(await explanation({ server: server.url })).toMatch(expected);
    expect(await explanation(trusting(server.url))).toMatch(expected);
  });

  test('signed by itself', async () => {
    const server = await serve(ok, await stranger.selfSigned(['IP:127.0.0.1']));
    expect(await explanation({ server: server.url })).toMatch(
      /DEPTH_ZERO_SELF_SIGNED_CERT.*certificate-authority-data/,
    );
  });

  test('for another host', async () => {
    const server = await serve(ok, await authority.issue({ names: ['DNS:kubernetes'] }));
    expect(await explanation(trusting(server.url))).toMatch(
      /^UPSTREAM_UNAVAILABLE: .*for another host name .*ERR_TLS_CERT_ALTNAME_INVALID.*tls-server-name/,
    );
  });

  test.each([
    ['expired', { fromDays: -10, untilDays: -1 }, 'CERT_HAS_EXPIRED'],
    ['not yet valid', { fromDays: 1, untilDays: 10 }, 'CERT_NOT_YET_VALID'],
  ])('%s', async (_, days, code) => {
    const server = await serve(ok, await authority.issue({ names: ['IP:127.0.0.1'], ...days }));
    const said = await explanation(trusting(server.url));
    expect(said).toMatch(/^UPSTREAM_UNAVAILABLE: .*not valid at this time.*renew/);
    expect(said).toContain(code);
  });

  test('that is not there, because the server speaks no TLS', async () => {
    const server = await serve(ok);
    expect(await explanation({ server: server.url.replace('http:', 'https:') })).toMatch(
      /^UPSTREAM_UNAVAILABLE: The server at the address does not speak TLS.*http: instead of https:/,
    );
  });

  test.each([
    // Only TLS 1.2 reports this in the handshake; with TLS 1.3 the server only closes the connection.
    ['TLSv1.2' as const, /^UPSTREAM_UNAVAILABLE: .*TLS handshake.*client certificate of context test/],
    ['TLSv1.3' as const, /^UPSTREAM_UNAVAILABLE: .*broke off.*client certificate of context test/],
  ])('of ours, over %s', async (maxVersion, expected) => {
    const leaf = await authority.issue({ names: ['IP:127.0.0.1'] });
    const asking = { ca: authority.ca, requestCert: true, rejectUnauthorized: true, maxVersion };
    const server = await serve(ok, { ...leaf, ...asking });
    expect(await explanation(trusting(server.url))).toMatch(expected);
  });
});

describe('a caller who is refused', () => {
  test('by 401', async () => {
    const server = await serve((_, response) => sendStatus(response, 401, 'Unauthorized', 'Unauthorized'));
    expect(await explanation({ server: server.url }, { token: 'secret' })).toMatch(
      /^UNAUTHENTICATED: .*refused the credentials of context test \(401\): log in again/,
    );
  });

  test('by 403', async () => {
    const server = await serve((_, response) => sendStatus(response, 403, 'Forbidden', 'User "a" cannot get path'));
    expect(await explanation({ server: server.url })).toMatch(
      /^FORBIDDEN: .*context test.*User "a" cannot get path.*ClusterRoleBinding/,
    );
  });

  test('without credentials: nothing is to be granted to nobody', async () => {
    const message = 'forbidden: User "system:anonymous" cannot get path "/version"';
    const server = await serve((_, response) => sendStatus(response, 403, 'Forbidden', message));
    const found = await explanation({ server: server.url });
    expect(found).toMatch(/^FORBIDDEN: .*context test has no credentials: give its user in .* a token, a client cert/);
    expect(found).not.toContain('ClusterRoleBinding');
    const sent = await explanation({ server: server.url }, { username: 'a', password: 'b' });
    expect(sent).toMatch(/^FORBIDDEN: .*the credentials of context test in .* did not reach it: check the proxy/);
    expect(sent).not.toContain('ClusterRoleBinding');
  });

  test('by 401 without credentials', async () => {
    const server = await serve((_, response) => sendStatus(response, 401, 'Unauthorized', 'Unauthorized'));
    expect(await explanation({ server: server.url })).toMatch(
      /^UNAUTHENTICATED: .*refuses requests without credentials \(401\), and context test has no credentials: give/,
    );
  });

  test.each([401, 403])('by %i: a server of plain HTTP on another machine gets no credentials', async (status) => {
    const message = 'forbidden: User "system:anonymous" cannot get path "/version"';
    const server = await serve((_, response) => sendStatus(response, status, 'Forbidden', message));
    const found = await explanation({ server: server.url.replace('127.0.0.1', '0.0.0.0') }, { token: 'secret' });
    expect(found).toMatch(
      /, and a server of plain HTTP on another machine gets no credentials: write its address with https in .*config\.$/,
    );
  });

  test('by a proxy, with a page', async () => {
    const server = await serve((_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<title>Bad gateway</title>');
    });
    expect(await explanation({ server: server.url })).toMatch(/^UPSTREAM_UNAVAILABLE: .*Bad gateway/);
  });
});

test('leaves alone what already says what to do', async () => {
  const connection = {
    server: 'https://a',
    context: 'test',
    source: 'config',
    proxy: undefined,
    hasCredentials: true,
    isPrivate: true,
  };
  const own = new PortolanError('CONFIGURATION', 'Do this.');
  expect(explainConnectionFailure(own, connection)).toBe(own);
});
