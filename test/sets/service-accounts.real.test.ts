/** A ServiceAccount and a Pod that uses it as one set, on a real API server that refuses Pods without their ServiceAccount. */
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import type { Written } from '../kit/writes-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

describeOn([mainServer, oldServer], 'a set with a ServiceAccount', { timeout: 90_000 }, (server) => {
  test('is created in its order, also by a plan; a Pod of a ServiceAccount of nobody is refused', async () => {
    const plane = await startControlPlane({ server, apiServer: { admitsServiceAccounts: true } });
    onTestFinished(() => plane.stop());
    const api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    onTestFinished(() => api.connection.close());
    await plane.kubectl(['apply', '-f', '-'], shadowRecordCrdText());
    await eventually(() => api.get('/apis/portolan.dev/v1alpha1/shadowrecords'));
    const gateway = await WritingGateway.start(plane.kubeconfigPath);
    onTestFinished(() => gateway.close());
    const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
    const pod = (name: string, serviceAccountName: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { serviceAccountName, automountServiceAccountToken: false, containers: [{ name: 'main', image: 'nginx' }] },
    });
    const apply = (name: string, manifests: readonly object[], options: object = {}): Promise<Written> =>
      gateway.write('applySet', {
        set: { namespace: 'default', name },
        docs: manifests.map((json) => ({ json })),
        options: { waitMs: 0, ...options },
      });
    const results = ({ items }: Written) =>
      items.map(({ target, result, errors }) => [target.name, errors[0]?.code ?? result].join(' '));
    const first = [pod('web', 'runner'), account('runner')];
    expect(results(await apply('one', first))).toEqual(['web CREATED', 'runner CREATED', 'one CREATED']);
    expect(results(await apply('one', first))).toEqual(['web UNCHANGED', 'runner UNCHANGED', 'one UNCHANGED']);
    const second = [account('worker'), pod('job', 'worker')];
    const plan = await apply('two', second, { dryRun: true });
    expect(plan.items[1]).toMatchObject({
      result: 'CREATED',
      warnings: [expect.stringContaining('the ServiceAccount worker is created first')],
    });
    expect(results(await apply('two', second, { plan: plan.planId }))).toEqual([
      'worker CREATED',
      'job CREATED',
      'two CREATED',
    ]);
    expect(results(await apply('three', [account('other'), pod('lost', 'nobody')]))).toEqual([
      'other SKIPPED',
      'lost DENIED',
      'three SKIPPED',
    ]);
  });
});
