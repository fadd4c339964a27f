/**
 * Random writes to a real cluster in which Pods run.
 *
 * Configuration and custom objects stay as they are written. Workloads make controllers, scheduler and kubelets write much more:
 *
 *   a Deployment is scaled or rolled out -> ReplicaSets -> Pods -> bound, running, ended -> EndpointSlices, Events
 */
import { must } from '../../src/base/must.ts';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import * as manifests from './manifests.ts';

const namespaces = ['soak-0', 'soak-1', 'soak-2', 'soak-3'];
const nodes = ['node-0', 'node-1', 'node-2'];
const deployments = ['web-0', 'web-1', 'web-2'];
/** Names in one namespace: few enough that writes meet the same object again. */
const namesPerKind = 60;
const mostReplicas = 6;

/** Below a bound, without it: whole numbers that the writes depend on. */
type Dice = (bound: number) => number;
type Write = (api: RestClient, namespace: string, dice: Dice) => Promise<unknown>;

/** Creates Nodes, namespaces, a CRD, and in each namespace Deployments with Services over their Pods. */
export async function prepareWrites(api: RestClient): Promise<void> {
  for (const name of nodes) await api.post('/api/v1/nodes', manifests.fakeNode(name));
  await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifests.widgetCrd());
  for (const namespace of namespaces) {
    await api.post('/api/v1/namespaces', manifests.namespace(namespace));
    for (const name of deployments) {
      await api.post(deploymentsPath(namespace), manifests.deployment(namespace, 2, name));
      await api.post(`/api/v1/namespaces/${namespace}/services`, manifests.service(namespace, name));
    }
  }
}

/** One write; rejects where the name is taken or missing, or the server is away. */
export async function randomWrite(api: RestClient, random: () => number): Promise<void> {
  const dice: Dice = (bound) => Math.floor(random() * bound);
  const write = must(writes[dice(writes.length)], 'one of the writes');
  await write(api, must(namespaces[dice(namespaces.length)], 'one of the namespaces'), dice);
}

function deploymentsPath(namespace: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments`;
}

/** Creates, labels or deletes one of the objects of a collection. */
function objects(
  collection: (namespace: string) => string,
  body: (namespace: string, dice: Dice) => Readonly<Record<string, unknown>>,
): Write {
  return async (api, namespace, dice) => {
    const path = collection(namespace);
    const name = `object-${dice(namesPerKind)}`;
    const what = dice(100);
    if (what < 45) {
      const given = body(namespace, dice);
      await api.post(path, { ...given, metadata: { ...(given['metadata'] as object | undefined), name, namespace } });
    } else if (what < 75) {
      await api.patch(`${path}/${name}`, 'merge', { metadata: { labels: { turn: `${dice(100)}` } } });
    } else await api.delete(`${path}/${name}`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
  };
}

const core =
  (plural: string) =>
  (namespace: string): string =>
    `/api/v1/namespaces/${namespace}/${plural}`;

const scale: Write = (api, namespace, dice) =>
  api.patch(`${deploymentsPath(namespace)}/${deployments[dice(deployments.length)]}`, 'merge', {
    spec: { replicas: dice(mostReplicas + 1) },
  });

const rollOut: Write = (api, namespace, dice) =>
  api.patch(`${deploymentsPath(namespace)}/${deployments[dice(deployments.length)]}`, 'merge', {
    spec: { template: { metadata: { annotations: { turn: `${dice(1_000_000)}` } } } },
  });

const writes: readonly Write[] = [
  objects(core('configmaps'), (_, dice) => ({ apiVersion: 'v1', kind: 'ConfigMap', data: { value: `${dice(1e9)}` } })),
  objects(core('secrets'), (_, dice) => ({ apiVersion: 'v1', kind: 'Secret', stringData: { value: `${dice(1e9)}` } })),
  objects(core('pods'), (namespace, dice) => manifests.pod(namespace, dice(namesPerKind))),
  objects(core('serviceaccounts'), () => ({ apiVersion: 'v1', kind: 'ServiceAccount' })),
  objects(
    (namespace) => `/apis/e2e.portolan.example/v1/namespaces/${namespace}/widgets`,
    (_, dice) => ({ apiVersion: 'e2e.portolan.example/v1', kind: 'Widget', spec: { size: dice(100) } }),
  ),
  objects(
    (namespace) => `/apis/batch/v1/namespaces/${namespace}/jobs`,
    (namespace) => manifests.job(namespace),
  ),
  scale,
  scale,
  rollOut,
];
