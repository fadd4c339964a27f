/**
 * Plans of objects whose status changes all the time, on real API servers.
 *
 *   carried out:   a controller writes the status before each request of the gateway that writes -> no request with a resourceVersion is taken
 *   a creation:    another client creates the object just before
 *   a storm:       controllers write the status of many objects, ten times a second each where the machine is fast enough
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { differenceFromPlan, type ReadObject } from '../kit/planned-changes.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import { deployment, type Written } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const stormed = Number(process.env['PORTOLAN_PLAN_STORM'] ?? randomRuns(40, 100));

/** Writers of status at a time. */
const churners = 4;

/** Characters that Go escapes in JSON, and JavaScript does not. In a value that must not be told. */
const untold = 'hush-<&>\u2028';
/** Characters that old and new servers escape in different ways. */
const odd = 'odd \b\f';

describeOn([mainServer, oldServer], 'plans of busy objects', { timeout: 1_200_000 }, (server) => {
  const namespace = 'storm';
  const collection = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  let plane: ControlPlane;
  let api: RestClient;
  let proxy: LoopbackServer;
  let gateway: WritingGateway;
  /** What a controller does just before a request of the gateway that writes the object of this path. */
  let control: (path: string) => Promise<unknown>;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const target = { url: plane.server, token: plane.token, ca: plane.caPem() };
    proxy = await startRecordingProxy(target, async ({ method, url = '/' }) => {
      if (method === 'PATCH') await control(new URL(url, plane.server).pathname.replace(/\/scale$/, ''));
      return false;
    });
    const redact = ['deployments.apps=spec.template.spec.containers[].env'];
    gateway = await WritingGateway.start(kubeconfigFolder().write({ server: proxy.url }), { redact });
  });
  beforeEach(() => {
    control = async () => {};
  });
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await api?.connection.close();
    await plane?.stop();
  });

  let count = 0;
  /** Another one each time. */
  const nextStatus = () => {
    count += 1;
    return { observedGeneration: count };
  };
  const writeStatus = (path: string, status: object = nextStatus()): Promise<ReadObject> =>
    api.patch<ReadObject>(`${path}/status`, 'merge', { status }, { query: { fieldManager: 'controller' } });

  const idOf = (name: string): string =>
    encodeObjectId({ cluster: clusterName, key: 'deployments.apps', namespace, name });

  async function makeDeployment(name: string, replicas: number, annotation = 'a<b>&c'): Promise<string> {
    const { spec, metadata, ...rest } = deployment(namespace, name, replicas);
    const container = { name: 'app', image: 'registry.example/app:1', env: [{ name: 'PIN', value: untold }] };
    const template = { ...spec.template, spec: { containers: [container] } };
    const noted = { ...metadata, annotations: { noted: annotation } };
    await api.post(collection, { ...rest, metadata: noted, spec: { ...spec, template } });
    return `${collection}/${name}`;
  }

  const isShown = (name: string) =>
    eventually(async () => {
      const text = `{ deployments(filter: { metadata: { name: { eq: "${name}" } } }) { totalCount } }`;
      expect(await data(gateway.url, text)).toEqual({ deployments: { totalCount: 1 } });
    });

  const byQuery = (name: string) => ({
    query: { kinds: ['Deployment'], namespaces: [namespace], filter: { metadata: { name: { eq: name } } }, expect: 1 },
  });

  const patchOf = (type: string, patch: unknown) => (id: string) => ({ target: { id }, type, patch });
  const image = 'registry.example/app:2';
  const cases: readonly (readonly [verb: string, args: (id: string, name: string) => object])[] = [
    ['scale', (id) => ({ targets: { objects: [{ id }] }, replicas: 3 })],
    ['scale', (_id, name) => ({ targets: byQuery(name), replicas: 4 })],
    ['restart', (id) => ({ targets: { objects: [{ id }] } })],
    ['restart', (_id, name) => ({ targets: byQuery(name) })],
    [
      'patch',
      patchOf('MERGE', { metadata: { labels: { a: 'b' }, annotations: { noted: null } }, spec: { paused: true } }),
    ],
    ['patch', patchOf('STRATEGIC', { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } })],
    ['patch', patchOf('JSON', [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }])],
    [
      'patch',
      patchOf('JSON', [
        { op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'B', value: untold } },
      ]),
    ],
  ];

  test.each(cases.map(([verb, args], index) => ({ verb, args, name: `busy-${index}` })))(
    'a plan holds though the status changes before each request: $verb of $name',
    async ({ verb, args, name }) => {
      const path = await makeDeployment(name, 0);
      await isShown(name);
      await writeStatus(path);
      control = writeStatus;
      const given = args(idOf(name), name);
      const fieldManager = `planner-${name}`;
      const plan = await gateway.write(verb, { ...given, options: { fieldManager, dryRun: true } });
      expect(plan.items[0]).toMatchObject({ result: 'CHANGED', errors: [] });
      const before = await api.get<ReadObject>(path);
      const done = await gateway.write(verb, { ...given, options: { fieldManager, plan: plan.planId } });
      expect(done.items[0]).toMatchObject({ result: 'CHANGED', errors: [], seen: true });
      const after = await api.get<ReadObject>(path);
      expect(differenceFromPlan(before, after, plan.items[0]?.changes ?? [])).toBeNull();
      expect(gateway.said()).not.toContain('hush-');
    },
  );

  test('a node is cordoned while its status changes', async () => {
    await api.post('/api/v1/nodes', { metadata: { name: 'busy' } });
    const images = () => ({ images: [{ names: ['a'], sizeBytes: nextStatus().observedGeneration }] });
    await writeStatus('/api/v1/nodes/busy', images());
    control = (path) => writeStatus(path, images());
    const id = encodeObjectId({ cluster: clusterName, key: 'nodes', namespace: null, name: 'busy' });
    for (const on of [true, false]) {
      const targets = { objects: [{ id }] };
      const plan = await gateway.write('cordon', { targets, on, options: { dryRun: true } });
      const done = await gateway.write('cordon', { targets, on, options: { plan: plan.planId } });
      expect(done.items[0]).toMatchObject({ result: 'CHANGED', errors: [] });
      const { spec } = await api.get<{ spec: { unschedulable?: boolean } }>('/api/v1/nodes/busy');
      expect(spec.unschedulable ?? false).toBe(on);
    }
  });

  test('an object that has not the planned state is not written, and one with odd characters is', async () => {
    const path = await makeDeployment('odd', 1, odd);
    const given = { target: { id: idOf('odd') }, patch: { spec: { paused: true } } };
    const plan = await gateway.write('patch', { ...given, options: { dryRun: true } });
    await writeStatus(path);
    // The third request is the patch: one with the version of the plan, and a dry run come before.
    const changes = [null, null, { metadata: { annotations: { noted: 'other' } } }, null, { spec: { paused: true } }];
    control = async (at) => {
      const change = changes.shift() ?? null;
      if (change !== null) await api.patch(at, 'merge', change);
    };
    const done = await gateway.write('patch', { ...given, options: { plan: plan.planId } });
    expect(changes).toEqual([]);
    // Somebody else has done it in the end.
    expect(done.items[0]).toMatchObject({ result: 'UNCHANGED', errors: [] });
    await api.patch(path, 'merge', { spec: { paused: null }, metadata: { annotations: { noted: odd } } });
    await writeStatus(path);
    control = async () => {};
    const again = await gateway.write('patch', { ...given, options: { plan: plan.planId } });
    expect(again.items[0]).toMatchObject({ result: 'CHANGED', errors: [] });
  });

  test('an object that the status takes out of the filter is not written', async () => {
    const path = await makeDeployment('leaving', 1);
    const filter = { health: { status: { notIn: ['Failed'] } }, metadata: { name: { eq: 'leaving' } } };
    const targets = { query: { ...byQuery('leaving').query, filter } };
    await isShown('leaving');
    const plan = await gateway.write('restart', { targets, options: { dryRun: true } });
    await writeStatus(path);
    const before = await api.get<ReadObject>(path);
    const failed = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
    let requests = 0;
    control = async (at) => {
      requests += 1;
      // A dry run of the object as it is comes before.
      if (requests === 3) await writeStatus(at, { observedGeneration: 1, conditions: [failed] });
    };
    const done = await gateway.write('restart', { targets, options: { plan: plan.planId } });
    expect(requests).toBe(3);
    expect(done.items[0]).toMatchObject({ result: 'NONE', errors: [{ code: 'SKIPPED' }] });
    expect((await api.get<ReadObject>(path))['spec']).toEqual(before['spec']);
  });

  test('an object that another client creates in the same moment is merged, with a warning', async () => {
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'contended', namespace } };
    const docs = [{ json: { ...configMap, data: { ours: 'a' } } }];
    const plan = await gateway.write('apply', { docs, options: { dryRun: true } });
    expect(plan.items[0]).toMatchObject({ result: 'CREATED', errors: [] });
    let requests = 0;
    control = async (path) => {
      requests += 1;
      // A dry run comes before.
      if (requests === 2) await api.post(path.replace(/\/contended$/, ''), { ...configMap, data: { theirs: 'b' } });
    };
    const done = await gateway.write('apply', { docs, options: { plan: plan.planId } });
    expect(requests).toBe(2);
    expect(done.items[0]).toMatchObject({
      result: 'CHANGED',
      errors: [],
      warnings: [expect.stringContaining('merged')],
    });
  });

  test('a plan holds in a storm', async () => {
    const paths: string[] = [];
    for (let index = 0; index < stormed; index += 1) paths.push(await makeDeployment(`d-${index}`, 1));
    const targets = { objects: paths.map((_path, index) => ({ id: idOf(`d-${index}`) })) };
    const replicas = 9;
    const plan = await gateway.write('scale', { targets, replicas, options: { dryRun: true } });
    let patched = 0;
    const stop = new AbortController();
    const churner = async (own: readonly string[]): Promise<void> => {
      while (!stop.signal.aborted) {
        const pause = new Promise((resolve) => setTimeout(resolve, 100));
        for (const path of own) {
          if (stop.signal.aborted) break;
          patched += 1;
          await writeStatus(path);
        }
        await pause;
      }
    };
    const churning = Array.from({ length: churners }, (_, at) =>
      churner(paths.filter((_path, index) => index % churners === at)),
    );
    await eventually(() => expect(patched).toBeGreaterThan(2 * stormed), 120_000);
    const from = gateway.audit().length;
    try {
      const done = await gateway.write('scale', { targets, replicas, options: { plan: plan.planId } });
      expect(tally(done)).toEqual({ CHANGED: stormed });
    } finally {
      stop.abort();
      await Promise.all(churning);
    }
    const lines = gateway.audit().slice(from);
    expect(lines.filter(({ outcome }) => outcome === 'STALE_OBJECT').length).toBeGreaterThanOrEqual(stormed);
    for (const path of paths) expect(await api.get(path)).toMatchObject({ spec: { replicas } });
  });
});

/** How many items have each result, or the code of their error. */
function tally({ items }: Written): Readonly<Record<string, number>> {
  const outcomes = items.map(({ result, errors }) => errors[0]?.code ?? result);
  return Object.fromEntries([...Map.groupBy(outcomes, (each) => each)].map(([each, { length }]) => [each, length]));
}
