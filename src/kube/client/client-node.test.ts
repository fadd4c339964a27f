/**
 * Portolan reads tokens, passwords, certificates, their files and service accounts itself, as client-node's KubeConfig reads them. Reading
 * needs no authenticator, and KubeConfig takes longer to load than the gateway.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { systemClock } from '../../base/clock.ts';
import { loadCredentials } from '../credentials/credentials.ts';
import { readClusterConfig } from '../credentials/kubeconfig.ts';

const folder = kubeconfigFolder();
afterAll(() => folder.remove());
for (const name of ['ca', 'cert', 'key']) folder.file(name, `${name} from its file`);

const word = fc.stringMatching(/^[a-zA-Z][\w .:%-]{0,10}$/);
const data = fc.string({ minLength: 1 }).map((text) => Buffer.from(text).toString('base64'));
const cluster = fc.record(
  {
    server: fc.constantFrom('https://a', 'https://a:6443/', 'https://[::1]/path'),
    'certificate-authority': fc.constantFrom('ca', `${folder.dir}/ca`),
    'certificate-authority-data': data,
    'tls-server-name': fc.constant('kubernetes'),
    'proxy-url': fc.constantFrom('http://p:3128', 'socks5://p:1080'),
  },
  { requiredKeys: ['server'] },
);
const unverified = fc.record({ server: fc.constant('https://a'), 'insecure-skip-tls-verify': fc.boolean() });
folder.file('token', 'token-from-its-file');
const tokenFile = { name: 'tokenFile', config: { tokenFile: `${folder.dir}/token` } };
const identity = fc.oneof(
  fc.constant({}),
  fc.record({ token: word }),
  fc.record({ username: word, password: word }),
  fc.constant({ 'auth-provider': tokenFile }),
);
const certificate = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      'client-certificate': fc.constantFrom('cert', `${folder.dir}/cert`),
      'client-certificate-data': data,
      'client-key': fc.constant('key'),
      'client-key-data': data,
    },
    { requiredKeys: ['client-certificate', 'client-key'] },
  ),
);
const impersonated = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      as: word,
      'as-groups': fc.array(word, { minLength: 1, maxLength: 3 }),
      'as-uid': word,
      'as-user-extra': fc.record({ scopes: fc.array(word, { minLength: 1, maxLength: 2 }) }),
    },
    { requiredKeys: ['as'] },
  ),
);
const user = fc.tuple(identity, certificate, impersonated).map((parts): object => Object.assign({}, ...parts));

test('reads clusters and users as client-node does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(cluster, unverified), user, async (clusterSection, userSection) => {
      const kubeconfig = folder.write(clusterSection, userSection);
      const mine = readClusterConfig({ kubeconfig, env: {} });
      const credentials = await loadCredentials(mine, { env: {}, clock: systemClock });

      const theirs = new KubeConfig();
      theirs.loadFromFile(kubeconfig);
      expect(mine.cluster).toEqual(defined(theirs.getCurrentCluster() ?? {}));
      expect(credentials.transport).toEqual(await transportOf(theirs));
      // client-node impersonates a user without groups, uid and extra.
      expect(credentials.headers).toEqual({ ...(await headersOf(theirs)), ...restOfImpersonation(userSection) });
    }),
  );
});

test('reads a service account as client-node does', async () => {
  const account = `${folder.dir}/var/run/secrets/kubernetes.io/serviceaccount`;
  mkdirSync(account, { recursive: true });
  const host = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain());
  // client-node takes other ports for those of plain HTTP.
  const port = fc.constantFrom('443', '6443', '16443');
  try {
    await fc.assert(
      fc.asyncProperty(host, port, word, data, async (serviceHost, servicePort, token, ca) => {
        writeFileSync(`${account}/token`, token.trim());
        writeFileSync(`${account}/ca.crt`, ca);
        const env = { KUBERNETES_SERVICE_HOST: serviceHost, KUBERNETES_SERVICE_PORT: servicePort };
        for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
        const theirs = new KubeConfig();
        theirs.loadFromCluster(folder.dir);
        const mine = readClusterConfig({ inCluster: true, serviceAccountDir: account, env });
        const credentials = await loadCredentials(mine, { env, clock: systemClock });
        expect({ ...mine.cluster, name: 'inCluster' }).toEqual(theirs.getCurrentCluster());
        expect(credentials.headers).toEqual(await headersOf(theirs));
        expect(credentials.transport).toEqual(await transportOf(theirs));
      }),
    );
  } finally {
    vi.unstubAllEnvs();
  }
});

async function headersOf(config: KubeConfig): Promise<object> {
  const { auth, headers } = await applied(config);
  const sent = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}`, ...sent } : sent;
}

async function transportOf(config: KubeConfig): Promise<object> {
  const { ca, cert, key, rejectUnauthorized, servername } = await applied(config);
  const tls = defined({ ca, cert, key, rejectUnauthorized, servername });
  const options = config.createDispatcherOptions(config.getCurrentCluster(), tls);
  return 'uri' in options
    ? { type: options.type, uri: options.uri, requestTls: options.requestTls }
    : { type: 'agent', connect: tls };
}

function restOfImpersonation(section: object): object {
  const { 'as-groups': groups, 'as-uid': uid, 'as-user-extra': extra } = section as Record<string, unknown>;
  return defined({
    'impersonate-group': groups,
    'impersonate-uid': uid,
    'impersonate-extra-scopes': (extra as { scopes: string[] } | undefined)?.scopes,
  });
}

async function applied(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
