/**
 * Relations of a real cluster: controllers make ReplicaSets, Pods and EndpointSlices, the scheduler binds the Pods to Nodes, and every
 * answer is compared with what `kubectl get -o json` prints.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cloudManagerCrd, fooCrd } from '../../sim/sample/sample-crds.ts';
import { must } from '../../src/base/must.ts';
import { type ControlPlane, podRunners, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import * as manifests from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

type Labels = Readonly<Record<string, string>>;

interface KubeObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Labels;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly selector?: Labels;
    readonly volumes?: readonly { readonly secret?: { readonly secretName: string } }[];
    readonly containers?: readonly {
      readonly envFrom?: readonly { readonly secretRef?: { readonly name: string } }[];
    }[];
  };
}

const space = 'relations';

describeOn([mainServer], 'relations of a real cluster', { timeout: 240_000, needs: podRunners }, () => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  const create = (...objects: readonly object[]): Promise<string> =>
    plane.kubectl(['create', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));

  async function list(resource: string): Promise<readonly KubeObject[]> {
    const text = await plane.kubectl(['get', resource, '--namespace', space, '-o', 'json']);
    return (JSON.parse(text) as { items: readonly KubeObject[] }).items;
  }

  beforeAll(async () => {
    plane = await startControlPlane({ controllerManager: true, runPods: true });
    await create(fooCrd, cloudManagerCrd, manifests.namespace(space), ...nodes.map(manifests.fakeNode));
    for (const crd of [fooCrd, cloudManagerCrd]) {
      await plane.kubectl([
        'wait',
        '--for=condition=Established',
        `crd/${(crd as unknown as KubeObject).metadata.name}`,
      ]);
    }
    await eventually(() => create(foo, cloudManager), 60_000);
    const owner = Object.fromEntries(
      [...(await list(foos)), ...(await list(cloudManagers))].map((each) => [each.kind, ownerReference(each)]),
    );
    await create(...workloads(owner));
    await eventually(async () => {
      const pods = await list('pods');
      expect(pods).toHaveLength(podsInAll);
      expect(pods.filter(({ spec }) => spec?.nodeName !== undefined)).toHaveLength(podsInAll);
    }, 120_000);
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { leaseMs: '10000', relationAnnotations: true });
  }, 240_000);

  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  test('a Deployment leads to its ReplicaSets, their Pods, and the Node and ServiceAccount of each', async () => {
    const document = `{ answer: deployments(filter: { metadata: { namespace: { eq: "${space}" } } }) { nodes { metadata { name }
      replicaSets { nodes { metadata { name }
        pods { nodes { metadata { name } node { metadata { name } } serviceAccount { metadata { name } } } } } } } } }`;
    await eventually(async () => {
      const [deployments, replicaSets, pods, accounts] = await Promise.all(
        ['deployments', 'replicasets', 'pods', 'serviceaccounts'].map(list),
      );
      expect(await answer(document)).toEqual(
        named(deployments, (deployment) => ({
          replicaSets: {
            nodes: named(owned(deployment, replicaSets), (replicaSet) => ({
              pods: {
                nodes: named(owned(replicaSet, pods), ({ spec }) => ({
                  node: name(must(spec?.nodeName, 'it is bound')),
                  serviceAccount: (accounts ?? []).some(({ metadata }) => metadata.name === spec?.serviceAccountName)
                    ? name(must(spec?.serviceAccountName, 'it has one'))
                    : null,
                })),
              },
            })),
          },
        })),
      );
    });
  });

  test('a Service leads to its Pods and their Nodes, and a Node back to the Services of its Pods', async () => {
    const document = `{ answer: services(filter: { metadata: { namespace: { eq: "${space}" } } }) { nodes { metadata { name }
      pods { nodes { metadata { name } node { metadata { name } } } } endpointSlices { nodes { metadata { name } } } } } }`;
    await eventually(async () => {
      const [services, pods, slices] = await Promise.all(['services', 'pods', 'endpointslices'].map(list));
      expect(await answer(document)).toEqual(
        named(services, ({ metadata, spec }) => ({
          pods: {
            nodes: named(selected(must(spec?.selector, 'it selects'), pods), (pod) => ({
              node: name(must(pod.spec?.nodeName, 'it is bound')),
            })),
          },
          endpointSlices: {
            nodes: named(
              (slices ?? []).filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === metadata.name),
            ),
          },
        })),
      );
    });
    const back = `{ answer: nodes(filter: { pods: { some: { services: { some: { metadata: { name: { eq: "web" } } } } } } }) {
      nodes { metadata { name } } } }`;
    const web = selected({ app: 'web' }, await list('pods'));
    const busy = [...new Set(web.map(({ spec }) => must(spec?.nodeName, 'it is bound')))].sort();
    expect(await answer(back)).toEqual(busy.map((each) => name(each)));
  });

  test('a Foo leads to its Deployment, and a CloudManager to two Deployments, a StatefulSet and a Secret', async () => {
    const parts = (...fields: readonly string[]): string =>
      fields.map((field) => `${field} { nodes { metadata { name } pods { totalCount } } }`).join(' ');
    const document = `{
      foos: samplecontrollerK8sIoFoos { nodes { metadata { name } ${parts('deployments')} } }
      managers: cloudPortolanExampleCloudManagers { nodes { metadata { name } ${parts('deployments', 'statefulSets', 'secrets')} } }
      back: deployments(filter: { cloudManager: { exists: true } }, orderBy: [{ path: "cloudManager.metadata.name" }, { path: "metadata.name" }]) {
        nodes { metadata { name } cloudManager { metadata { name } } } } }`;
    const [deployments, statefulSets, secrets, replicaSets, pods] = await Promise.all(
      ['deployments', 'statefulsets', 'secrets', 'replicasets', 'pods'].map(list),
    );
    const withPods = (count: (object: KubeObject) => number) => (object: KubeObject) => ({
      pods: { totalCount: count(object) },
    });
    const ofDeployment = withPods((each) => owned(each, replicaSets).flatMap((set) => owned(set, pods)).length);
    const [manager] = await list(cloudManagers);
    const ofManager = owned(must(manager, 'it is there'), deployments);
    expect(ofManager).toHaveLength(2);
    expect(await data(gateway.url, document)).toEqual({
      foos: {
        nodes: named(await list(foos), (each) => ({
          deployments: { nodes: named(owned(each, deployments), ofDeployment) },
        })),
      },
      managers: {
        nodes: named([must(manager, 'it is there')], (each) => ({
          deployments: { nodes: named(owned(each, deployments), ofDeployment) },
          statefulSets: {
            nodes: named(
              owned(each, statefulSets),
              withPods((set) => owned(set, pods).length),
            ),
          },
          secrets: {
            nodes: named(
              owned(each, secrets),
              withPods((secret) => pods?.filter((pod) => uses(pod, secret)).length ?? 0),
            ),
          },
        })),
      },
      back: { nodes: named(ofManager, () => ({ cloudManager: name('manager') })) },
    });
  });

  test('a relation follows its objects: a Pod that is deleted, and a Deployment that is scaled', async () => {
    const document = `{ answer: deployments(filter: { metadata: { namespace: { eq: "${space}" }, name: { eq: "web" } } }) {
      nodes { pods { nodes { metadata { name } } } } } }`;
    const before = selected({ app: 'web' }, await list('pods'));
    await plane.kubectl(['delete', 'pod', '--namespace', space, '--now', must(before[0], 'a Pod').metadata.name]);
    await plane.kubectl(['scale', 'deployment/web', '--namespace', space, '--replicas=5']);
    await eventually(async () => {
      const now = selected({ app: 'web' }, await list('pods'));
      expect(now).toHaveLength(5);
      expect(now.map(({ metadata }) => metadata.name)).not.toContain(before[0]?.metadata.name);
      expect(await answer(document)).toEqual([{ pods: { nodes: named(now) } }]);
    }, 60_000);
  });

  async function answer(document: string): Promise<unknown> {
    return (await data<{ answer: { nodes: unknown } }>(gateway.url, document)).answer.nodes;
  }
});

const foos = 'foos.samplecontroller.k8s.io';
const cloudManagers = 'cloudmanagers.cloud.portolan.example';
const nodes = ['node-a', 'node-b', 'node-c'];

const foo = {
  apiVersion: 'samplecontroller.k8s.io/v1alpha1',
  kind: 'Foo',
  metadata: { name: 'foo', namespace: space },
  spec: { deploymentName: 'of-foo', replicas: 2 },
};
const cloudManager = {
  apiVersion: 'cloud.portolan.example/v1',
  kind: 'CloudManager',
  metadata: { name: 'manager', namespace: space },
  spec: {
    front: { deployment: { name: 'manager-front', image: 'front' } },
    identity: { deployment: { name: 'manager-identity', image: 'identity' } },
    db: { statefulSet: { name: 'manager-db', image: 'db', storage: { size: '1Gi' } } },
  },
};

/** web 3, of-foo 2, manager-front 1, manager-identity 2, manager-db 2. */
const podsInAll = 10;

