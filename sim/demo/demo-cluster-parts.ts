/** The cluster-scoped part of the demo world: namespaces, nodes, leases, storage, priorities, roles. */

import type { JsonObject } from '../objects/json.ts';
import { microTimeText, timeText } from '../resources/object-metadata.ts';
import { quantityText } from '../resources/quantity.ts';
import { teams } from '../sample/app-catalog.ts';
import type { World } from '../world/world.ts';

const day = 86_400_000;

/** A random time in the past, in RFC 3339. */
export function daysAgo(world: World, most: number): string {
  return timeText(world.clock.now() - Math.floor(world.random() * most * day) - 60_000);
}

export function createNamespaces(world: World): void {
  const create = (name: string, labels: JsonObject): void => {
    world.create(
      '',
      'namespaces',
      { metadata: { name, labels, creationTimestamp: daysAgo(world, 400) } },
      'kubectl-create',
    );
  };
  for (const { namespace, team } of teams) {
    const enforce = world.pick(['baseline', 'restricted']);
    const purpose = namespace === 'staging' || namespace === 'monitoring' ? namespace : 'production';
    create(namespace, { team, purpose, 'pod-security.kubernetes.io/enforce': enforce });
  }
  create('cloud', { team: 'platform', purpose: 'infrastructure' });
  create('ingress-nginx', { team: 'platform', purpose: 'infrastructure' });
  create('samples', { team: 'platform', purpose: 'examples' });
  create('sandbox', { team: 'platform', purpose: 'experiments' });
  create('templates', { team: 'platform', purpose: 'catalogue' });
}

const zones = ['zone-a', 'zone-b', 'zone-c'];
const shapes = [
  { type: 'm6i.4xlarge', cpu: 16, memory: 64, pods: 110 },
  { type: 'm6i.8xlarge', cpu: 32, memory: 128, pods: 200 },
  { type: 'r6i.4xlarge', cpu: 16, memory: 128, pods: 110 },
  { type: 'c6i.12xlarge', cpu: 48, memory: 96, pods: 250 },
];
const controlPlaneShape = { type: 'm6i.xlarge', cpu: 4, memory: 16, pods: 110 };

/** The Pods for which a demo world has a Node. */
export const podsPerNode = 90;

function nodeOf(world: World, index: number, controlPlanes: number): JsonObject {
  const controlPlane = index < controlPlanes;
  const number = String(index - controlPlanes + 1).padStart(2, '0');
  const name = controlPlane ? `control-plane-${index + 1}` : `worker-${number}`;
  const zone = zones[index % zones.length];
  const shape = controlPlane ? controlPlaneShape : world.pick(shapes);
  const architecture = !controlPlane && world.chance(0.2) ? 'arm64' : 'amd64';
  const podCIDR = `10.${128 + (index >> 7)}.${(index & 127) * 2}.0/23`;
  const created = daysAgo(world, 200);
  // One worker in 20 is not ready, and one in 20 is cordoned; never the first ones.
  const worker = index - controlPlanes;
  const notReady = worker % 20 === 11;
  const cordoned = worker % 20 === 6;
  const id = `i-${index.toString(16).padStart(8, '0')}`;
  const capacity = (cpu: number, memory: number): JsonObject => ({
    cpu: quantityText(cpu * 1000, 'decimal'),
    memory: `${Math.floor(memory * 1024 * 1024 * 0.98)}Ki`,
    pods: String(shape.pods),
    'ephemeral-storage': '104845292Ki',
    'hugepages-2Mi': '0',
  });
  const condition = (type: string, bad: boolean, reason: string, message: string): JsonObject => ({
    type,
    status: (type === 'Ready') === bad ? 'False' : 'True',
    lastHeartbeatTime: timeText(world.clock.now() - world.between(0, 290) * 1000),
    lastTransitionTime: created,
    reason,
    message,
  });
  const pressure = (type: string, reason: string, message: string): JsonObject => ({
    ...condition(type, true, reason, message),
    status: 'False',
  });
  const taints = [
    ...(controlPlane ? [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] : []),
    ...(cordoned
      ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: daysAgo(world, 3) }]
      : []),
    ...(notReady ? [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] : []),
  ];
  return {
    metadata: {
      name,
      creationTimestamp: created,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        'node.kubernetes.io/instance-type': shape.type,
        'topology.kubernetes.io/region': 'eu-north-1',
        'topology.kubernetes.io/zone': zone,
        ...(controlPlane
          ? { 'node-role.kubernetes.io/control-plane': '' }
          : { pool: world.pick(['general', 'memory', 'spot']) }),
      },
      annotations: { 'node.alpha.kubernetes.io/ttl': '0' },
    },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      providerID: `example:///${zone}/${id}`,
      ...(taints.length > 0 ? { taints } : {}),
      ...(cordoned ? { unschedulable: true } : {}),
    },
    status: {
      capacity: capacity(shape.cpu, shape.memory),
      allocatable: capacity(shape.cpu - 0.08, shape.memory * 0.95),
      conditions: [
        pressure('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        pressure('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        pressure('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        notReady
          ? { ...condition('Ready', true, 'KubeletNotReady', 'container runtime network not ready'), status: 'False' }
          : { ...condition('Ready', false, 'KubeletReady', 'kubelet is posting ready status'), status: 'True' },
      ],
      addresses: [
        { type: 'InternalIP', address: `10.0.${(index + 4) >> 8}.${(index + 4) & 255}` },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: id.repeat(3),
        systemUUID: id,
        bootID: id,
        kernelVersion: '6.8.0-45-generic',
        osImage: 'Ubuntu 24.04.1 LTS',
        containerRuntimeVersion: 'containerd://2.1.4',
        kubeletVersion: world.chance(0.2) ? 'v1.36.4' : 'v1.37.2',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture,
      },
      images: Array.from({ length: 8 }, (_, i) => ({
        names: [`registry.example/library/image-${i}:1.${world.between(0, 9)}`],
        sizeBytes: world.between(5, 900) * 1_000_003,
      })),
    },
  };
}

