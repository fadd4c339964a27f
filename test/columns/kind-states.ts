/** Objects of the built-in kinds that a server without controllers keeps as they are written, each kind in several states. */
import { between, deleted, type Json, type KindState, sinceMinor, states } from './kind-state.ts';

const labels = { app: 'web' };
const containers = [
  { name: 'a', image: 'example.com/a:1' },
  { name: 'b', image: 'example.com/b:2' },
];
const template = { metadata: { labels }, spec: { containers } };
const selector = { matchLabels: labels };
const richSelector = {
  matchLabels: { ...labels, 'a.example.com/b': 'c' },
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['front', 'back'] },
    { key: 'env', operator: 'NotIn', values: ['dev'] },
    { key: 'app', operator: 'Exists' },
    { key: 'old', operator: 'DoesNotExist' },
  ],
};
const richTemplate = { metadata: { labels: { ...richSelector.matchLabels, tier: 'front' } }, spec: { containers } };
const time = '2026-01-02T03:04:05Z';
const later = '2026-01-02T04:09:10Z';
const unset = { metadata: {} };

const workloads = [
  ...states('apps', 'Deployment', {
    none: { spec: { replicas: 3, selector, template } },
    zero: { spec: { replicas: 0, selector, template } },
    some: {
      spec: { replicas: 3, selector: richSelector, template: richTemplate },
      status: { replicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 2 },
    },
  }),
  ...states('apps', 'ReplicaSet', {
    none: { spec: { replicas: 2, selector, template } },
    some: {
      spec: { selector: richSelector, template: richTemplate },
      status: { replicas: 1, readyReplicas: 1, fullyLabeledReplicas: 1 },
    },
  }),
  ...states('apps', 'StatefulSet', {
    none: { spec: { serviceName: 'x', replicas: 2, selector, template } },
    some: { spec: { serviceName: 'x', selector, template }, status: { replicas: 1, readyReplicas: 1 } },
  }),
  ...states('apps', 'DaemonSet', {
    none: { spec: { selector, template } },
    some: {
      spec: {
        selector,
        template: { ...template, spec: { containers, nodeSelector: { 'kubernetes.io/os': 'linux', disk: 'ssd' } } },
      },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberMisscheduled: 0,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
  }),
  ...states('apps', 'ControllerRevision', {
    alone: { revision: 7, data: {} },
    owned: {
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'other', uid: 'u0' },
          { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'some', uid: 'u1', controller: true },
        ],
      },
      revision: 3,
      data: {},
    },
    'owned-by-core': {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u2', controller: true }] },
      revision: 9,
      data: {},
    },
  }),
  ...states('', 'ReplicationController', {
    none: { spec: { replicas: 2, selector: { ...labels, tier: 'a' }, template: podOf({ ...labels, tier: 'a' }) } },
    some: { spec: { selector: labels, template }, status: { replicas: 1, readyReplicas: 1 } },
  }),
  ...states('', 'PodTemplate', {
    plain: { template: { spec: { containers } } },
    labeled: { template },
  }),
];

function podOf(own: Json): Json {
  return { metadata: { labels: own }, spec: { containers } };
}

