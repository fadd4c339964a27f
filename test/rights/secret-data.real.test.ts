/**
 * The data of Secrets on a real API server, whose audit log names the user of each request. The gateway's own account is an administrator,
 * so a request with its rights would succeed where the caller's is refused.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Agent, fetch as fetchVia } from 'undici';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { auditedBy } from '../kit/audit-events.ts';
import { createCertificateAuthority } from '../kit/certificates.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { encoded, secretsNamespace, secretText, secretWorld } from '../kit/secret-rights.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', verbs: ['get'], resources: [{ group: '', resources: ['secrets'] }] }, { level: 'None' }],
};

describeOn([mainServer], 'the data of Secrets of a real cluster', { timeout: 60_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: GatewayProcess;
  let auditLog: string;
  const data = join(sharedDirectory('secret-data-real'), 'portolan.db');

  beforeAll(async () => {
    const users = ['alice', 'bob', 'carol'].map((user) => ({ token: `token-of-${user}`, user, groups: [] }));
    plane = await startControlPlane({ server, users, apiServer: auditedBy(policy) });
    auditLog = join(plane.dir, 'audit.log');
    for (const { path, body } of secretWorld) {
      await plane.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(body));
    }
    gateway = await startGatewayProcess([
      ...['--kubeconfig', plane.kubeconfigPath, '--auth', 'token', '--secret-data', 'live', '--log-level', 'debug'],
      ...['--kinds', 'secrets', '--kinds', 'namespaces', '--data', data],
    ]);
    await eventually(async () => {
      const { data: found } = await askAs('carol', '{ secrets { totalCount } }');
      expect(found).toEqual({ secrets: { totalCount: 2 } });
    });
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  }, 60_000);

  async function askAs(user: string, query: string): Promise<Answer> {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer token-of-${user}` },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as Answer;
  }

  /** The users of the audited reads of single Secrets, with the status of the answer. */
  function audited(): readonly string[] {
    const lines = readFileSync(auditLog, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => {
      const { user, impersonatedUser, objectRef, responseStatus } = JSON.parse(line);
      const as = impersonatedUser === undefined ? '' : ` as ${impersonatedUser.username}`;
      return `${user.username}${as} ${objectRef.name} ${responseStatus.code}`;
    });
  }

  const one = (name: string): string => `secret(namespace: "${secretsNamespace}", name: "${name}")`;
  const password = (name: string) => ({ data: { password: encoded(secretText(name)) } });

  test('each is read as the caller, and refused as the caller', async () => {
    expect(await askAs('alice', `{ ${one('own')} { data } }`)).toMatchObject({ data: { secret: password('own') } });
    const other = await askAs('alice', `{ ${one('other')} { data } }`);
    expect(other.data?.['secret'] ?? null).toBeNull();
    const refused = await askAs('bob', `{ secrets { nodes { metadata { name } data } } }`);
    expect(refused.data).toEqual({
      secrets: { nodes: ['other', 'own'].map((name) => ({ metadata: { name }, data: null })) },
    });
    // Secrets are read beside each other, so either refusal may come first.
    const refusals = refused.errors?.map(({ path, extensions }) => [path?.join('.'), extensions?.['code']]);
    expect(refusals?.toSorted()).toEqual([
      ['secrets.nodes.0.data', 'FORBIDDEN'],
      ['secrets.nodes.1.data', 'FORBIDDEN'],
    ]);
    const both = await askAs('carol', `{ secrets { nodes { data } } }`);
    expect(both).toMatchObject({ data: { secrets: { nodes: [password('other'), password('own')] } } });
    await eventually(() => {
      const expected = ['alice own 200', 'bob other 403', 'bob own 403', 'carol other 200', 'carol own 200'];
      expect(audited().toSorted()).toEqual(expected);
    });
  });

  test('a caller whom a front proxy names is impersonated', async () => {
    const authority = await createCertificateAuthority();
    onTestFinished(() => authority.remove());
    const own = await authority.issue({ names: ['IP:127.0.0.1'], commonName: 'gateway' });
    const front = await authority.issue({ names: [], commonName: 'front' });
    const folder = sharedDirectory('secret-data-proxy');
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const proxied = await startGatewayProcess([
      ...['--kubeconfig', plane.kubeconfigPath, '--secret-data', 'live', '--kinds', 'secrets'],
      ...['--impersonate', 'classic'],
      ...['--tls-cert', file('tls.crt', own.cert), '--tls-key', file('tls.key', own.key)],
      ...['--auth', 'proxy', '--proxy-client-ca', file('proxies.crt', authority.ca)],
    ]);
    onTestFinished(() => proxied.close());
    const { cert, key } = front;
    const agent = new Agent({ connect: { ca: authority.ca, cert, key } });
    onTestFinished(() => agent.close());
    const askProxied = async (user: string, query: string): Promise<unknown> => {
      const headers = { 'content-type': 'application/json', 'x-remote-user': user };
      const body = JSON.stringify({ query });
      return (await fetchVia(proxied.url, { method: 'POST', headers, body, dispatcher: agent })).json();
    };
    await eventually(async () => {
      expect(await askProxied('alice', `{ ${one('own')} { data } }`)).toMatchObject({
        data: { secret: password('own') },
      });
    });
    expect(await askProxied('bob', `{ ${one('own')} { data } }`)).toMatchObject({
      data: { secret: { data: null } },
      errors: [{ path: ['secret', 'data'], extensions: { code: 'FORBIDDEN' } }],
    });
    await eventually(() => {
      expect(audited()).toEqual(expect.arrayContaining(['admin as alice own 200', 'admin as bob own 403']));
    });
    expect(audited().filter((line) => line.startsWith('admin ') && !line.startsWith('admin as '))).toEqual([]);
  });

  test('the data is in no file of the gateway and in no line of its log', () => {
    const files = readdirSync(dirname(data)).map((name) => readFileSync(join(dirname(data), name)));
    expect(files.some((bytes) => bytes.includes(secretsNamespace))).toBe(true);
    for (const hidden of ['own', 'other'].flatMap((name) => [secretText(name), encoded(secretText(name))])) {
      for (const bytes of files) expect(bytes.includes(hidden)).toBe(false);
      expect(gateway.log.some((entry) => JSON.stringify(entry).includes(hidden))).toBe(false);
    }
  });
});
