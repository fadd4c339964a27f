/** Secrets that register clusters while the gateway runs. */
import { expect, onTestFinished, test } from 'vitest';
import { type Logger, silentLogger } from '../src/base/log.ts';
import { startGateway } from '../src/cli/gateway.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { type SimCluster, startSimCluster } from '../src/sim/sim-cluster.ts';
import { eventually } from './kit/eventually.ts';
import { data, subscribe } from './kit/graphql-client.ts';
import { kubeconfigFolder } from './kit/kubeconfig-file.ts';

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

async function clusterWith(name: string, features: object = {}): Promise<SimCluster> {
  const cluster = await startSimCluster({ objects: 'empty', features });
  onTestFinished(() => cluster.close());
  cluster.create(configMap(name));
  return cluster;
}

function secret(name: string, values: Readonly<Record<string, string>>) {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const labels = { 'portolan.dev/secret-type': 'cluster' };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'portolan', labels }, data };
}

async function gatewayOver(home: SimCluster, flags: object = {}) {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  home.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'portolan' } });
  const logged: string[] = [];
  const note = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, error: note, warn: note, child: () => log };
  const config = loadConfig({
    flags: { port: '0', logLevel: 'silent', kinds: ['configmaps'], clusterSecrets: 'portolan', ...flags },
    environment: {},
  });
  const kubeconfig = folder.file('config', home.kubeconfig());
  const gateway = await startGateway(config, [{ name: 'home', kubeconfig }], log);
  onTestFinished(() => gateway.close());
  await gateway.synced;
  return { url: gateway.url, logged, gateway };
}

const everything = `{
  clusters { name reachable }
  configMaps(orderBy: [{ path: "metadata.name" }]) { nodes { cluster metadata { name } } }
}`;

interface Shown {
  readonly clusters: readonly { readonly name: string; readonly reachable: boolean }[];
  readonly configMaps: {
    readonly nodes: readonly { readonly cluster: string; readonly metadata: { readonly name: string } }[];
  };
}

async function shown(url: string): Promise<{ readonly clusters: string[]; readonly objects: string[] }> {
  const { clusters, configMaps } = await data<Shown & Record<string, unknown>>(url, everything);
  return {
    clusters: clusters.map(({ name, reachable }) => `${name} ${reachable ? 'up' : 'down'}`),
    objects: configMaps.nodes.map(({ cluster, metadata }) => `${cluster}/${metadata.name}`),
  };
}

interface Message {
  readonly reset: boolean;
  readonly changes: readonly {
    readonly id: string;
    readonly object: { readonly cluster: string; readonly metadata: { readonly name: string } } | null;
  }[];
}

/** The objects of a subscription over all clusters. */
function follow(url: string): { shown(): readonly string[]; stop(): Promise<void> } {
  const held = new Map<string, string>();
  const { stop } = subscribe(
    url,
    'subscription { configMapChanges { reset changes { id object { cluster metadata { name } } } } }',
    {},
    ({ configMapChanges }) => {
      const { reset, changes } = configMapChanges as Message;
      if (reset) held.clear();
      for (const { id, object } of changes) {
        if (object === null) held.delete(id);
        else held.set(id, `${object.cluster}/${object.metadata.name}`);
      }
    },
  );
  return { shown: () => [...held.values()].sort(), stop };
}

test('a cluster comes, changes its credentials and goes, and the others are not disturbed', async () => {
  const home = await clusterWith('here');
  const east = await clusterWith('there', { users: [{ token: 'right', user: 'gateway', groups: ['system:masters'] }] });
  const { url, gateway } = await gatewayOver(home);
  const live = subscribe(
    url,
    'subscription { configMapChanges(filter: { clusters: ["home"] }) { phase } }',
    {},
    ({ configMapChanges }) => (configMapChanges as { phase: string }).phase,
  );
  await live.until((phases) => phases.includes('SYNCED'));
  const everywhere = follow(url);

  const argo = (token: string) =>
    secret('east', { name: 'east', server: east.url, config: JSON.stringify({ bearerToken: token }) });
  home.create(argo('wrong'));
  await eventually(() =>
    expect(gateway.progress().failing).toMatchObject([{ cluster: 'east', resource: 'everything' }]),
  );
  expect((await shown(url)).objects).toEqual(['home/here']);
  home.update(argo('right'));
  await eventually(async () =>
    expect(await shown(url)).toEqual({ clusters: ['east up', 'home up'], objects: ['home/here', 'east/there'] }),
  );
  east.create(configMap('watched'));
  await eventually(async () => expect((await shown(url)).objects).toContain('east/watched'));
  await eventually(() => expect(everywhere.shown()).toEqual(['east/there', 'east/watched', 'home/here']));

  home.delete('/api/v1/namespaces/portolan/secrets/east');
  await eventually(async () => expect(await shown(url)).toEqual({ clusters: ['home up'], objects: ['home/here'] }));
  await eventually(() => expect(everywhere.shown()).toEqual(['home/here']));
  await everywhere.stop();
  await eventually(() => expect(gateway.progress().clusters).toHaveLength(1));
  expect(gateway.progress()).toMatchObject({ ready: true, failing: [], clusters: [{ cluster: 'home' }] });

  expect(live.messages).toEqual(['SNAPSHOT', 'SYNCED']);
  await live.stop();
});

