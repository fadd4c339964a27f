/** Objects of the kinds of the cluster itself: nodes, configuration, events, roles, certificates, admission, APIs. */
import { type Json, type KindState, sinceMinor, states } from './kind-state.ts';

const time = '2026-01-02T03:04:05Z';
const micro = '2026-01-02T03:04:06.000007Z';

const nodeInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '6.1.0',
  osImage: 'Example Linux',
  containerRuntimeVersion: 'containerd://2.0.0',
  kubeletVersion: 'v1.37.0',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: '',
};

function condition(type: string, status: string, reason = 'Reason'): Json {
  return { type, status, reason, message: 'm', lastTransitionTime: time };
}

const cluster = [
  ...states('', 'Node', {
    bare: {},
    ready: {
      metadata: { labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'edge', other: 'x' } },
      status: {
        conditions: [condition('Ready', 'True')],
        addresses: [
          { type: 'Hostname', address: 'ready' },
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'InternalIP', address: '10.0.0.2' },
          { type: 'ExternalIP', address: '203.0.113.5' },
        ],
        nodeInfo,
      },
    },
    'not-ready': { status: { conditions: [condition('Ready', 'False')] } },
    silent: { status: { conditions: [condition('Ready', 'Unknown'), condition('DiskPressure', 'False')] } },
    cordoned: { spec: { unschedulable: true }, status: { conditions: [condition('Ready', 'True')] } },
    'cordoned-bare': {
      metadata: { labels: { 'node-role.kubernetes.io/worker': 'true' } },
      spec: { unschedulable: true },
    },
  }),
  ...sinceMinor(
    37,
    states('', 'Node', { arm: { status: { conditions: [], nodeInfo: { ...nodeInfo, architecture: 'arm64' } } } }),
  ),
  ...states('', 'Namespace', { quiet: {} }),
  ...states('', 'ConfigMap', {
    none: {},
    some: { data: { a: '1', b: '2' }, binaryData: { c: 'AAAA' } },
    binary: { binaryData: { c: 'AAAA' } },
  }),
  ...states('', 'Secret', {
    none: {},
    some: { stringData: { a: '1', b: '2' } },
    typed: { type: 'example.com/type', data: { a: 'c2VjcmV0' } },
  }),
  ...states('', 'ServiceAccount', { plain: {}, secrets: { secrets: [{ name: 'a' }, { name: 'b' }] } }),
  ...states('coordination.k8s.io', 'Lease', { free: { spec: {} }, held: { spec: { holderIdentity: 'node-1' } } }),
  ...states('node.k8s.io', 'RuntimeClass', { gvisor: { handler: 'runsc' } }),
  ...states('flowcontrol.apiserver.k8s.io', 'PriorityLevelConfiguration', {
    rejects: { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
    queues: {
      spec: {
        type: 'Limited',
        limited: { limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2, queueLengthLimit: 10 } } },
      },
    },
  }),
  ...states('flowcontrol.apiserver.k8s.io', 'FlowSchema', {
    plain: { spec: { priorityLevelConfiguration: { name: 'rejects' } } },
    rich: {
      spec: {
        priorityLevelConfiguration: { name: 'queues' },
        matchingPrecedence: 123,
        distinguisherMethod: { type: 'ByUser' },
      },
    },
  }),
];

const regarding = { kind: 'Pod', name: 'web-1', namespace: 'columns', apiVersion: 'v1' };
const events = [
  ...states('', 'Event', {
    old: {
      involvedObject: { ...regarding, fieldPath: 'spec.containers{a}' },
      reason: 'Pulled',
      message: '  with spaces\n',
      type: 'Normal',
      firstTimestamp: time,
      lastTimestamp: time,
      count: 7,
      source: { component: 'kubelet', host: 'node-1' },
    },
    bare: { involvedObject: { namespace: 'columns' } },
    named: {
      involvedObject: { ...regarding, kind: 'HorizontalPodAutoscaler' },
      source: { component: 'scaler' },
      count: 0,
    },
    new: {
      involvedObject: regarding,
      reason: 'FailedScheduling',
      message: 'no nodes',
      type: 'Warning',
      eventTime: micro,
      action: 'Binding',
      reportingComponent: 'default-scheduler',
      reportingInstance: 'scheduler-1',
    },
    series: {
      involvedObject: regarding,
      reason: 'FailedScheduling',
      message: 'again',
      type: 'Warning',
      eventTime: micro,
      action: 'Binding',
      reportingComponent: 'default-scheduler',
      reportingInstance: 'scheduler-1',
      series: { count: 12, lastObservedTime: micro },
    },
  }),
];

