/** Pods for benchmarks: about 5 kB each, a third of it managedFields, as a Deployment's Pods are. */
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';

/** A Pod as the API server writes it. The same arguments give the same text. */
export function podText(index: number, phase: string, resourceVersion: number): string {
  return `{"kind":"Pod","apiVersion":"v1",${podItem(index, phase, resourceVersion).slice(1)}`;
}

/** `namespace/name`: what an API server orders its lists by. */
export function podName(index: number): string {
  return `team-${index % 50}/app-${index % 400}-${((index * 2654435761) % 4294967296).toString(36)}-${index}`;
}

/** A Pod as it stands in a list: without apiVersion and kind. */
export function podItem(index: number, phase: string, resourceVersion: number): string {
  const [namespace = '', name = ''] = podName(index).split('/');
  return (
    `{"metadata":{"name":"${name}","generateName":"app-${index % 400}-","namespace":"${namespace}",` +
    `"uid":"00000000-0000-4000-8000-${String(index).padStart(12, '0')}","resourceVersion":"${resourceVersion}",` +
    `"creationTimestamp":"2026-01-${String((index % 28) + 1).padStart(2, '0')}T12:${String(index % 60).padStart(2, '0')}:00Z",` +
    `"labels":{"app":"app-${index % 400}","pod-template-hash":"${(index % 997).toString(36)}","tier":"${index % 3 === 0 ? 'web' : 'worker'}"},` +
    `"annotations":{"example.io/revision":"${index % 9}","example.io/checksum":"${'c'.repeat(64)}"},` +
    `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"app-${index % 400}","uid":"rs-${index % 400}","controller":true,"blockOwnerDeletion":true}],` +
    `"managedFields":${managedFields}},` +
    `"spec":{"nodeName":"node-${index % 100}",${specRest}},` +
    `"status":{"phase":"${phase}","podIP":"10.${index % 250}.${(index >> 8) % 250}.7","startTime":"2026-01-31T12:00:00Z","containerStatuses":[${containerStatus('main', index % 41)},${containerStatus('sidecar', 0)}],${statusRest}}}`
  );
}

function containerStatus(name: string, restarts: number): string {
  return (
    `{"containerID":"containerd://${name.padEnd(64, '0')}","image":"registry.example.io/${name}:1.4.2",` +
    `"imageID":"registry.example.io/${name}@sha256:${'d'.repeat(64)}","lastState":{},"name":"${name}","ready":true,` +
    `"restartCount":${restarts},"started":true,"state":{"running":{"startedAt":"2026-01-31T12:00:00Z"}}}`
  );
}

const managedFields = JSON.stringify([
  {
    manager: 'kube-controller-manager',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-31T12:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(Array.from({ length: 36 }, (_, index) => [`f:field-number-${index}`, { '.': {} }])),
  },
]);
const container = (name: string): object => ({
  name,
  image: `registry.example.io/${name}:1.4.2`,
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-of-setting-${index}` })),
  resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '250m', memory: '256Mi' } },
  volumeMounts: [{ name: 'data', mountPath: '/var/lib/data' }],
  livenessProbe: { httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' }, timeoutSeconds: 1, periodSeconds: 10 },
  terminationMessagePath: '/dev/termination-log',
  imagePullPolicy: 'IfNotPresent',
});
const inside = (value: object): string => JSON.stringify(value).slice(1, -1);
const specRest = inside({
  containers: [container('main'), container('sidecar')],
  volumes: [{ name: 'data', emptyDir: {} }],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
});
const statusRest = inside({
  conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-01-31T12:00:00Z',
  })),
  qosClass: 'Burstable',
});

/** Pods with the columns that kubectl shows. */
export function podDescription(cluster: string): DescribedResource {
  return {
    cluster,
    resource: {
      group: '',
      version: 'v1',
      plural: 'pods',
      singular: 'pod',
      kind: 'Pod',
      namespaced: true,
      verbs: ['get', 'list', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
    },
    tree: { root: 'root', shapes: {} },
    shapeHash: 'bench',
    printerColumns: [],
    promoted: [
      { path: 'status.phase', type: 'String' },
      { path: 'spec.nodeName', type: 'String' },
      { path: 'status.podIP', type: 'String' },
      { path: 'status.startTime', type: 'DateTime' },
      { path: 'sum(status.containerStatuses[].restartCount)', type: 'Int64' },
    ],
    redacted: [],
    diagnostics: [],
  };
}