test('a Secret that registers nothing is named in the log, and the others stay', async () => {
  const home = await clusterWith('here');
  const east = await clusterWith('there');
  const { url, logged } = await gatewayOver(home);
  home.create(secret('a-empty', {}));
  home.create(
    secret('b-exec', { kubeconfig: east.kubeconfig().replace(/user: \{\}|user:\n/, 'user:\n      exec: {}\n') }),
  );
  home.create(secret('c-taken', { name: 'home', kubeconfig: east.kubeconfig() }));
  home.create(secret('d-good', { name: 'east', kubeconfig: east.kubeconfig() }));
  await eventually(async () => expect((await shown(url)).objects).toEqual(['home/here', 'east/there']));
  const problems = logged.filter((line) => line.startsWith('a Secret registers no cluster')).join('\n');
  expect(problems).toContain('a-empty');
  expect(problems).toContain('Two clusters are called home');
  // Broken now: what it registered stays.
  home.update(secret('d-good', { name: 'east', kubeconfig: 'nothing' }));
  await eventually(() => expect(logged.join('\n')).toContain('d-good'));
  expect((await shown(url)).objects).toEqual(['home/here', 'east/there']);
});

test('the clusters stay while their Secrets cannot be listed', async () => {
  const home = await clusterWith('here');
  const east = await clusterWith('there');
  const { url, logged } = await gatewayOver(home);
  home.create(secret('east', { kubeconfig: east.kubeconfig() }));
  await eventually(async () => expect((await shown(url)).objects).toEqual(['home/here', 'east/there']));
  home.setAvailable(false);
  await eventually(() => expect(logged.join('\n')).toContain('the Secrets that register clusters cannot be listed'));
  expect((await shown(url)).objects).toEqual(['home/here', 'east/there']);
});

test('callers see of a registered cluster what its roles grant them', async () => {
  const users = ['alice', 'bob'].map((user) => ({ token: `token-of-${user}`, user, groups: [] }));
  const masters = { token: 'admin', user: 'admin', groups: ['system:masters'] };
  const home = await clusterWith('here', { users: [masters, ...users] });
  const east = await clusterWith('there', { users: [masters, ...users] });
  for (const cluster of [home, east]) {
    cluster.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'maps' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
    });
  }
  const bind = (cluster: SimCluster, user: string) =>
    cluster.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `maps-${user}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maps' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
  bind(home, 'alice');
  bind(home, 'bob');
  bind(east, 'alice');
  const { url, gateway } = await gatewayOver(home, { auth: ['token'], sameUsers: true, authorizationMode: 'rbac' });
  const asked = async (user: string): Promise<readonly string[]> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer token-of-${user}` },
      body: JSON.stringify({
        query: '{ configMaps(orderBy: [{ path: "cluster" }]) { nodes { cluster metadata { name } } } }',
      }),
    });
    const { data: found } = (await answer.json()) as { data: Pick<Shown, 'configMaps'> };
    return found.configMaps.nodes.map(({ cluster, metadata }) => `${cluster}/${metadata.name}`);
  };
  expect(await asked('alice')).toEqual(['home/here']);
  home.create(secret('east', { kubeconfig: east.kubeconfig() }));
  await eventually(async () => expect(await asked('alice')).toEqual(['east/there', 'home/here']));
  expect(await asked('bob')).toEqual(['home/here']);
  // The settings of another cluster cannot be used.
  home.create(
    secret('broken', { server: east.url, config: '{"tlsClientConfig":{"certData":"eA==","keyData":"eA=="}}' }),
  );
  await eventually(() => expect(gateway.progress().clusters).toHaveLength(3));
  expect(await asked('alice')).toEqual(['east/there', 'home/here']);
  home.delete('/api/v1/namespaces/portolan/secrets/east');
  await eventually(async () => expect(await asked('alice')).toEqual(['home/here']));
});
