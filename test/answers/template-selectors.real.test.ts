/** Selectors of Pods and the labels of Pod templates on a real server: workloads without a Pod, because no controller runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const space = 'templates';
const labelsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  web: { app: 'web', tier: 'front' },
  back: { app: 'web', tier: 'back' },
  db: { app: 'db', 'example.com/tier': 'back' },
};

const apiVersions = {
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  ReplicationController: 'v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
};
type Kind = keyof typeof apiVersions;
const kinds = Object.keys(apiVersions) as readonly Kind[];

const metadata = (name: string) => ({ namespace: space, name });

function workload(kind: Kind, name: string): object {
  const labels = labelsOf[name] ?? {};
  const restartPolicy = kind === 'Job' || kind === 'CronJob' ? 'Never' : 'Always';
  const template = {
    metadata: { labels },
    spec: { restartPolicy, containers: [{ name: 'c', image: 'example.com/c' }] },
  };
  const selector = kind === 'ReplicationController' ? labels : { matchLabels: labels };
  const scaled = kind === 'DaemonSet' ? {} : { replicas: 0 };
  const spec =
    kind === 'CronJob'
      ? { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template } } }
      : kind === 'Job'
        ? { suspend: true, template }
        : { ...scaled, selector, template, ...(kind === 'StatefulSet' ? { serviceName: 'none' } : {}) };
  return { apiVersion: apiVersions[kind], kind, metadata: metadata(name), spec };
}

const service = (name: string, selector: object | undefined): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name),
  spec: { ports: [{ port: 80 }], ...(selector === undefined ? {} : { selector }) },
});
const budget = (name: string, selector: object): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadata(name),
  spec: { maxUnavailable: 1, selector },
});
const policy = (name: string, podSelector: object): object => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadata(name),
  spec: { podSelector },
});

const services = { web: { app: 'web' }, 'web-front': { app: 'web', tier: 'front' }, other: { app: 'other' } };
const selectors = {
  all: {},
  'not-front': { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['front'] }] },
  'with-tier': { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
};

/** The lists of a Service with the workloads of each kind. Another relation has the name `statefulSets` there. */
const lists: Readonly<Record<Kind, string>> = {
  Deployment: 'deployments',
  ReplicaSet: 'replicaSets',
  StatefulSet: 'statefulSets',
  DaemonSet: 'daemonSets',
  ReplicationController: 'replicationControllers',
  Job: 'jobs',
  CronJob: 'cronJobs',
};

describeOn([mainServer], 'selectors of Pods and Pod templates', { timeout: 120_000 }, () => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  const create = (...objects: readonly object[]): Promise<string> =>
    plane.kubectl(['create', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));

  beforeAll(async () => {
    plane = await startControlPlane();
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: space } });
    await create(
      ...kinds.flatMap((kind) => Object.keys(labelsOf).map((name) => workload(kind, name))),
      ...Object.entries(services).map(([name, selector]) => service(name, selector)),
      service('without', undefined),
      ...Object.entries(selectors).flatMap(([name, selector]) => [budget(name, selector), policy(name, selector)]),
    );
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath });
  }, 120_000);

  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  const names = (nodes: readonly { metadata: { name: string } }[]): string[] =>
    nodes.map(({ metadata: { name } }) => name).sort();

  /** The names of the workloads that each object selects. */
  const expected = (root: string): ReadonlyMap<string, readonly string[]> => {
    const selected: Readonly<Record<string, readonly string[]>> =
      root === 'services'
        ? { web: ['back', 'web'], 'web-front': ['web'], other: [], without: [] }
        : { all: ['back', 'db', 'web'], 'not-front': ['back', 'db'], 'with-tier': ['back', 'web'] };
    return new Map(Object.entries(selected));
  };

  test.each(
    ['services', 'podDisruptionBudgets', 'networkPolicies'].flatMap((root) =>
      kinds.map((kind) => [root, kind] as const),
    ),
  )('%s and each %s find each other', async (root, kind) => {
    const own = `filter: { namespaces: ["${space}"] }`;
    const field = root === 'services' && kind === 'StatefulSet' ? 'selectedStatefulSets' : lists[kind];
    const list = lists[kind];
    type Nodes = { nodes: readonly { metadata: { name: string } }[] };
    const found = await data<
      Record<string, { nodes: readonly (Record<string, Nodes> & { metadata: { name: string } })[] }>
    >(
      gateway.url,
      `{ forward: ${root}(${own}) { nodes { metadata { name } ${field} { totalCount nodes { metadata { name } } } } }
        back: ${list}(${own}) { nodes { metadata { name } ${root} { nodes { metadata { name } } } } }
        filtered: ${list}(filter: { namespaces: ["${space}"], ${root}: { exists: true } }) { nodes { metadata { name } } } }`,
    );
    const wanted = expected(root);
    expect(
      new Map(found['forward']?.nodes.map((each) => [each.metadata.name, names(each[field]?.nodes ?? [])])),
    ).toEqual(wanted);
    const back = Object.keys(labelsOf).map((name) => [
      name,
      [...wanted]
        .filter(([, some]) => some.includes(name))
        .map(([by]) => by)
        .sort(),
    ]);
    expect(found['back']?.nodes.map((each) => [each.metadata.name, names(each[root]?.nodes ?? [])])).toEqual(
      back.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
    expect(names(found['filtered']?.nodes ?? [])).toEqual(
      back.filter(([, some]) => (some?.length ?? 0) > 0).map(([name]) => name),
    );
  });

  test('a Service of a Deployment that is scaled to 0 is in its graph, and the other way', async () => {
    const { service: one, deployment } = await data<
      Record<string, { graph: { nodes: { kind: string; metadata: { name: string } }[] } }>
    >(
      gateway.url,
      `{ service(namespace: "${space}", name: "web-front") { graph(depth: 1) { nodes { kind metadata { name } } } }
        deployment(namespace: "${space}", name: "web") { graph(depth: 1) { nodes { kind metadata { name } } } } }`,
    );
    expect(one?.graph.nodes).toContainEqual({ kind: 'Deployment', metadata: { name: 'web' } });
    expect(deployment?.graph.nodes).toContainEqual({ kind: 'Service', metadata: { name: 'web-front' } });
  });
});
