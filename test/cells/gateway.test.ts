/** A gateway with several cells: `--cells`, over simulated clusters. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { silentLogger } from '../../src/base/log.ts';
import { type Gateway, startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, data, subscribe } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { samplesOf } from '../kit/prometheus-text.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

async function clusterWith(...names: readonly string[]): Promise<SimCluster> {
  const cluster = await startSimCluster({ objects: 'empty' });
  onTestFinished(() => cluster.close());
  for (const name of names) cluster.create(configMap(name));
  return cluster;
}

type Clusters = Readonly<Record<string, SimCluster>>;

async function gatewayOver(clusters: Clusters, flags: Readonly<Record<string, unknown>>): Promise<Gateway> {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const config = loadConfig({
    flags: { port: '0', logLevel: 'silent', kinds: ['configmaps'], ...flags },
    environment: {},
  });
  const options = Object.entries(clusters).map(([name, cluster]) => ({
    name,
    kubeconfig: folder.file(`config-${name.replace('/', '-')}`, cluster.kubeconfig()),
  }));
  const gateway = await startGateway(config, options, silentLogger, { clusterSecretsEveryMs: 200 });
  onTestFinished(() => gateway.close());
  await gateway.synced;
  return gateway;
}

const everything = `{
  clusters { name objects }
  resources(kinds: ["ConfigMap"]) { cluster objects synced }
  configMaps(orderBy: [{ path: "metadata.name", direction: DESC }], first: 3) {
    totalCount
    nodes { cluster metadata { name } }
    pageInfo { hasNextPage endCursor }
    aggregate { groups(by: ["cluster"], orderBy: [{ by: KEY }]) { keys aggregate { count } } }
  }
}`;

/** Three clusters. Two of them are in the first of two cells. */
async function threeClusters(): Promise<Clusters> {
  return { east: await clusterWith('a', 'd'), 'team/north': await clusterWith('b', 'e'), west: await clusterWith('c') };
}

test('lists, counts, groups and clusters of several cells are those of one store', async () => {
  const clusters = await threeClusters();
  const one = await gatewayOver(clusters, {});
  const two = await gatewayOver(clusters, { cells: '2' });
  const shown = await data(two.url, everything);
  expect(shown).toEqual(await data(one.url, everything));
  expect(shown).toMatchObject({
    configMaps: { totalCount: 5, nodes: [{ cluster: 'team/north' }, { cluster: 'east' }, {}] },
  });
  const { endCursor } = (shown['configMaps'] as { pageInfo: { endCursor: string } }).pageInfo;
  const next = `{ configMaps(orderBy: [{ path: "metadata.name", direction: DESC }], after: "${endCursor}") { nodes { metadata { name } } } }`;
  expect(await data(two.url, next)).toEqual(await data(one.url, next));
  expect(await data(two.url, next)).toEqual({
    configMaps: { nodes: ['b', 'a'].map((name) => ({ metadata: { name } })) },
  });
});

test('a subscription over all clusters follows each cell', async () => {
  const clusters = await threeClusters();
  const { url } = await gatewayOver(clusters, { cells: 'east=0,team/north=2,west=1' });
  const document =
    'subscription { configMapChanges { phase totalCount changes { type object { cluster metadata { name } } } } }';
  const { messages, until, stop } = subscribe(url, document, {}, (message) => JSON.stringify(message));
  await until((all) => all.some((text) => text.includes('SYNCED')));
  expect(messages.at(-1)).toContain('"totalCount":5');
  for (const [name, cluster] of Object.entries(clusters)) cluster.create(configMap(`new-${name.replace('/', '-')}`));
  await until((all) =>
    Object.keys(clusters).every((name) => all.some((text) => text.includes(`new-${name.replace('/', '-')}`))),
  );
  expect(messages.at(-1)).toContain('"totalCount":8');
  await stop();
});

test('a restart finds the objects of each cell, and fewer cells leave no file', async () => {
  const clusters = await threeClusters();
  const file = join(temporaryDirectory('cells'), 'portolan.db');
  const first = await gatewayOver(clusters, { cells: '3', data: file });
  const shown = await data(first.url, everything);
  await first.close();
  expect([1, 2, 3].map((index) => existsSync(`${file}-cell-${index}`))).toEqual([true, true, false]);
  const again = await gatewayOver(clusters, { cells: '3', data: file });
  expect(await data(again.url, everything)).toEqual(shown);
  await again.close();
  const one = await gatewayOver(clusters, { data: file });
  expect(await data(one.url, everything)).toEqual(shown);
  expect([1, 2].map((index) => existsSync(`${file}-cell-${index}`))).toEqual([false, false]);
});

test('a registered cluster is served by its cell, and leaves with its Secret', async () => {
  const home = await clusterWith('home');
  const other = await clusterWith('other');
  home.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'portolan' } });
  const { url } = await gatewayOver({ home }, { cells: '4', clusterSecrets: 'portolan' });
  const value = Buffer.from(other.kubeconfig()).toString('base64');
  const labels = { 'portolan.dev/secret-type': 'cluster' };
  const metadata = { name: 'east', namespace: 'portolan', labels };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { kubeconfig: value } };
  home.create(secret);
  const names = async (): Promise<unknown> =>
    data(url, '{ configMaps(orderBy: [{ path: "metadata.name" }]) { nodes { cluster metadata { name } } } }');
  const objects = (...all: readonly [string, string][]) => ({
    configMaps: { nodes: all.map(([cluster, name]) => ({ cluster, metadata: { name } })) },
  });
  await eventually(async () => expect(await names()).toEqual(objects(['home', 'home'], ['east', 'other'])));
  home.delete('/api/v1/namespaces/portolan/secrets/east');
  await eventually(async () => expect(await names()).toEqual(objects(['home', 'home'])));
});

test('the metrics are those of all cells', async () => {
  const clusters = await threeClusters();
  const { url } = await gatewayOver(clusters, { cells: '2' });
  const text = await (await fetch(new URL('/metrics', url))).text();
  const objects = samplesOf(text)
    .filter(({ name }) => name === 'portolan_resource_objects')
    .reduce((sum, { value }) => sum + value, 0);
  expect(objects).toBe(5);
  const ready = await fetch(new URL('/readyz', url));
  expect(ready.status).toBe(200);
});

test('cells and processes together are refused', async () => {
  const clusters = await threeClusters();
  await expect(gatewayOver(clusters, { cells: '2', processes: '2' })).rejects.toThrow(/--cells and --processes/);
});

test.each(['0', '65', 'east', 'east=', '=1', 'east=x', ''])('--cells %j is refused', (cells) => {
  expect(() => loadConfig({ flags: { cells }, environment: {} })).toThrow(
    /must be a whole number from 1 to 64, or clusters/,
  );
});

test('a kind that one cluster alone serves is served, and a kind that none serves is refused', async () => {
  const clusters = await threeClusters();
  const { url } = await gatewayOver(clusters, { cells: '3', kinds: ['configmaps', 'secrets'] });
  expect((await ask(url, '{ secrets { totalCount } }')).data).toEqual({ secrets: { totalCount: 0 } });
  const gateway = gatewayOver(clusters, { cells: '3', kinds: ['configmaps', 'nothing'] });
  const failed = gateway.then((running) => running.failed);
  await expect(failed).rejects.toThrow(/--kinds names "nothing"/);
});