/** Creates the Nodes: three control planes of six or more, otherwise one of two or more. */
export function createNodes(world: World, count: number): void {
  const controlPlanes = count >= 6 ? 3 : count > 1 ? 1 : 0;
  for (let index = 0; index < count; index++) {
    const node = world.create('', 'nodes', nodeOf(world, index, controlPlanes), 'kubelet');
    world.create(
      'coordination.k8s.io',
      'leases',
      {
        metadata: {
          name: node.name,
          namespace: 'kube-node-lease',
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid }],
        },
        spec: { holderIdentity: node.name, leaseDurationSeconds: 40, renewTime: microTimeText(world.clock.now()) },
      },
      'kubelet',
    );
  }
}

export function createClusterPolicy(world: World): void {
  const storage = (name: string, isDefault: boolean, parameters: JsonObject): void => {
    world.create(
      'storage.k8s.io',
      'storageclasses',
      {
        metadata: {
          name,
          annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) },
          creationTimestamp: daysAgo(world, 400),
        },
        provisioner: 'csi.storage.example',
        parameters,
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'WaitForFirstConsumer',
        allowVolumeExpansion: true,
      },
      'kubectl-create',
    );
  };
  storage('standard', true, { type: 'hdd' });
  storage('fast', false, { type: 'ssd', iopsPerGB: '50' });
  const priority = (name: string, value: number, description: string): void => {
    world.create(
      'scheduling.k8s.io',
      'priorityclasses',
      { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority', description },
      'kubectl-create',
    );
  };
  priority('system-cluster-critical', 2_000_000_000, 'Used for system critical pods that must run in the cluster.');
  priority(
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their node.',
  );
  priority('business-critical', 100_000, 'For applications that customers notice.');
  world.create(
    'networking.k8s.io',
    'ingressclasses',
    { metadata: { name: 'nginx' }, spec: { controller: 'k8s.io/ingress-nginx' } },
    'helm',
  );
  const clusterRole = (name: string, verbs: string[]): void => {
    world.create(
      'rbac.authorization.k8s.io',
      'clusterroles',
      {
        metadata: { name, labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
        rules: [{ apiGroups: ['', 'apps', 'batch'], resources: ['*'], verbs }],
      },
      'kube-apiserver',
    );
  };
  clusterRole('view', ['get', 'list', 'watch']);
  clusterRole('edit', ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']);
  clusterRole('cluster-admin', ['*']);
  const subjects = [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'platform-admins' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  world.create(
    'rbac.authorization.k8s.io',
    'clusterrolebindings',
    { metadata: { name: 'platform-admins' }, subjects, roleRef },
    'kubectl-create',
  );
  for (const { namespace, team } of teams) {
    const group = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: team };
    const view = { ...roleRef, name: 'edit' };
    world.create(
      'rbac.authorization.k8s.io',
      'rolebindings',
      { metadata: { name: 'team', namespace }, subjects: [group], roleRef: view },
      'kubectl-create',
    );
    world.create(
      'networking.k8s.io',
      'networkpolicies',
      {
        metadata: { name: 'default-deny', namespace },
        spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }] }] },
      },
      'kubectl-create',
    );
  }
  for (const name of ['scheduler', 'controller-manager', 'etcd-0']) {
    const conditions = [{ type: 'Healthy', status: 'True', message: 'ok' }];
    world.create('', 'componentstatuses', { metadata: { name }, conditions }, 'kube-apiserver');
  }
}