function workloads(owner: Readonly<Record<string, object | undefined>>): readonly object[] {
  const ownedBy = (kind: string, object: object): object => {
    const { metadata, ...rest } = object as { readonly metadata: object };
    return { ...rest, metadata: { ...metadata, ownerReferences: [must(owner[kind], `there is a ${kind}`)] } };
  };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'manager-keys', namespace: space },
    data: { key: 'c2VjcmV0' },
  };
  const mounting = (object: object): object => {
    const copy = structuredClone(object) as { spec: { template: { spec: Record<string, unknown> } } };
    copy.spec.template.spec['volumes'] = [{ name: 'keys', secret: { secretName: 'manager-keys' } }];
    return copy;
  };
  const labels = { app: 'manager-db' };
  const statefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'manager-db', namespace: space },
    spec: {
      replicas: 2,
      serviceName: 'manager-db',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'db', image: 'db', envFrom: [{ secretRef: { name: 'manager-keys' } }] }] },
      },
    },
  };
  return [
    manifests.deployment(space, 3),
    manifests.service(space, 'web'),
    manifests.service(space, 'manager-db'),
    ownedBy('Foo', manifests.deployment(space, 2, 'of-foo')),
    ownedBy('CloudManager', mounting(manifests.deployment(space, 1, 'manager-front'))),
    ownedBy('CloudManager', manifests.deployment(space, 2, 'manager-identity')),
    ownedBy('CloudManager', statefulSet),
    ownedBy('CloudManager', secret),
  ];
}

