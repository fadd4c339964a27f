/** `--set-kinds` for both doors: kubectl and GraphQL refuse the same members, with their places, before anything is written. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import type { RunningGateway } from '../kit/gateway.ts';
import { runGateway } from '../kit/gateway.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { send } from '../kit/writes-suite.ts';

const token = 'token-jane';
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'banner' }, data: { text: 'hello' } };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pin' }, stringData: { pin: '4711' } };
const setOf = (...flowList: readonly object[]): string =>
  JSON.stringify({
    apiVersion: 'shadow.portolan.dev/v1alpha1',
    kind: 'ShadowResource',
    metadata: { name: 'task1', namespace: 'default' },
    spec: { flowList },
  });
const why = 'A Secret cannot be a member of a set here: --set-kinds does not name secrets.';

describeOn([mainServer], 'the kinds of members', { timeout: 60_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  let gateway: RunningGateway;
  const jane = (args: readonly string[], stdin?: string): Promise<string> =>
    aggregated.plane.kubectl([`--token=${token}`, ...args], stdin);

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      users: [{ token, user: 'jane', groups: [] }],
      flags: { setKinds: 'configmaps', impersonate: 'classic', readOnly: 'false' },
      prepare: (plane) =>
        plane
          .kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane'])
          .then(() => {}),
      run: async ({ kubeconfigPath: kubeconfig }, flags) => {
        gateway = await runGateway({ name: 'real', kubeconfig }, flags);
        return gateway;
      },
    });
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('kubectl is told the place of the member that is not allowed', async () => {
    const apply = (...flowList: readonly object[]) => jane(['apply', '--server-side', '-f', '-'], setOf(...flowList));
    const refused = await apply(configMap, secret).catch(String);
    expect(refused).toContain('spec.flowList[1]');
    expect(refused).toContain(why);
    expect(await jane(['get', 'configmaps', 'banner', '--ignore-not-found'])).toBe('');
    await apply(configMap);
    expect(await jane(['get', 'shadowresource', 'task1', '-o', 'jsonpath={.status.phase}'])).toBe('Applied');
  });

  test('GraphQL is told it by the item', async () => {
    const docs = [configMap, secret].map((manifest) => ({ json: manifest }));
    const answer = await send(
      gateway.url,
      'applySet',
      { set: { namespace: 'default', name: 'task2' }, docs },
      { authorization: `Bearer ${token}` },
    );
    const report = answer.data?.['applySet'];
    expect(report?.items.map(({ errors }) => errors.map(({ code, message }) => `${code}: ${message}`))[1]).toEqual([
      `UNSUPPORTED: ${why}`,
    ]);
    expect(report?.complete).toBe(false);
    expect(await jane(['get', 'secrets', 'pin', '--ignore-not-found'])).toBe('');
  });
});