const jobTemplate = { spec: { containers, restartPolicy: 'Never' } };
const jobs = [
  ...states('batch', 'Job', {
    running: { spec: { template: jobTemplate }, status: { active: 1 } },
    parallel: { spec: { parallelism: 3, template: jobTemplate }, status: { succeeded: 1 } },
    many: { spec: { completions: 5, parallelism: 2, template: jobTemplate }, status: { succeeded: 2, active: 2 } },
    zero: { spec: { completions: 1, parallelism: 0, template: jobTemplate } },
    started: { spec: { template: jobTemplate }, status: { active: 1, startTime: time } },
    complete: {
      spec: { template: jobTemplate },
      status: {
        succeeded: 1,
        startTime: time,
        completionTime: later,
        conditions: [
          { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: time },
          { type: 'Complete', status: 'True', lastTransitionTime: time },
        ],
      },
    },
    failed: {
      spec: { template: jobTemplate },
      status: {
        failed: 1,
        startTime: time,
        conditions: [
          { type: 'FailureTarget', status: 'True', lastTransitionTime: time },
          { type: 'Failed', status: 'True', lastTransitionTime: time },
        ],
      },
    },
    failing: {
      spec: { template: jobTemplate },
      status: { startTime: time, conditions: [{ type: 'FailureTarget', status: 'True', lastTransitionTime: time }] },
    },
    suspended: {
      spec: { suspend: true, template: jobTemplate },
      status: { conditions: [{ type: 'Suspended', status: 'True', lastTransitionTime: time }] },
    },
  }),
  ...deleted(states('batch', 'Job', { terminating: { spec: { template: jobTemplate }, status: { active: 1 } } })),
  ...states('batch', 'CronJob', {
    never: { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
    suspended: { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template: jobTemplate } } } },
    active: {
      spec: { schedule: '@daily', jobTemplate: { spec: { template: jobTemplate } } },
      status: {
        lastScheduleTime: time,
        active: [
          { kind: 'Job', name: 'one' },
          { kind: 'Job', name: 'two' },
        ],
      },
    },
  }),
  ...sinceMinor(
    27,
    states('batch', 'CronJob', {
      zoned: {
        spec: { schedule: '@daily', timeZone: 'Europe/Berlin', jobTemplate: { spec: { template: jobTemplate } } },
      },
    }),
  ),
];

const scaled = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
const quantity = (averageValue: string) => ({ type: 'AverageValue', averageValue });
const metrics: Readonly<Record<string, Json & { readonly type: string }>> = {
  cpu: { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
  memory: { type: 'Resource', resource: { name: 'memory', target: quantity('500Mi') } },
  container: {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'a', target: { type: 'Utilization', averageUtilization: 60 } },
  },
  containerValue: {
    type: 'ContainerResource',
    containerResource: { name: 'memory', container: 'a', target: quantity('1Gi') },
  },
  pods: { type: 'Pods', pods: { metric: { name: 'rate' }, target: quantity('1500m') } },
  object: {
    type: 'Object',
    object: { describedObject: scaled, metric: { name: 'rate' }, target: { type: 'Value', value: '10k' } },
  },
  objectAverage: {
    type: 'Object',
    object: { describedObject: scaled, metric: { name: 'rate' }, target: quantity('7') },
  },
  external: { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '30' } } },
  externalAverage: { type: 'External', external: { metric: { name: 'queue' }, target: quantity('30') } },
};

/** Each metric without a status, and with one. */
const scalers = Object.entries(metrics).flatMap(([name, metric]) => {
  const member = metric.type.charAt(0).toLowerCase() + metric.type.slice(1);
  const status = {
    type: metric.type,
    [member]: {
      ...(metric[member] as Json),
      target: undefined,
      current: { averageUtilization: 55, averageValue: '250m', value: '3' },
    },
  };
  const spec = { scaleTargetRef: scaled, maxReplicas: 4, metrics: [metric] };
  const title = name.toLowerCase();
  return states('autoscaling', 'HorizontalPodAutoscaler', {
    [`${title}-unknown`]: { spec },
    [`${title}-known`]: { spec, status: { currentReplicas: 2, desiredReplicas: 3, currentMetrics: [status] } },
  });
});

const policies = [
  ...sinceMinor(30, [
    ...scalers,
    ...states('autoscaling', 'HorizontalPodAutoscaler', {
      two: { spec: { scaleTargetRef: scaled, maxReplicas: 4, metrics: [metrics.cpu, metrics.pods] } },
      five: { spec: { scaleTargetRef: scaled, minReplicas: 2, maxReplicas: 4, metrics: Object.values(metrics) } },
    }),
  ]),
  ...states('policy', 'PodDisruptionBudget', {
    minimum: { spec: { minAvailable: 2, selector } },
    percent: { spec: { minAvailable: '50%', selector }, status: statusOfBudget(3) },
    maximum: { spec: { maxUnavailable: 0, selector }, status: statusOfBudget(0) },
    'maximum-percent': { spec: { maxUnavailable: '25%', selector } },
  }),
  ...states('', 'LimitRange', {
    one: { spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '100Gi' } }] } },
  }),
  ...states('scheduling.k8s.io', 'PriorityClass', {
    low: { value: -10 },
    high: { value: 1_000_000, preemptionPolicy: 'Never' },
    normal: { value: 5, globalDefault: true },
  }),
];

