/** Writes of callers with few rights. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SimCluster } from '../../sim/sim-cluster.ts';
import { attacked, idOf, startAttackedCluster, writesOf } from '../kit/attacked-cluster.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { pod } from '../kit/manifests.ts';
import { send } from '../kit/writes-suite.ts';
import { clusterName } from '../kit/writing-gateway.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;
const folder = kubeconfigFolder();
let sim: SimCluster;
let proxy: LoopbackServer;
let gateway: RunningGateway;

beforeAll(async () => {
  const users = [
    { token: 'token-of-gateway', user: 'gateway', groups: ['system:masters'] },
    { token: 'token-of-evictor', user: 'evictor', groups: ['system:authenticated'] },
    { token: 'token-of-nobody', user: 'nobody', groups: ['system:authenticated'] },
  ];
  ({ sim, proxy } = await startAttackedCluster({ users }));
  const metadata = { name: 'evictor', namespace: attacked };
  const rules = [{ apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] }];
  sim.create({ apiVersion, kind: 'Role', metadata, rules });
  const subjects = [{ apiGroup: group, kind: 'User', name: 'evictor' }];
  const roleRef = { apiGroup: group, kind: 'Role', name: 'evictor' };
  sim.create({ apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects });
  sim.create({ ...pod(attacked, 0), kind: 'Pod' });
  sim.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pin', namespace: attacked }, data: {} });
  const kubeconfig = folder.write({ server: proxy.url }, { token: 'token-of-gateway' });
  gateway = await runGateway({ name: clusterName, kubeconfig }, { auth: ['token'] });
});
afterAll(async () => {
  await gateway?.close();
  await proxy?.close();
  await sim?.close();
  folder.remove();
});

test('a caller who may evict a Pod needs no right to get it', async () => {
  const targets = { objects: [{ id: idOf('pods', 'pod-00') }] };
  const evict = async (user: string) => {
    const answer = await send(gateway.url, 'evict', { targets }, { authorization: `Bearer token-of-${user}` });
    return answer.data?.['evict']?.items[0];
  };
  // The API server says which right is missing: that to evict.
  expect((await evict('nobody'))?.errors).toMatchObject([
    { code: 'DENIED', by: 'RBAC', message: expect.stringContaining('cannot create resource "pods/eviction"') },
  ]);
  expect(await evict('evictor')).toMatchObject({ result: 'EVICTED', errors: [] });
  expect(writesOf(proxy).map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-of-nobody',
    'Bearer token-of-evictor',
  ]);
});

test('who may not get a Secret sees why a write of it is denied', async () => {
  const target = { id: idOf('secrets', 'pin') };
  const patch = [{ op: 'add', path: '/data/pin', value: 'NDcxMQ==' }];
  const headers = { authorization: 'Bearer token-of-nobody' };
  const answer = await send(gateway.url, 'patch', { target, type: 'JSON', patch }, headers);
  expect(answer.data?.['patch']?.items[0]?.errors).toMatchObject([
    { code: 'DENIED', by: 'RBAC', message: expect.stringContaining('cannot patch resource "secrets"') },
  ]);
});
