/** A gateway that restarts on its file: its answers before it has reached the cluster, and after. */
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { silentLogger } from '../../src/base/log.ts';
import { type Gateway, startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { startLoopbackServer } from '../kit/loopback-server.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const query = '{ configMaps(first: 10) { totalCount nodes { metadata { name } } } }';

async function start(kubeconfig: string, file: string, flags: object = {}): Promise<Gateway> {
  const config = loadConfig({
    flags: { port: '0', logLevel: 'silent', data: file, kinds: ['configmaps'], ...flags },
    environment: {},
  });
  const gateway = await startGateway(config, [{ name: 'kept', kubeconfig }], silentLogger);
  undo.push(() => gateway.close());
  return gateway;
}

async function worldWithStore(): Promise<{ kubeconfig: string; file: string; close(): Promise<void> }> {
  const folder = kubeconfigFolder();
  undo.push(() => folder.remove());
  const cluster = await startSimCluster({ objects: 'empty' });
  undo.push(() => cluster.close());
  cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'default' } });
  const world = { kubeconfig: folder.file('config', cluster.kubeconfig()), file: join(folder.dir, 'store.db') };
  const gateway = await start(world.kubeconfig, world.file);
  await gateway.synced;
  await gateway.close();
  return { ...world, close: () => cluster.close() };
}

test('it answers what it remembers while the API server is down, and is not ready', async () => {
  const world = await worldWithStore();
  await world.close();
  const gateway = await start(world.kubeconfig, world.file);
  expect(await data(gateway.url, query)).toMatchObject({ configMaps: { nodes: [{ metadata: { name: 'one' } }] } });
  expect((await fetch(new URL('/readyz', gateway.url))).status).toBe(503);
});

test('it does not wait for an API server that takes its time', async () => {
  const world = await worldWithStore();
  const silent = await startLoopbackServer(() => {});
  undo.push(() => silent.close());
  const folder = kubeconfigFolder();
  undo.push(() => folder.remove());
  const gateway = await start(folder.write({ server: silent.url }), world.file);
  expect(gateway.progress()).toMatchObject({
    ready: false,
    clusters: [{ remembered: true, known: false }],
  });
  expect(await data(gateway.url, query)).toMatchObject({ configMaps: { nodes: [{ metadata: { name: 'one' } }] } });
});

test('it waits for the cluster when other namespaces of it are asked for than before', async () => {
  const world = await worldWithStore();
  const gateway = await start(world.kubeconfig, world.file, { namespaces: ['default'] });
  expect(gateway.progress().clusters).toMatchObject([{ remembered: false }]);
});

test('it waits for the cluster when it may no longer show all that it remembers', async () => {
  const world = await worldWithStore();
  const gateway = await start(world.kubeconfig, world.file, { kinds: ['namespaces'] });
  expect(gateway.progress().clusters).toMatchObject([{ remembered: false }]);
  await gateway.synced;
  await eventually(async () => {
    const { errors } = await ask(gateway.url, query);
    expect(JSON.stringify(errors)).toContain('Cannot query field');
  });
});
