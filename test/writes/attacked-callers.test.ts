/** Attacks on mutations where callers have tokens: plans, credentials and limits of others. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SimCluster } from '../../sim/sim-cluster.ts';
import { attacked, codesOf, created, startAttackedCluster, writesOf } from '../kit/attacked-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { configMap, send } from '../kit/writes-suite.ts';
import { clusterName } from '../kit/writing-gateway.ts';

const users = [
  { token: 'token-of-gateway', user: 'gateway', groups: ['system:masters'] },
  { token: 'token-of-alice', user: 'alice', groups: ['system:masters'] },
  { token: 'token-of-bob', user: 'bob', groups: ['system:masters'] },
];

describe('callers with tokens', () => {
  const folder = kubeconfigFolder();
  let sim: SimCluster;
  let proxy: LoopbackServer;
  let gateway: RunningGateway;

  beforeAll(async () => {
    ({ sim, proxy } = await startAttackedCluster({ users }));
    const kubeconfig = folder.write({ server: proxy.url }, { token: 'token-of-gateway' });
    gateway = await runGateway({ name: clusterName, kubeconfig }, { auth: ['token'], impersonate: 'classic' });
    await eventually(async () => {
      const found = await ask(gateway.url, `{ namespace(name: "${attacked}") { id } }`, {}, as('alice'));
      expect(found).toMatchObject({ data: { namespace: { id: expect.anything() } } });
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await sim?.close();
    folder.remove();
  });

  const as = (user: string) => ({ authorization: `Bearer token-of-${user}` });

  test('a plan of another user is refused', async () => {
    const args = created('planned-by-alice');
    const plan = await send(gateway.url, 'create', { ...args, options: { dryRun: true } }, as('alice'));
    const planId = plan.data?.['create']?.planId;
    const before = writesOf(proxy).length;
    const taken = await send(gateway.url, 'create', { ...args, options: { plan: planId } }, as('bob'));
    expect(codesOf(taken)).toEqual(['BAD_USER_INPUT']);
    expect(writesOf(proxy)).toHaveLength(before);
    const own = await send(gateway.url, 'create', { ...args, options: { plan: planId } }, as('alice'));
    expect(own.data?.['create']?.items).toMatchObject([{ result: 'CREATED' }]);
  });

  test('headers of impersonation from outside reach no API server; every write has the token of its caller', async () => {
    const forged = {
      'impersonate-user': 'admin',
      'impersonate-group': 'system:masters',
      'impersonate-uid': '1',
      'impersonate-extra-scopes': 'all',
      'x-forwarded-user': 'admin',
      'x-forwarded-access-token': 'token-of-gateway',
      cookie: 'token=token-of-gateway',
    };
    const before = proxy.requests.length;
    const answer = await send(gateway.url, 'create', created('as-alice'), { ...as('alice'), ...forged });
    expect(answer.data?.['create']?.items).toMatchObject([{ result: 'CREATED' }]);
    const sent = proxy.requests.slice(before);
    const names = sent.flatMap(({ headers }) => Object.keys(headers));
    expect(names.filter((name) => /^(impersonate|x-forwarded|cookie)/.test(name))).toEqual([]);
    const writes = sent.filter(({ method, url }) => method === 'POST' && /\/configmaps/.test(url ?? ''));
    expect(writes.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-of-alice']);
  });

  test('a caller without a token, or with X-Remote headers, writes nothing', async () => {
    const before = writesOf(proxy).length;
    for (const headers of [
      {},
      as('nobody'),
      { 'x-remote-user': 'admin' },
      { ...as('alice'), 'x-remote-user': 'admin' },
    ]) {
      const answer = await send(gateway.url, 'create', created('unknown'), headers);
      if (answer.data?.['create'] !== undefined)
        expect(answer.data['create'].items).toMatchObject([{ result: 'CREATED' }]);
      else expect(answer.errors).toHaveLength(1);
    }
    const sent = writesOf(proxy).slice(before);
    expect(sent.filter(({ headers }) => headers.authorization !== 'Bearer token-of-alice')).toEqual([]);
  });

  test('a limit of writes does not keep a mutation from undoing what it wrote, and hides no outcome', async () => {
    const kubeconfig = folder.write({ server: proxy.url }, { token: 'token-of-gateway' }, 'limited');
    const limited = await runGateway({ name: clusterName, kubeconfig }, { auth: ['token'], callerWrites: '2' });
    onTestFinished(() => limited.close());
    const bad = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not A Name', namespace: attacked } };
    const docs = [{ json: configMap(attacked, 'undone', { a: '1' }) }, { json: bad }];
    const options = { onError: 'REVERT', order: 'GIVEN' };
    const answer = await send(limited.url, 'create', { docs, options }, as('alice'));
    expect(answer.data?.['create']?.items.map(({ result }) => result)).toEqual(['REVERTED', 'NONE']);
    expect(sim.get(`/api/v1/namespaces/${attacked}/configmaps/undone`)).toBeUndefined();
    const more = await send(limited.url, 'create', created('beyond'), as('alice'));
    const codes = more.data?.['create']?.items.map(({ errors }) => errors[0]?.code);
    expect(codes).toEqual(['TOO_MANY_REQUESTS']);
  });
});
