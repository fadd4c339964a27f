/**
 * A metrics API as metrics-server serves it: metrics.k8s.io/v1beta1 with get and list only. Its objects have neither a uid nor a
 * resourceVersion. An API server reaches it through an APIService and a Service of the type ExternalName.
 */
import { type Answer, type LoopbackServer, sendJson, sendStatus, startLoopbackServer } from './loopback-server.ts';

const groupVersion = 'metrics.k8s.io/v1beta1';

export interface Usage {
  readonly cpu: string;
  readonly memory: string;
}

export interface Metrics {
  readonly nodes: Readonly<Record<string, Usage>>;
  /** By `namespace/name` of the Pod, and then by container. */
  readonly pods: Readonly<Record<string, Readonly<Record<string, Usage>>>>;
}

const resources = [
  { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
  { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
];

/** Starts the server with TLS. @param tls a key and a certificate. */
export async function startMetricsServer(
  metrics: Metrics,
  tls: { readonly key: string; readonly cert: string },
): Promise<LoopbackServer> {
  const timestamp = '2026-01-31T12:00:00Z';
  const base = { apiVersion: groupVersion, timestamp, window: '15s' };
  const metadata = (name: string, namespace?: string) => ({
    name,
    creationTimestamp: timestamp,
    ...(namespace === undefined ? {} : { namespace }),
  });
  const nodes = Object.entries(metrics.nodes).map(([name, usage]) => ({
    kind: 'NodeMetrics',
    ...base,
    metadata: metadata(name),
    usage,
  }));
  const pods = Object.entries(metrics.pods).map(([key, containers]) => {
    const [namespace = '', name = ''] = key.split('/');
    const used = Object.entries(containers).map(([container, usage]) => ({ name: container, usage }));
    return { kind: 'PodMetrics', ...base, metadata: metadata(name, namespace), containers: used };
  });
  const answers: Readonly<Record<string, unknown>> = {
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] },
    '/apis/metrics.k8s.io': { kind: 'APIGroup', apiVersion: 'v1', ...group },
    [`/apis/${groupVersion}`]: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources },
    [`/apis/${groupVersion}/nodes`]: listOf('NodeMetricsList', nodes),
    [`/apis/${groupVersion}/pods`]: listOf('PodMetricsList', pods),
    '/openapi/v3': {
      paths: { [`apis/${groupVersion}`]: { serverRelativeURL: `/openapi/v3/apis/${groupVersion}?hash=1` } },
    },
    [`/openapi/v3/apis/${groupVersion}`]: openApi,
  };
  const answer: Answer = (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'https://localhost');
    const found = answers[pathname];
    if (found === undefined) sendStatus(response, 404, 'NotFound', `${pathname} is not served`);
    else sendJson(response, 200, found);
  };
  return startLoopbackServer(answer, tls);
}

/** The objects that make an API server serve the metrics of a server on this port. */
export function metricsManifests(port: number): readonly { readonly path: string; readonly body: object }[] {
  const [namespace, name] = ['kube-system', 'metrics-server'];
  return [
    {
      path: `/api/v1/namespaces/${namespace}/services`,
      body: { metadata: { name }, spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] } },
    },
    {
      path: '/apis/apiregistration.k8s.io/v1/apiservices',
      body: {
        metadata: { name: 'v1beta1.metrics.k8s.io' },
        spec: {
          group: 'metrics.k8s.io',
          version: 'v1beta1',
          service: { namespace, name, port },
          insecureSkipTLSVerify: true,
          groupPriorityMinimum: 100,
          versionPriority: 100,
        },
      },
    },
  ];
}

const version = { groupVersion, version: 'v1beta1' };
const group = { name: 'metrics.k8s.io', versions: [version], preferredVersion: version };

function listOf(kind: string, items: readonly object[]): object {
  return { kind, apiVersion: groupVersion, metadata: {}, items };
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const types = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const usage = { type: 'object', additionalProperties: ref(quantity) };
const measured = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: ref(`${meta}.ObjectMeta`),
  timestamp: ref(`${meta}.Time`),
  window: ref(`${meta}.Duration`),
};
const kindOf = (kind: string) => ({
  'x-kubernetes-group-version-kind': [{ group: 'metrics.k8s.io', version: 'v1beta1', kind }],
});

const openApi = {
  openapi: '3.0.0',
  info: { title: 'metrics', version: '1' },
  paths: {},
  components: {
    schemas: {
      [quantity]: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      [`${meta}.Duration`]: { type: 'string' },
      [`${meta}.ObjectMeta`]: {
        type: 'object',
        properties: { name: { type: 'string' }, namespace: { type: 'string' } },
      },
      [`${meta}.Time`]: { type: 'string', format: 'date-time' },
      [`${types}.ContainerMetrics`]: { type: 'object', properties: { name: { type: 'string' }, usage } },
      [`${types}.NodeMetrics`]: { type: 'object', properties: { ...measured, usage }, ...kindOf('NodeMetrics') },
      [`${types}.PodMetrics`]: {
        type: 'object',
        properties: { ...measured, containers: { type: 'array', items: ref(`${types}.ContainerMetrics`) } },
        ...kindOf('PodMetrics'),
      },
    },
  },
};
