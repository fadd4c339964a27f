import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { OpenIDConnectAuth } from '@kubernetes/client-node/dist/oidc_auth.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CertificateAuthority, createCertificateAuthority } from '../../../test/kit/certificates.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { systemClock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { loadCredentials } from './credentials.ts';
import { readClusterConfig } from './kubeconfig.ts';
import { oidcCredential } from './oidc-credential.ts';

const folder = kubeconfigFolder();
const now = 1_700_000_000_000;
/** An unsigned token, because this code does not verify signatures. Expires `minutes` after `now`. */
const jwt = (minutes: number): string =>
  `e30.${Buffer.from(JSON.stringify({ exp: now / 1000 + minutes * 60 })).toString('base64url')}.c2ln`;

let authority: CertificateAuthority;
let provider: LoopbackServer;
/** The requests that the token endpoint received, and its answer. */
let grants: { form: Record<string, string>; authorization: string | undefined }[] = [];
let answer: { status: number; body: object } = { status: 200, body: {} };
let methods: string[] | undefined;

beforeAll(async () => {
  authority = await createCertificateAuthority();
  const leaf = await authority.issue({ names: ['IP:127.0.0.1'] });
  provider = await startLoopbackServer(async (request, response) => {
    if (request.url === '/realm/.well-known/openid-configuration') {
      const token_endpoint = `${provider.url}/token`;
      return sendJson(response, 200, { token_endpoint, token_endpoint_auth_methods_supported: methods });
    }
    const form = Object.fromEntries(new URLSearchParams(await readText(request)));
    grants.push({ form, authorization: request.headers.authorization });
    sendJson(response, answer.status, answer.body);
  }, leaf);
});
beforeEach(() => {
  grants = [];
  methods = undefined;
});
afterAll(async () => {
  await provider.close();
  authority.remove();
  folder.remove();
});

function configOf(settings: object) {
  const user = {
    'auth-provider': {
      name: 'oidc',
      config: {
        'idp-issuer-url': `${provider.url}/realm/`,
        'client-id': 'portolan',
        'refresh-token': 'lasting',
        'idp-certificate-authority-data': Buffer.from(authority.ca).toString('base64'),
        ...settings,
      },
    },
  };
  return readClusterConfig({ env: {}, kubeconfig: folder.write({ server: 'https://a' }, user) });
}

const get = (config: ReturnType<typeof configOf>) => oidcCredential(config, { env: {}, now });

describe('oidcCredential', () => {
  test('uses a token while it lasts', async () => {
    expect(await get(configOf({ 'id-token': jwt(5) }))).toEqual({ token: jwt(5), expiresAt: now + 300_000 });
    expect(grants).toEqual([]);
  });

  test('renews one that is about to end, once, and keeps the refresh token when no new one comes', async () => {
    const config = configOf({ 'id-token': jwt(0.5) });
    answer = { status: 200, body: { id_token: jwt(60) } };
    expect(await get(config)).toEqual({ token: jwt(60), expiresAt: now + 3_600_000 });
    expect((await get(config)).token).toBe(jwt(60));
    expect(grants).toEqual([
      {
        form: { grant_type: 'refresh_token', refresh_token: 'lasting', client_id: 'portolan' },
        authorization: undefined,
      },
    ]);
    expect(config.oidc?.['refresh-token']).toBe('lasting');
  });

  test('takes a new refresh token when one comes', async () => {
    const config = configOf({});
    answer = { status: 200, body: { id_token: jwt(0.5), refresh_token: 'next' } };
    await get(config);
    await get(config);
    expect(grants.map((grant) => grant.form['refresh_token'])).toEqual(['lasting', 'next']);
  });

  test('is not lost where OpenIDConnectAuth alone loses it: with a refresh token that stays, or without an ID token', async () => {
    const asked: string[] = [];
    const client = {
      refresh: async (token: string) => {
        asked.push(token);
        return { id_token: jwt(60), refresh_token: undefined, expires_at: 3600 };
      },
    };
    const alone = new OpenIDConnectAuth();
    const sent = async (config: Record<string, unknown>): Promise<unknown> => {
      const headers = {};
      await alone.applyAuthentication({ name: 'u', authProvider: { name: 'oidc', config } }, { headers }, client);
      return headers;
    };
    const { oidc } = configOf({ 'id-token': jwt(-1) });
    expect(await sent({ ...oidc, 'id-token': undefined })).toEqual({});
    expect(await sent(oidc ?? {})).toEqual({ Authorization: `Bearer ${jwt(60)}` });
    // It takes the 3600 seconds for a time in 1970, and has no refresh token any more.
    expect(await sent(oidc ?? {})).toEqual({});
    expect(asked).toEqual(['lasting']);
  });

  test('needs an issuer that can be asked, and a token that is a JWT, as for kubectl', async () => {
    for (const settings of [{ 'id-token': jwt(5), 'client-id': undefined }, { 'id-token': 'secret.token' }]) {
      const error = await get(configOf(settings)).catch((thrown: unknown) => thrown);
      expect(messageOf(error)).toMatch(/no client-id|is no JWT/);
      expect(inspect(error)).not.toContain('secret');
    }
    expect(grants).toEqual([]);
  });

  test('sends the client secret in the way the provider takes', async () => {
    answer = { status: 200, body: { id_token: jwt(60) } };
    await get(configOf({ 'client-secret': 'a:b' }));
    await get(configOf({ 'client-id': "o'neil (web)", 'client-secret': 'ü +' }));
    methods = ['client_secret_post'];
    await get(configOf({ 'client-secret': 'a:b' }));
    expect(grants.map(({ form, authorization }) => [form['client_secret'], authorization])).toEqual([
      [undefined, `Basic ${Buffer.from('portolan:a%3Ab').toString('base64')}`],
      [undefined, `Basic ${Buffer.from('o%27neil+%28web%29:%C3%BC+%2B').toString('base64')}`],
      ['a:b', undefined],
    ]);
  });

  test('goes on with a token that still lasts when it cannot be renewed', async () => {
    answer = { status: 400, body: { error: 'invalid_grant', error_description: 'private' } };
    expect((await get(configOf({ 'id-token': jwt(0.5) }))).token).toBe(jwt(0.5));
    const error = await get(configOf({ 'id-token': jwt(-1) })).catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('UNAUTHENTICATED');
    expect(messageOf(error)).toMatch(/answered 400 invalid_grant.*log in again/);
    expect(messageOf(error)).not.toContain('private');
  });

  test.each([
    [{ 'refresh-token': undefined }, 'no refresh-token'],
    [{ 'client-id': undefined }, 'no client-id'],
    [{ 'idp-issuer-url': 'https://127.0.0.1:1' }, 'ECONNREFUSED'],
    [{ 'idp-certificate-authority-data': undefined }, 'certificate'],
  ])('tells what is in the way: %j', async (settings, expected) => {
    const error = await get(configOf({ 'id-token': jwt(-1), ...settings })).catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('UNAUTHENTICATED');
    expect(messageOf(error)).toContain(expected);
  });

  test('is renewed through a SOCKS proxy of the environment', async () => {
    const versions: (number | undefined)[] = [];
    const proxy = createServer((socket) => {
      socket.once('data', (hello) => {
        versions.push(hello[0]);
        socket.destroy();
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    try {
      const env = { HTTPS_PROXY: `socks5h://127.0.0.1:${port}` };
      const error = await oidcCredential(configOf({ 'idp-issuer-url': 'https://issuer.example.com' }), {
        env,
        now,
      }).catch((thrown: unknown) => thrown);
      expect(codeOf(error)).toBe('UNAUTHENTICATED');
      // The first byte of a SOCKS greeting is its version (RFC 1928).
      expect(versions).toContain(5);
    } finally {
      proxy.close();
    }
  });

  test('is what requests carry', async () => {
    const config = configOf({ 'id-token': jwt(5) });
    const loaded = await loadCredentials(config, { env: {}, clock: { ...systemClock, now: () => now } });
    expect(loaded.headers['authorization']).toBe(`Bearer ${jwt(5)}`);
    expect([loaded.refreshAt, loaded.expiresAt]).toEqual([now + 60_000, now + 300_000]);
  });
});