function statusOfBudget(disruptionsAllowed: number): Json {
  return { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
}

const ports = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'dns', port: 53, protocol: 'UDP' },
];
const ingressRule = (host?: string): Json => ({
  ...(host === undefined ? {} : { host }),
  http: {
    paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
  },
});

const network = [
  ...states('', 'Service', {
    plain: { spec: { selector: { tier: 'front', ...labels }, ports } },
    alone: { spec: { ports: [{ port: 443 }] } },
    headless: { spec: { clusterIP: 'None' } },
    external: { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
    'external-ips': { spec: { ports, externalIPs: ['198.51.100.1', '198.51.100.2'] } },
    nodeport: { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] } },
    pending: { spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_081 }] } },
    balanced: {
      spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_082 }] },
      status: {
        loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { hostname: 'a.example.com' }, { ip: '203.0.113.1' }] },
      },
    },
    'balanced-too': {
      spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_083 }], externalIPs: ['198.51.100.1'] },
      status: { loadBalancer: { ingress: [{ hostname: `${'long-name.'.repeat(4)}example.com` }] } },
    },
  }),
  ...states('', 'Endpoints', {
    none: unset,
    plain: { subsets: [{ addresses: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }] }] },
    ported: { subsets: [{ addresses: [{ ip: '10.1.0.1' }], ports }] },
    many: {
      subsets: [
        { addresses: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }], ports },
        { addresses: [{ ip: '10.1.0.3' }], ports: [{ port: 90 }] },
      ],
    },
    'not-ready': { subsets: [{ notReadyAddresses: [{ ip: '10.1.0.1' }], ports }] },
    six: { subsets: [{ addresses: [{ ip: 'fd00::1' }], ports: [{ port: 80 }] }] },
  }),
  ...states('discovery.k8s.io', 'EndpointSlice', {
    none: { addressType: 'IPv4', endpoints: [] },
    some: {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1', '10.1.0.2'] }],
      ports: [{ port: 80, name: 'http' }],
    },
    many: {
      addressType: 'IPv4',
      endpoints: [1, 2, 3, 4, 5].map((each) => ({ addresses: [`10.1.0.${each}`] })),
      ports: [81, 82, 83, 84].map((port) => ({ name: `p${port}`, port })),
    },
    unnumbered: { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }], ports: [{ name: 'x' }] },
    names: { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }] },
  }),
  ...states('networking.k8s.io', 'Ingress', {
    default: { spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } },
    host: { spec: { ingressClassName: 'nginx', rules: [ingressRule('a.example.com')] } },
    hosts: { spec: { rules: ['a', 'b', 'c', 'd', 'e'].map((each) => ingressRule(`${each}.example.com`)) } },
    three: { spec: { rules: ['a', 'b', 'c'].map((each) => ingressRule(`${each}.example.com`)) } },
    anonymous: { spec: { rules: [ingressRule(), ingressRule('a.example.com')] } },
    tls: {
      spec: { tls: [{ hosts: ['a.example.com'], secretName: 'x' }], rules: [ingressRule('a.example.com')] },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { hostname: `${'long.'.repeat(5)}example.com` }] } },
    },
  }),
  ...states('networking.k8s.io', 'IngressClass', {
    plain: { spec: { controller: 'example.com/a' } },
    params: {
      spec: { controller: 'example.com/a', parameters: { apiGroup: 'k.example.com', kind: 'Params', name: 'p' } },
    },
    core: { spec: { controller: 'example.com/a', parameters: { kind: 'ConfigMap', name: 'p' } } },
  }),
  ...sinceMinor(
    29,
    states('networking.k8s.io', 'IngressClass', {
      default: {
        metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
        spec: { controller: 'example.com/a' },
      },
    }),
  ),
  ...states('networking.k8s.io', 'NetworkPolicy', {
    all: { spec: { podSelector: {} } },
    some: { spec: { podSelector: richSelector } },
  }),
  ...sinceMinor(
    33,
    states('networking.k8s.io', 'IPAddress', {
      '192.0.2.7': { spec: { parentRef: { resource: 'services', namespace: 'shop', name: 'web' } } },
      '192.0.2.8': { spec: { parentRef: { group: 'gateway.example.com', resource: 'gateways', name: 'g' } } },
    }),
  ),
  ...sinceMinor(33, states('networking.k8s.io', 'ServiceCIDR', { one: { spec: { cidrs: ['10.9.0.0/24'] } } })),
];

