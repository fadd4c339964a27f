/** The metrics of writes of a running gateway: what was sent to the API server counts, by cluster, verb and outcome. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { samplesOf } from '../kit/prometheus-text.ts';
import { configMap, deployment } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const folder = kubeconfigFolder();
let cluster: SimCluster;
let gateway: WritingGateway;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  gateway = await WritingGateway.start(folder.file('config', cluster.kubeconfig()));
  await eventually(async () => expect((await gateway.write('create', planned('ready'))).complete).toBe(true));
});

afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  folder.remove();
});

const planned = (name: string) => ({
  docs: [{ json: configMap('default', name, {}) }],
  options: { dryRun: true },
});

/** The values of the counters by counter, verb and outcome. */
async function counts(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(new URL('/metrics', gateway.url))).text();
  const of = samplesOf(text).filter(({ name }) => /^portolan_write_.*(_total|_count)$/.test(name));
  expect(of.filter(({ labels }) => 'cluster' in labels && labels['cluster'] !== clusterName)).toEqual([]);
  return new Map(
    of.map(({ name, labels: { verb, outcome }, value }) => [
      [name.replace('portolan_write_', ''), verb, outcome ?? ''].join(' ').trim(),
      value,
    ]),
  );
}

/** What the counters count for the mutations of `act`. */
async function counted(act: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const before = await counts();
  await act();
  const after = await counts();
  return Object.fromEntries(
    [...after].map(([key, value]) => [key, value - (before.get(key) ?? 0)] as const).filter(([, grown]) => grown !== 0),
  );
}

test('each request that writes is counted by its outcome, with its time', async () => {
  const docs = ['a', 'b'].map((name) => ({ json: configMap('default', name, {}) }));
  const twice = async () => {
    await gateway.write('create', { docs });
    await gateway.write('create', { docs, options: { onError: 'CONTINUE' } });
  };
  expect(await counted(twice)).toEqual({
    'requests_total create OK': 2,
    'requests_total create ALREADY_EXISTS': 2,
    'request_duration_seconds_count create': 4,
  });
});

test('a plan counts as dry runs, and each attempt of its writing counts', async () => {
  const web = deployment('default', 'web', 1);
  await gateway.write('create', { docs: [{ json: web }] });
  const scale = { targets: { docs: [{ json: web }] }, replicas: 2 };
  let planId: string | null = null;
  const plan = async () => {
    ({ planId } = await gateway.write('scale', { ...scale, options: { dryRun: true } }));
  };
  expect(await counted(plan)).toEqual({ 'dry_runs_total scale OK': 1 });
  cluster.patch('/apis/apps/v1/namespaces/default/deployments/web', { metadata: { annotations: { seen: 'yes' } } });
  const carryOut = async () => {
    const { items } = await gateway.write('scale', { ...scale, options: { plan: planId } });
    expect(items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
  };
  expect(await counted(carryOut)).toEqual({
    'requests_total scale STALE_OBJECT': 1,
    'dry_runs_total scale OK': 1,
    'requests_total scale OK': 1,
    'request_duration_seconds_count scale': 2,
  });
});

test('what is not sent does not count', async () => {
  const absent = { docs: [{ json: { apiVersion: 'none.example/v1', kind: 'None', metadata: { name: 'n' } } }] };
  const unsent = async () => {
    expect((await gateway.write('apply', absent)).items).toMatchObject([{ result: 'NONE' }]);
    const foreign = { targets: { docs: [] }, replicas: 1, options: { plan: 'none' } };
    expect((await gateway.answer('scale', foreign)).errors).toBeDefined();
  };
  expect(await counted(unsent)).toEqual({});
});

test('no name of an object or of a namespace stands in the metrics', async () => {
  const name = 'told-nowhere';
  const docs = [{ json: configMap('default', name, { key: name }) }];
  await gateway.write('apply', { docs });
  const text = await (await fetch(new URL('/metrics', gateway.url))).text();
  expect(text).toContain('portolan_write_requests_total{cluster="east",verb="apply",outcome="OK"}');
  expect(text).not.toContain(name);
});
