import { describe, expect, test } from 'vitest';
import { readInline } from '../credentials/inline-kubeconfig.ts';
import { clusterOfSecret } from './cluster-secret.ts';

const secret = (values: Readonly<Record<string, string>>, name = 'east') => ({
  metadata: { namespace: 'portolan', name },
  data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

function kubeconfig(user: object, cluster: object = {}): string {
  return JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: { server: 'https://k.example', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  });
}

describe('the form of Argo CD', () => {
  test('becomes a kubeconfig with the same server and credentials', () => {
    const config = {
      bearerToken: 'a-token',
      tlsClientConfig: {
        serverName: 'k.internal',
        caData: 'Y2E=',
        certData: 'Y2VydA==',
        keyData: 'a2V5',
        insecure: false,
      },
    };
    const found = clusterOfSecret(
      secret({ name: 'production', server: 'https://k.example:6443/', config: JSON.stringify(config) }),
    );
    expect(found.name).toBe('production');
    const { clusters, users } = readInline(found.inline ?? { text: '', source: '' });
    expect(clusters).toMatchObject([
      { server: 'https://k.example:6443', caData: 'Y2E=', tlsServerName: 'k.internal', skipTLSVerify: false },
    ]);
    expect(users[0]?.user).toMatchObject({ token: 'a-token', certData: 'Y2VydA==', keyData: 'a2V5' });
  });

  test('needs no config for a server without credentials', () => {
    expect(clusterOfSecret(secret({ server: 'http://k.example' })).name).toBe('east');
  });
});

test.each(['kubeconfig', 'value'])('a kubeconfig under the key %s is taken as it is', (key) => {
  const text = kubeconfig({ token: 'a-token' });
  expect(clusterOfSecret(secret({ [key]: text }))).toMatchObject({
    name: 'east',
    inline: { text, source: 'the Secret portolan/east' },
  });
});

test.each(['https://10.0.0.1', 'http://127.0.0.1:8080', 'http://[::1]'])(
  'any server is taken, such as %s',
  (server) => {
    const cluster = { server, 'proxy-url': 'http://proxy.example:3128', 'insecure-skip-tls-verify': true };
    expect(
      clusterOfSecret(secret({ kubeconfig: kubeconfig({ username: 'u', password: 'p', as: 'v' }, cluster) })).name,
    ).toBe('east');
  },
);

test('the id of the server does not depend on credentials', () => {
  const idOf = (user: object, cluster: object = {}): string =>
    clusterOfSecret(secret({ kubeconfig: kubeconfig(user, cluster) })).serverId;
  expect(idOf({ token: 'one' })).toBe(idOf({ token: 'other' }));
  expect(idOf({ token: 'one' })).not.toBe(idOf({ token: 'one' }, { server: 'https://other.example' }));
  expect(idOf({ token: 'one' })).not.toBe(idOf({ token: 'one' }, { 'certificate-authority-data': 'Y2E=' }));
});

describe('a kubeconfig with several contexts', () => {
  const several = (current: string): string =>
    JSON.stringify({
      'current-context': current,
      clusters: ['one', 'two'].map((name) => ({ name, cluster: { server: `https://${name}.example` } })),
      contexts: ['one', 'two'].map((name) => ({ name, context: { cluster: name } })),
    });
  const idOf = (text: string): string => clusterOfSecret(secret({ kubeconfig: text })).serverId;

  test('means the server of its current context alone', () => {
    expect(idOf(several('one'))).not.toBe(idOf(several('two')));
    expect(idOf(several('one'))).toBe(idOf(several('one').replace('https://two', 'https://three')));
  });

  test('needs a current context that is there', () => {
    expect(() => idOf(several('three'))).toThrow(
      'the Secret portolan/east registers no cluster: the Secret portolan/east has no context three: name one as current-context (it has one, two).',
    );
    expect(() => idOf(several(''))).toThrow('no current context');
  });
});

test.each([
  ['nothing', {}, 'neither `kubeconfig` nor `server`'],
  ['a config that is no JSON', { server: 'https://k', config: '{' }, 'not JSON'],
  ['a config that is a list', { server: 'https://k', config: '[]' }, 'not a JSON object'],
  ['a command of Argo CD', { server: 'https://k', config: '{"execProviderConfig":{"command":"x"}}' }, 'runs a command'],
  ['credentials of AWS', { server: 'https://k', config: '{"awsAuthConfig":{}}' }, 'runs a command'],
  ['a command', { kubeconfig: kubeconfig({ exec: { command: 'x' } }) }, 'exec'],
  ['an auth provider', { kubeconfig: kubeconfig({ 'auth-provider': { name: 'gcp' } }) }, 'auth-provider'],
  ['the file of a token', { kubeconfig: kubeconfig({ tokenFile: '/etc/passwd' }) }, 'tokenFile'],
  ['the file of a certificate', { kubeconfig: kubeconfig({ 'client-certificate': '/crt' }) }, 'client-certificate'],
  ['the file of a key', { kubeconfig: kubeconfig({ 'client-key': '/key' }) }, 'client-key'],
  [
    'the file of an authority',
    { kubeconfig: kubeconfig({}, { 'certificate-authority': '/ca' }) },
    'certificate-authority',
  ],
  ['a name with other characters', { name: 'a\u001b[2J', server: 'https://k' }, 'the name has characters'],
  ['no YAML', { kubeconfig: 'clusters: [' }, 'registers no cluster'],
  ['text that is no mapping', { kubeconfig: 'text' }, 'not a YAML mapping'],
])('%s is refused with a reason, and without the values', (_what, values, reason) => {
  expect(() => clusterOfSecret(secret(values))).toThrow(reason);
  expect(() => clusterOfSecret(secret(values))).toThrow('the Secret portolan/east registers no cluster');
});