const source = { hostPath: { path: '/tmp/x' } };
const capacity = { storage: '10Gi' };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

const storage = [
  ...states('', 'PersistentVolume', {
    plain: { spec: { ...source, capacity, accessModes: ['ReadWriteOnce'] } },
    bound: {
      spec: {
        ...source,
        capacity: { storage: '1500M' },
        accessModes: ['ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'gold',
        claimRef: { namespace: 'shop', name: 'data' },
        volumeMode: 'Block',
      },
      status: { phase: 'Bound' },
    },
    failed: {
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
      spec: { ...source, capacity, accessModes: ['ReadOnlyMany'], storageClassName: 'new' },
      status: { phase: 'Failed', reason: 'NotFound' },
    },
  }),
  ...deleted(
    states('', 'PersistentVolume', { going: { spec: { ...source, capacity, accessModes: ['ReadWriteOnce'] } } }),
  ),
  ...states('', 'PersistentVolumeClaim', {
    pending: { spec: { ...claim, storageClassName: 'gold' } },
    bound: {
      spec: { ...claim, volumeName: 'bound', volumeMode: 'Block' },
      status: { phase: 'Bound', capacity: { storage: '1536Mi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
    },
    unfilled: { spec: { ...claim, volumeName: 'bound' }, status: { phase: 'Lost' } },
    annotated: { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } }, spec: claim },
  }),
  ...deleted(states('', 'PersistentVolumeClaim', { going: { spec: claim } })),
  ...sinceMinor(
    34,
    states('', 'PersistentVolumeClaim', { fast: { spec: { ...claim, volumeAttributesClassName: 'fast' } } }),
  ),
  ...sinceMinor(
    34,
    states('storage.k8s.io', 'VolumeAttributesClass', { fast: { driverName: 'd', parameters: { a: 'b' } } }),
  ),
  ...states('storage.k8s.io', 'StorageClass', {
    plain: { provisioner: 'example.com/p' },
    rich: {
      provisioner: 'example.com/p',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
    default: {
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.com/p',
    },
  }),
  ...states('storage.k8s.io', 'VolumeAttachment', {
    new: { spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } } },
    attached: {
      spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
      status: { attached: true },
    },
  }),
  ...states('storage.k8s.io', 'CSIDriver', {
    plain: { spec: {} },
    rich: { spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral', 'Persistent'] } },
  }),
  ...sinceMinor(
    24,
    states('storage.k8s.io', 'CSIDriver', {
      asking: {
        spec: { storageCapacity: true, requiresRepublish: true, tokenRequests: [{ audience: 'a' }, { audience: 'b' }] },
      },
    }),
  ),
  ...states('storage.k8s.io', 'CSINode', {
    none: { spec: { drivers: [] } },
    two: {
      spec: {
        drivers: [
          { name: 'a', nodeID: 'x', topologyKeys: null },
          { name: 'b', nodeID: 'x', topologyKeys: null },
        ],
      },
    },
  }),
  ...sinceMinor(
    24,
    states('storage.k8s.io', 'CSIStorageCapacity', {
      known: { storageClassName: 'gold', capacity: '5Gi' },
      unknown: { storageClassName: 'gold' },
    }),
  ),
];

export const kindStates: readonly KindState[] = [
  ...workloads,
  ...jobs,
  ...policies,
  ...network,
  ...storage,
  ...between(
    0,
    29,
    states('autoscaling', 'HorizontalPodAutoscaler', { old: { spec: { scaleTargetRef: scaled, maxReplicas: 4 } } }),
  ),
];

/** Written after all others: quotas refuse Pods without limits. */
export const quotaStates: readonly KindState[] = [
  ...states('', 'ResourceQuota', {
    none: { spec: {} },
    some: {
      spec: { hard: { pods: '4', 'limits.cpu': '2' } },
      status: {
        hard: {
          pods: '4',
          'requests.cpu': '1500m',
          'limits.cpu': '2',
          'limits.memory': '1Gi',
          'count/jobs.batch': '3',
        },
        used: { pods: '1', 'requests.cpu': '250m', 'limits.cpu': '0', 'count/jobs.batch': '0' },
      },
    },
  }),
];
