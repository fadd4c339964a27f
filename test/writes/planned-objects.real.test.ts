/** Plans of objects that are gone or new, and the words of refusals, on real API servers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { deployment, type Written } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

/** Begins every value that must not be told. */
const untold = 'hush-';

describeOn([mainServer, oldServer], 'plans of gone and of new objects', { timeout: 120_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;
  let gateway: WritingGateway;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    gateway = await WritingGateway.start(plane.kubeconfigPath, { redact: ['pods=spec.containers[].env'] });
  });
  afterAll(async () => {
    await gateway?.close();
    await api?.connection.close();
    await plane?.stop();
  });

  test('an object that others have deleted is not found; the deletion of it is nothing more to do', async () => {
    const namespace = 'deleted';
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const id = encodeObjectId({ cluster: clusterName, key: 'deployments.apps', namespace, name: 'one' });
    const body = deployment(namespace, 'one');
    const outcomes: Record<string, unknown> = {};
    const mutations: Readonly<Record<string, object>> = {
      scale: { targets: { objects: [{ id }] }, replicas: 7 },
      restart: { targets: { objects: [{ id }] } },
      patch: { target: { id }, patch: { spec: { replicas: 8 } } },
      apply: { docs: [{ json: { ...body, spec: { ...body.spec, replicas: 9 } } }], force: true },
      delete: { targets: { objects: [{ id }] } },
    };
    for (const [verb, args] of Object.entries(mutations)) {
      await api.post(path, body);
      const { planId } = await gateway.write(verb, { ...args, options: { dryRun: true } });
      await api.delete(`${path}/one`);
      const [item] = (await gateway.write(verb, { ...args, options: { plan: planId } })).items;
      outcomes[verb] = [item?.result, item?.errors[0]?.code];
      expect((await api.get<{ items: unknown[] }>(path)).items).toEqual([]);
    }
    expect(outcomes).toEqual({
      scale: ['NONE', 'NOT_FOUND'],
      restart: ['NONE', 'NOT_FOUND'],
      patch: ['NONE', 'NOT_FOUND'],
      apply: ['NONE', 'PLAN_CHANGED'],
      delete: ['UNCHANGED', undefined],
    });
  });

  test('a plan of new objects holds where the API server chooses values', async () => {
    const namespace = 'new';
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const labels = { app: 'app' };
    const pod = { containers: [{ name: 'app', image: 'registry.example/app:1' }] };
    const job = { template: { spec: { ...pod, restartPolicy: 'Never' } } };
    const metadata = { name: 'chosen', namespace };
    const service = { type: 'NodePort', selector: labels, ports: [{ port: 80, protocol: 'TCP' }] };
    const docs = [
      { json: { apiVersion: 'v1', kind: 'Service', metadata, spec: service } },
      { json: { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: job } },
      { json: { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, labels }, spec: pod } },
    ];
    const generated = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'chosen-', namespace } };
    for (const [verb, given] of [
      ['create', [...docs, { json: generated }]],
      ['apply', docs.map(({ json }) => ({ json: { ...json, metadata: { ...json.metadata, name: 'applied' } } }))],
    ] as const) {
      const plan = await gateway.write(verb, { docs: given, options: { dryRun: true } });
      expect(tally(plan)).toEqual({ CREATED: given.length });
      const done = await gateway.write(verb, { docs: given, options: { plan: plan.planId } });
      expect(tally(done)).toEqual({ CREATED: given.length });
    }
  });

  test('a manifest that cannot be applied is the fault of the manifest, not of the API server', async () => {
    const metadata = { name: 'typed', namespace: 'default' };
    const docs = [
      // Old servers need the protocol, because it is a key of the list.
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] } },
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: 'none' } },
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ protocol: 'TCP' }] } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: ['a'] },
    ];
    for (const json of docs) {
      const { items } = await gateway.write('apply', { docs: [{ json }] });
      const [{ code = '', message = '' } = {}] = items[0]?.errors ?? [];
      expect([message, code]).toEqual([message, 'INVALID_FIELD']);
    }
  });

  test('the words of the API server do not tell redacted values that the caller has not sent', async () => {
    const namespace = 'untold';
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const long = `${untold}${'0123456789'.repeat(8)}`;
    const container = (value: string) => ({
      name: 'app',
      image: 'registry.example/app:1',
      env: [{ name: 'PIN', value }],
    });
    const metadata = { name: 'pod', namespace };
    await api.post(`/api/v1/namespaces/${namespace}/pods`, { metadata, spec: { containers: [container(long)] } });
    const id = encodeObjectId({ cluster: clusterName, key: 'pods', namespace, name: 'pod' });
    const { env: _env, ...bare } = container('');
    const specs = [
      { containers: [bare] },
      { hostname: 'other' },
      { containers: [container(`${long.slice(0, -1)}z`)] },
      { containers: [{ ...bare, name: 'another' }] },
    ];
    for (const spec of specs) {
      const patch = { target: { id }, patch: { spec } };
      const { items } = await gateway.write('patch', patch);
      expect(items[0]?.errors).toHaveLength(1);
      await gateway.write('patch', { ...patch, options: { dryRun: true } });
      const json = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [bare], ...spec } };
      await gateway.write('apply', { docs: [{ json }], force: true });
    }
    expect(gateway.said()).not.toContain(untold);
    expect(gateway.said()).not.toContain('0123456789');
  });
});

/** How many items have each result, or the code of their error. */
function tally({ items }: Written): Readonly<Record<string, number>> {
  const outcomes = items.map(({ result, errors }) => errors[0]?.code ?? result);
  return Object.fromEntries([...Map.groupBy(outcomes, (each) => each)].map(([each, { length }]) => [each, length]));
}