function ownerReference({ kind, metadata: { name: own, uid } }: KubeObject): object {
  const { apiVersion } = kind === 'Foo' ? foo : cloudManager;
  return { apiVersion, kind, name: own, uid, controller: true };
}

const name = (of: string): object => ({ metadata: { name: of } });

/** `{ metadata: { name } }` and more of each object, sorted by name. */
function named(
  objects: readonly KubeObject[] = [],
  more: (object: KubeObject) => object = () => ({}),
): readonly object[] {
  return objects
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((object) => ({ ...name(object.metadata.name), ...more(object) }));
}

function owned({ metadata: { uid } }: KubeObject, objects: readonly KubeObject[] = []): readonly KubeObject[] {
  return objects.filter(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid));
}

function selected(labels: Labels, objects: readonly KubeObject[] = []): readonly KubeObject[] {
  return objects.filter(({ metadata }) =>
    Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value),
  );
}

function uses({ spec }: KubeObject, { metadata }: KubeObject): boolean {
  const mounted = (spec?.volumes ?? []).some(({ secret }) => secret?.secretName === metadata.name);
  const read = (spec?.containers ?? []).some(({ envFrom = [] }) =>
    envFrom.some(({ secretRef }) => secretRef?.name === metadata.name),
  );
  return mounted || read;
}
