/** Portolan reads a kubeconfig as client-node does, for all settings that both support. */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
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
    'insecure-skip-tls-verify': fc.boolean(),
    'tls-server-name': fc.constant('kubernetes'),
    'proxy-url': fc.constantFrom('http://p:3128', 'socks5://p:1080'),
  },
  { requiredKeys: ['server'] },
);
const user = fc
  .record(
    {
      token: word,
      basic: fc.record({ username: word, password: word }),
      as: word,
      'client-certificate': fc.constantFrom('cert', `${folder.dir}/cert`),
      'client-certificate-data': data,
      'client-key': fc.constant('key'),
      'client-key-data': data,
    },
    { requiredKeys: [] },
  )
  .map(({ basic, ...rest }) => ({ ...basic, ...rest }));

test('reads clusters and users as client-node does', async () => {
  await fc.assert(
    fc.asyncProperty(cluster, user, async (clusterSection, userSection) => {
      const kubeconfig = folder.write(clusterSection, userSection);
      const mine = readClusterConfig({ kubeconfig, env: {} });
      const credentials = await loadCredentials(mine, { env: {}, clock: systemClock });

      const theirs = new KubeConfig();
      theirs.loadFromFile(kubeconfig);
      const { ca, cert, key, rejectUnauthorized, servername, auth, headers } = await applied(theirs);
      const tls = { ca, cert, key, rejectUnauthorized, servername };
      const options = theirs.createDispatcherOptions(theirs.getCurrentCluster(), defined(tls));
      const expected = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
      if (typeof auth === 'string')
        expected.unshift(['authorization', `Basic ${Buffer.from(auth).toString('base64')}`]);

      expect(mine.cluster).toEqual(defined(theirs.getCurrentCluster() ?? {}));
      expect(credentials.headers).toEqual(Object.fromEntries(expected));
      expect(credentials.transport).toEqual(
        'uri' in options
          ? { type: options.type, uri: options.uri, requestTls: options.requestTls }
          : { type: 'agent', connect: defined(tls) },
      );
    }),
  );
});

async function applied(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
