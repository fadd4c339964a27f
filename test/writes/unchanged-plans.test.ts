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
    const [item] = (await gateway.write(verb, { ...args, options: { plan: planId } })).items;
    outcomes[verb] = [item?.result, item?.errors];
  }
  expect(outcomes).toEqual({ scale: ['UNCHANGED', []], patch: ['UNCHANGED', []] });
  expect(written).toEqual([]);
});
