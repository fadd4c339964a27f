/** Users with the OIDC auth provider: Portolan sends the token that kubectl sends with the same kubeconfig, or refuses it as kubectl does. */
import { execFile } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, startLoopbackServer } from '../kit/loopback-server.ts';
import { mainServer } from '../kit/real-servers.ts';

const missing = mainServer.missing(['kubectl']);

/** An unsigned token: kubectl does not verify it either. */
const jwt = (claims: object): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${Buffer.from('signature').toString('base64url')}`;
const hour = 3600;
const now = Math.floor(Date.now() / 1000);
const lasting = jwt({ exp: now + hour, sub: 'held' });
const ended = jwt({ exp: now - hour, sub: 'held' });
const renewed = jwt({ exp: now + hour, sub: 'renewed', iss: 'https://elsewhere.example.com', aud: 'somebody' });
const granted = { access_token: 'access', token_type: 'Bearer', expires_in: hour, id_token: renewed };

interface OidcCase {
  /** Of the user; ISSUER is the address of the provider. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** What the provider says of itself, besides its token endpoint. */
  readonly document?: object;
  /** The provider refuses a secret in a header. */
  readonly secretIn?: 'form';
  readonly answer?: readonly [status: number, body: object];
}

const cases: Readonly<Record<string, OidcCase>> = {
  'a token that lasts': { settings: { 'id-token': lasting } },
  'a token that lasts, and no refresh token': { settings: { 'id-token': lasting, 'refresh-token': undefined } },
  'a token that has ended': { settings: { 'id-token': ended } },
  'a token that has ended, and no refresh token': { settings: { 'id-token': ended, 'refresh-token': undefined } },
  'a token that has ended, and an empty refresh token': { settings: { 'id-token': ended, 'refresh-token': '' } },
  'a token without an end': { settings: { 'id-token': jwt({ sub: 'held' }) } },
  'a token without an end, and no refresh token': {
    settings: { 'id-token': jwt({ sub: 'held' }), 'refresh-token': undefined },
  },
  'a token that is no JWT, and no refresh token': { settings: { 'id-token': 'abc', 'refresh-token': undefined } },
  'a token of which no part is JSON, and no refresh token': {
    settings: { 'id-token': 'YQ.YQ.YQ', 'refresh-token': undefined },
  },
  'a token that lasts, and no client': { settings: { 'id-token': lasting, 'client-id': undefined } },
  'a token that lasts, and no issuer': { settings: { 'id-token': lasting, 'idp-issuer-url': undefined } },
  'a token that is no JWT': { settings: { 'id-token': 'abc' } },
  'a token of four parts': { settings: { 'id-token': `${lasting}.a`, 'refresh-token': undefined } },
  'a refresh token alone': { settings: {} },
  'an empty token': { settings: { 'id-token': '' } },
  'a client with a secret': { settings: { 'client-secret': 'a:b' } },
  'a client whose name has marks': { settings: { 'client-id': 'my-app_1.x', 'client-secret': 'ü +' } },
  'a client whose secret goes into the form': {
    settings: { 'client-secret': 'a:b' },
    document: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
    secretIn: 'form',
  },
  'a client whose secret goes into the form, of which the provider says nothing': {
    settings: { 'client-secret': 'a:b' },
    secretIn: 'form',
  },
  'a client whose secret goes into the form, of a provider that says otherwise': {
    settings: { 'client-secret': 'a:b' },
    document: { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] },
    secretIn: 'form',
  },
  'an issuer with a slash at its end': { settings: { 'idp-issuer-url': 'ISSUER/' } },
  'an issuer with a path': { settings: { 'idp-issuer-url': 'ISSUER/realms/one' } },
  'an issuer with a path and a slash': { settings: { 'idp-issuer-url': 'ISSUER/realms/one/' } },
  'an issuer that names itself otherwise': { settings: {}, document: { issuer: 'https://elsewhere.example.com' } },
  'an issuer that signs with other algorithms': {
    settings: {},
    document: { id_token_signing_alg_values_supported: ['HS256'] },
  },
  'an issuer without a token endpoint': { settings: {}, document: { token_endpoint: undefined } },
  'an issuer that is not there': { settings: { 'idp-issuer-url': 'http://127.0.0.1:1' } },
  'an issuer that is no URL': { settings: { 'idp-issuer-url': 'issuer' } },
  'no issuer': { settings: { 'idp-issuer-url': undefined } },
  'no client': { settings: { 'client-id': undefined } },
  'an answer without an ID token': { settings: {}, answer: [200, { ...granted, id_token: undefined }] },
  'an answer with a new refresh token': { settings: {}, answer: [200, { ...granted, refresh_token: 'next' }] },
  'an answer with the seconds as text': { settings: {}, answer: [200, { ...granted, expires_in: '3600' }] },
  'an answer with another type of token': { settings: {}, answer: [200, { ...granted, token_type: 'mac' }] },
  'an answer with the status 201': { settings: {}, answer: [201, granted] },
  'a refusal': { settings: {}, answer: [400, { error: 'invalid_grant', error_description: 'private' }] },
  'a failure': { settings: {}, answer: [500, {}] },
};

describe.skipIf(missing !== null)(`OIDC users as kubectl reads them${missing === null ? '' : ` (${missing})`}`, () => {
  const folder = kubeconfigFolder();
  let authority: CertificateAuthority;
  let server: LoopbackServer;
  let provider: LoopbackServer;
  let given: OidcCase = { settings: {} };
  let sent: (string | undefined)[] = [];
  let grants: object[] = [];

  beforeAll(async () => {
    authority = await createCertificateAuthority();
    const leaf = await authority.issue({ names: ['IP:127.0.0.1'] });
    server = await startLoopbackServer((request, response) => {
      sent.push(request.headers.authorization);
      response.end('{}');
    }, leaf);
    provider = await startLoopbackServer(async (request, response) => {
      if (/^(?:\/realms\/one)?\/\.well-known\/openid-configuration$/.test(request.url ?? '')) {
        return sendJson(response, 200, {
          issuer: provider.url,
          token_endpoint: `${provider.url}/token`,
          ...given.document,
        });
      }
      if (request.url !== '/token') return sendJson(response, 404, {});
      const { client_id, client_secret, ...form } = Object.fromEntries(new URLSearchParams(await readText(request)));
      const { authorization } = request.headers;
      if (given.secretIn === 'form' && authorization !== undefined)
        return sendJson(response, 401, { error: 'invalid_client' });
      grants.push({
        ...form,
        client: given.settings['client-secret'] === undefined ? null : { authorization, client_id, client_secret },
      });
      const [status, body] = given.answer ?? [200, granted];
      sendJson(response, status, body);
    });
  });
  afterAll(async () => {
    await Promise.all([server?.close(), provider?.close()]);
    authority?.remove();
    folder.remove();
  });

  /** A file of its own for each reader, because kubectl writes the new tokens into it. */
  function kubeconfig(): string {
    const config = {
      'idp-issuer-url': 'ISSUER',
      'client-id': 'portolan',
      'refresh-token': 'refresh',
      ...given.settings,
    };
    const issuer = config['idp-issuer-url']?.replace('ISSUER', provider.url);
    const cluster = { server: server.url, 'certificate-authority-data': Buffer.from(authority.ca).toString('base64') };
    return folder.write(cluster, {
      'auth-provider': { name: 'oidc', config: { ...config, 'idp-issuer-url': issuer } },
    });
  }

  async function outcome(ask: (file: string) => Promise<unknown>): Promise<object> {
    sent = [];
    grants = [];
    await ask(kubeconfig()).catch(() => null);
    return { sent: sent[0] ?? null, grant: grants[0] ?? null };
  }

  const env = { PATH: process.env['PATH'], HOME: folder.dir };
  const kubectl = (file: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const args = [`--kubeconfig=${file}`, 'get', '--raw', '/probe'];
      const child = execFile(mainServer.assets.path('kubectl'), args, { env }, (error) =>
        error === null ? resolve(null) : reject(error),
      );
      child.stdin?.end();
    });
  const portolan = async (file: string): Promise<void> => {
    const connection = await connect({ env, kubeconfig: file });
    try {
      await new RestClient(connection).get('/probe');
    } finally {
      await connection.close();
    }
  };

  test.each(Object.entries(cases))('%s', async (_, each) => {
    given = each;
    const theirs = await outcome(kubectl);
    expect(await outcome(portolan)).toEqual(theirs);
  });
});