const rbac = 'rbac.authorization.k8s.io';
const subjects = [
  { kind: 'User', name: 'jane', apiGroup: rbac },
  { kind: 'User', name: 'joe', apiGroup: rbac },
  { kind: 'Group', name: 'devs', apiGroup: rbac },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'shop' },
  { kind: 'ServiceAccount', name: 'other', namespace: 'shop' },
];
const rights = [
  ...states(rbac, 'Role', { one: { rules: [] } }),
  ...states(rbac, 'ClusterRole', { 'columns-one': { rules: [] } }),
  ...states(rbac, 'RoleBinding', {
    none: { roleRef: { apiGroup: rbac, kind: 'Role', name: 'one' } },
    many: { roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' }, subjects },
  }),
  ...states(rbac, 'ClusterRoleBinding', {
    none: { roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' } },
    many: { roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' }, subjects },
  }),
];

const registration = 'admissionregistration.k8s.io';
const webhook = (name: string): Json => ({
  name: `${name}.example.com`,
  clientConfig: { url: 'https://127.0.0.1:9/never' },
  sideEffects: 'None',
  failurePolicy: 'Ignore',
  admissionReviewVersions: ['v1'],
  rules: [{ apiGroups: ['never.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] }],
});
const matchConstraints = {
  resourceRules: [
    { apiGroups: ['never.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] },
  ],
};
const binding = (paramRef?: Json): Json => ({
  spec: { policyName: 'p', validationActions: ['Audit'], ...(paramRef === undefined ? {} : { paramRef }) },
});
const mutation = {
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' },
};
const selector = {
  matchLabels: { b: '2', a: '1' },
  matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
};

const admission = [
  ...states(registration, 'ValidatingWebhookConfiguration', {
    none: { webhooks: [] },
    two: { webhooks: [webhook('a'), webhook('b')] },
  }),
  ...states(registration, 'MutatingWebhookConfiguration', { one: { webhooks: [webhook('a')] } }),
  ...sinceMinor(30, [
    ...states(registration, 'ValidatingAdmissionPolicy', {
      plain: { spec: { matchConstraints, validations: [{ expression: 'true' }] } },
      params: {
        spec: {
          matchConstraints,
          paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Rule' },
          validations: [{ expression: 'true' }, { expression: '1 < 2' }],
        },
      },
    }),
    ...states(registration, 'ValidatingAdmissionPolicyBinding', {
      plain: binding(),
      named: binding({ name: 'r', parameterNotFoundAction: 'Deny' }),
      placed: binding({ name: 'r', namespace: 'shop', parameterNotFoundAction: 'Deny' }),
      selected: binding({ selector, parameterNotFoundAction: 'Deny' }),
      anything: binding({ selector: {}, parameterNotFoundAction: 'Deny' }),
    }),
  ]),
  ...sinceMinor(36, [
    ...states(registration, 'MutatingAdmissionPolicy', {
      plain: { spec: { matchConstraints, reinvocationPolicy: 'Never', mutations: [mutation] } },
    }),
    ...states(registration, 'MutatingAdmissionPolicyBinding', {
      plain: { spec: { policyName: 'p' } },
      named: { spec: { policyName: 'p', paramRef: { name: 'r', parameterNotFoundAction: 'Deny' } } },
    }),
  ]),
];

const column = (name: string): Json => ({ name, type: 'string', jsonPath: '.spec.a' });
const version = (name: string, more: Json): Json => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  additionalPrinterColumns: [column('A')],
  ...more,
});
const definition = (plural: string, kind: string, versions: readonly Json[], more: Json = {}): KindState['body'] => ({
  spec: { group: 'columns.example.com', scope: 'Cluster', names: { plural, kind, ...more }, versions },
});

const apis = [
  ...states('apiextensions.k8s.io', 'CustomResourceDefinition', {
    'ones.columns.example.com': definition('ones', 'One', [version('v1', { storage: true })]),
    'twos.columns.example.com': definition(
      'twos',
      'Two',
      [version('v2', { storage: true }), version('v1beta1', {}), version('v1alpha1', { served: false })],
      { shortNames: ['tw', 'tww'] },
    ),
  }),
  ...states('apiregistration.k8s.io', 'APIService', {
    'v1.dead.example.com': {
      spec: {
        group: 'dead.example.com',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: 'columns', name: 'absent' },
      },
    },
  }),
];

const devices = 'resource.k8s.io';
const claim = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'one' } }] } };
const resources = sinceMinor(34, [
  ...states(devices, 'DeviceClass', { one: { spec: {} } }),
  ...states(devices, 'ResourceClaim', { pending: { spec: claim } }),
  ...states(devices, 'ResourceClaimTemplate', { one: { spec: { spec: claim } } }),
  ...states(devices, 'ResourceSlice', {
    one: {
      spec: {
        driver: 'd.example.com',
        nodeName: 'node-1',
        pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'd1' }],
      },
    },
    all: {
      spec: {
        driver: 'd.example.com',
        allNodes: true,
        pool: { name: 'pool-2', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'd1' }],
      },
    },
  }),
]);

export const clusterStates: readonly KindState[] = [
  ...cluster,
  ...events,
  ...rights,
  ...admission,
  ...apis,
  ...resources,
];
