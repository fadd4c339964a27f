/** Secrets that register clusters while the gateway runs. */
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { eventually } from '../kit/eventually.ts';
import { data, subscribe } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { samplesOf } from '../kit/prometheus-text.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

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

/** @param others clusters of the start besides `home`, by name */
async function gatewayOver(home: SimCluster, flags: object = {}, others: Readonly<Record<string, SimCluster>> = {}) {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  if (home.get('/api/v1/namespaces/portolan') === undefined) {
    home.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'portolan' } });
  }
  const logged: string[] = [];
  const note = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, error: note, warn: note, child: () => log };
  const config = loadConfig({
    flags: { port: '0', logLevel: 'silent', kinds: ['configmaps'], clusterSecrets: 'portolan', ...flags },
    environment: {},
  });
  const clusters = Object.entries({ home, ...others }).map(([name, cluster]) => ({
    name,
    kubeconfig: folder.file(`config-${name}`, cluster.kubeconfig()),
  }));
  const gateway = await startGateway(config, clusters, log, { clusterSecretsEveryMs: 200 });
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

const masters = { token: 'admin', user: 'admin', groups: ['system:masters'] };
const [alice, bob, limited] = ['alice', 'bob', 'limited'].map((user) => ({ token: user, user, groups: [] }));
const rbacGroup = 'rbac.authorization.k8s.io';
const readsMaps = {
  apiVersion: `${rbacGroup}/v1`,
  kind: 'ClusterRole',
  metadata: { name: 'maps' },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
};

function bind(cluster: SimCluster, user: string): void {
  cluster.create({
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `maps-${user}` },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'maps' },
    subjects: [{ apiGroup: rbacGroup, kind: 'User', name: user }],
  });
}

