/** A plan that changes nothing writes nothing, also where the tables are behind. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import { deployment } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const configs = kubeconfigFolder();
const written: string[] = [];
let sim: SimCluster;
let proxy: LoopbackServer;
let gateway: WritingGateway;

beforeAll(async () => {
  sim = await startSimCluster({ objects: 'empty' });
  proxy = await startRecordingProxy({ url: sim.url }, ({ method = 'GET', url = '/' }) => {
    if (method !== 'GET' && !url.includes('dryRun') && url.includes('/deployments/')) written.push(`${method} ${url}`);
    return false;
  });
  gateway = await WritingGateway.start(configs.write({ server: proxy.url }));
});
afterAll(async () => {
  await gateway?.close();
  await proxy?.close();
  await sim?.close();
  configs.remove();
});

test('a plan without changes is carried out without a write', async () => {
  const body = deployment('default', 'one');
  await gateway.write('create', { docs: [{ json: body }] });
  const id = encodeObjectId({ cluster: clusterName, key: 'deployments.apps', namespace: 'default', name: 'one' });
  const outcomes: Record<string, unknown> = {};
  const mutations: Readonly<Record<string, object>> = {
    scale: { targets: { objects: [{ id }] }, replicas: body.spec.replicas },
    patch: { target: { id }, patch: { spec: { replicas: body.spec.replicas } } },
  };
  for (const [verb, args] of Object.entries(mutations)) {
    const { planId } = await gateway.write(verb, { ...args, options: { dryRun: true } });
    const { token, items } = await gateway.write(verb, { ...args, options: { plan: planId, waitMs: 20_000 } });
    outcomes[verb] = [items[0]?.result, items[0]?.seen, token === null, items[0]?.errors];
  }
  expect(outcomes).toEqual({ scale: ['UNCHANGED', true, false, []], patch: ['UNCHANGED', true, false, []] });
  expect(written).toEqual([]);
});

test('a plan that is repeated after it was done shows what the tables have', async () => {
  await gateway.write('create', { docs: [{ json: deployment('default', 'repeated') }] });
  const id = encodeObjectId({ cluster: clusterName, key: 'deployments.apps', namespace: 'default', name: 'repeated' });
  const outcomes: Record<string, unknown> = {};
  const mutations: Readonly<Record<string, object>> = {
    scale: { targets: { objects: [{ id }] }, replicas: 3 },
    restart: { targets: { objects: [{ id }] } },
    delete: { targets: { objects: [{ id }] } },
  };
  for (const [verb, args] of Object.entries(mutations)) {
    const { planId } = await gateway.write(verb, { ...args, options: { dryRun: true } });
    for (const attempt of ['first', 'again']) {
      const { token, items } = await gateway.write(verb, { ...args, options: { plan: planId, waitMs: 20_000 } });
      outcomes[`${verb} ${attempt}`] = [items[0]?.result, items[0]?.seen, token === null];
    }
  }
  expect(outcomes).toEqual({
    'scale first': ['CHANGED', true, false],
    'scale again': ['UNCHANGED', true, false],
    'restart first': ['CHANGED', true, false],
    'restart again': ['UNCHANGED', true, false],
    'delete first': ['DELETED', true, false],
    'delete again': ['UNCHANGED', false, true],
  });
});