/** What a caller sees. The token of a user is its name. */
async function askedAs(user: string, url: string): Promise<readonly string[]> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${user}` },
    body: JSON.stringify({
      query: '{ configMaps(orderBy: [{ path: "cluster" }]) { nodes { cluster metadata { name } } } }',
    }),
  });
  const { data: found } = (await answer.json()) as { data: Pick<Shown, 'configMaps'> };
  return found.configMaps.nodes.map(({ cluster, metadata }) => `${cluster}/${metadata.name}`);
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

test('another server under a known name is another cluster: nothing of the former one is shown as its own', async () => {
  const home = await clusterWith('here', { users: [masters, alice] });
  const first = await clusterWith('in-first', { users: [masters, alice] });
  // The gateway's account there may read ConfigMaps alone: not even the uid of the cluster.
  const second = await clusterWith('in-second', { users: [masters, alice, limited] });
  for (const cluster of [home, first, second]) cluster.create(readsMaps);
  for (const cluster of [home, first]) bind(cluster, 'alice');
  bind(second, 'limited');
  const { url } = await gatewayOver(home, { auth: ['token'], sameUsers: true, authorizationMode: 'rbac' });
  const register = (cluster: SimCluster, bearerToken: string) =>
    secret('east', { server: cluster.url, config: JSON.stringify({ bearerToken }) });
  home.create(register(first, 'admin'));
  await eventually(async () => expect(await askedAs('alice', url)).toEqual(['east/in-first', 'home/here']));
  home.update(register(second, 'limited'));
  await eventually(async () => expect(await askedAs('alice', url)).toEqual(['home/here']));
  const until = performance.now() + 12_000;
  while (performance.now() < until) {
    expect(await askedAs('alice', url)).toEqual(['home/here']);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
});

test.each(['rbac', 'auto'])(
  'a subscription of one cluster does not notice another, in the mode %s',
  async (authorizationMode) => {
    const home = await clusterWith('here', { users: [masters, alice] });
    const east = await clusterWith('there', { users: [masters, alice] });
    for (const cluster of [home, east]) {
      cluster.create(readsMaps);
      bind(cluster, 'alice');
    }
    const { url } = await gatewayOver(home, { auth: ['token'], sameUsers: true, authorizationMode });
    const phases: string[] = [];
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: 'Bearer alice' },
    });
    onTestFinished(() => void client.dispose());
    client.subscribe<{ configMapChanges: { phase: string } }>(
      { query: 'subscription { configMapChanges(filter: { clusters: ["home"] }) { phase } }' },
      {
        next: ({ data: found, errors }) => phases.push(found?.configMapChanges.phase ?? JSON.stringify(errors)),
        error: (error) => phases.push(String(error)),
        complete: () => phases.push('complete'),
      },
    );
    await eventually(() => expect(phases).toContain('SYNCED'));
    home.create(secret('east', { server: east.url, config: '{"bearerToken":"admin"}' }));
    await eventually(async () => expect(await askedAs('alice', url)).toEqual(['east/there', 'home/here']));
    home.delete('/api/v1/namespaces/portolan/secrets/east');
    await eventually(async () => expect(await askedAs('alice', url)).toEqual(['home/here']));
    home.create(configMap('after'));
    await eventually(() => expect(phases.at(-1)).toBe('LIVE'));
    expect(phases).toEqual(['SNAPSHOT', 'SYNCED', 'LIVE']);
  },
);

test('a gateway is ready when it has the objects of the clusters that are registered already', async () => {
  const home = await clusterWith('here');
  const east = await clusterWith('there');
  for (let index = 0; index < 2000; index += 1) east.create(configMap(`map-${index}`));
  home.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'portolan' } });
  home.create(secret('east', { kubeconfig: east.kubeconfig() }));
  const { url } = await gatewayOver(home);
  expect((await fetch(new URL('/readyz', url))).status).toBe(200);
  expect(await data(url, '{ configMaps { totalCount } }')).toEqual({ configMaps: { totalCount: 2002 } });
});

/** A store that has a registered cluster, whose Secret was deleted after the gateway had ended. */
async function deletedWhileDown() {
  const home = await clusterWith('here');
  const east = await clusterWith('there');
  home.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'portolan' } });
  home.create(secret('east', { kubeconfig: east.kubeconfig() }));
  const store = join(temporaryDirectory('registered'), 'store.db');
  const first = await gatewayOver(home, { data: store });
  expect((await shown(first.url)).objects).toEqual(['home/here', 'east/there']);
  await first.gateway.close();
  home.delete('/api/v1/namespaces/portolan/secrets/east');
  return { home, east, store };
}

test('a Secret that is deleted while the gateway does not run takes its cluster along', async () => {
  const { home, store } = await deletedWhileDown();
  const { url } = await gatewayOver(home, { data: store });
  await eventually(async () => expect(await shown(url)).toEqual({ clusters: ['home up'], objects: ['home/here'] }));
});

test('a cluster that a Secret registered, and that is now one of the start, stays', async () => {
  const { home, east, store } = await deletedWhileDown();
  const { url } = await gatewayOver(home, { data: store }, { east });
  expect((await shown(url)).objects).toEqual(['home/here', 'east/there']);
  east.create(configMap('watched'));
  await eventually(async () =>
    expect(await shown(url)).toEqual({
      clusters: ['east up', 'home up'],
      objects: ['home/here', 'east/there', 'east/watched'],
    }),
  );
});

test('a Secret that takes the name of an earlier cluster of the start shows nothing of it', async () => {
  const home = await clusterWith('here');
  const earlier = await clusterWith('of-earlier');
  const store = join(temporaryDirectory('registered'), 'store.db');
  const first = await gatewayOver(home, { data: store }, { east: earlier });
  expect((await shown(first.url)).objects).toEqual(['home/here', 'east/of-earlier']);
  await first.gateway.close();
  home.create(secret('east', { server: 'http://127.0.0.1:9', config: '{}' }));
  const { url } = await gatewayOver(home, { data: store });
  expect((await shown(url)).objects).toEqual(['home/here']);
  // The gateway is ready with the stored rows before the first round of discovery has told that the cluster can be read.
  await eventually(async () =>
    expect(await shown(url)).toEqual({ clusters: ['east down', 'home up'], objects: ['home/here'] }),
  );
});

test('a Secret that registers nothing is named in the log, and the others stay', async () => {
  const home = await clusterWith('here');
  const east = await clusterWith('there');
  const { url, logged } = await gatewayOver(home);
  const refused = async (): Promise<unknown> => {
    const samples = samplesOf(await (await fetch(new URL('/metrics', url))).text());
    return samples.find(({ name }) => name === 'portolan_cluster_secrets_refused')?.value;
  };
  home.create(secret('a-empty', {}));
  home.create(
    secret('b-exec', { kubeconfig: east.kubeconfig().replace(/user: \{\}|user:\n/, 'user:\n      exec: {}\n') }),
  );
  home.create(secret('c-taken', { name: 'home', kubeconfig: east.kubeconfig() }));
  home.create(secret('d-good', { name: 'east', kubeconfig: east.kubeconfig() }));
  await eventually(async () => expect((await shown(url)).objects).toEqual(['home/here', 'east/there']));
  const problems = logged.filter((line) => line.startsWith('a Secret registers no cluster')).join('\n');
  expect(problems).toContain('a-empty');
  expect(problems).toContain('The name home is taken by another cluster');
  // A later Secret with the same name, of another server, takes nothing away.
  const dead = { server: 'http://127.0.0.1:9', config: '{}' };
  home.create(secret('a-before', { name: 'east', ...dead }));
  await eventually(() => expect(logged.join('\n')).toContain('a-before'));
  expect(await shown(url)).toEqual({ clusters: ['east up', 'home up'], objects: ['home/here', 'east/there'] });
  // Broken now: what it registered stays.
  home.update(secret('d-good', { name: 'east', kubeconfig: 'nothing' }));
  await eventually(() => expect(logged.join('\n')).toContain('d-good'));
  expect((await shown(url)).objects).toEqual(['home/here', 'east/there']);
  expect(await refused()).toBe(5);
  for (const name of ['a-empty', 'a-before', 'b-exec', 'c-taken']) {
    home.delete(`/api/v1/namespaces/portolan/secrets/${name}`);
  }
  home.update(secret('d-good', { name: 'east', kubeconfig: east.kubeconfig() }));
  await eventually(async () => expect(await refused()).toBe(0));
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
  const home = await clusterWith('here', { users: [masters, alice, bob] });
  const east = await clusterWith('there', { users: [masters, alice, bob] });
  for (const cluster of [home, east]) cluster.create(readsMaps);
  bind(home, 'alice');
  bind(home, 'bob');
  bind(east, 'alice');
  const { url, gateway } = await gatewayOver(home, { auth: ['token'], sameUsers: true, authorizationMode: 'rbac' });
  const asked = (user: string) => askedAs(user, url);
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
