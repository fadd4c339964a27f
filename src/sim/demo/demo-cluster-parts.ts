/** The cluster-scoped part of the demo world: namespaces, nodes, leases, storage, roles. */

import type { World } from '../controllers/world.ts';
import type { JsonObject } from '../objects/json.ts';
import { microTimeText, timeText } from '../resources/object-metadata.ts';
import { teams } from '../sample/app-catalog.ts';

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
    create(namespace, { team, 'pod-security.kubernetes.io/enforce': world.pick(['baseline', 'restricted']) });
  }
  create('cloud', { team: 'platform' });
  create('samples', { team: 'platform' });
  create('templates', { team: 'platform' });
}

const zones = ['zone-a', 'zone-b', 'zone-c'];
const shapes = [
  { type: 'm5.xlarge', cpu: 4, memory: 16 },
  { type: 'm5.2xlarge', cpu: 8, memory: 32 },
  { type: 'r5.2xlarge', cpu: 8, memory: 64 },
  { type: 'c5.4xlarge', cpu: 16, memory: 32 },
];

function nodeOf(world: World, index: number): JsonObject {
  const controlPlane = index < 3;
  const name = controlPlane ? `control-plane-${index + 1}` : `worker-${String(index - 2).padStart(2, '0')}`;
  const zone = zones[index % zones.length];
  const shape = world.pick(shapes);
  const created = daysAgo(world, 200);
  const notReady = !controlPlane && world.chance(0.05);
  const cordoned = !controlPlane && world.chance(0.06);
  const id = `i-${index.toString(16).padStart(8, '0')}`;
  const capacity = (memory: number): JsonObject => ({
    cpu: String(shape.cpu),
    memory: `${Math.floor(memory * 1024 * 1024 * 0.98)}Ki`,
    pods: '110',
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
  ];
  return {
    metadata: {
      name,
      creationTimestamp: created,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': world.chance(0.2) ? 'arm64' : 'amd64',
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
      podCIDR: `10.244.${index}.0/24`,
      podCIDRs: [`10.244.${index}.0/24`],
      providerID: `example:///${zone}/${id}`,
      ...(taints.length > 0 ? { taints } : {}),
      ...(cordoned ? { unschedulable: true } : {}),
    },
    status: {
      capacity: capacity(shape.memory),
      allocatable: capacity(shape.memory * 0.95),
      conditions: [
        pressure('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        pressure('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        pressure('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        notReady
          ? { ...condition('Ready', true, 'KubeletNotReady', 'container runtime network not ready'), status: 'False' }
          : { ...condition('Ready', false, 'KubeletReady', 'kubelet is posting ready status'), status: 'True' },
      ],
      addresses: [
        { type: 'InternalIP', address: `10.0.0.${index + 4}` },
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
        architecture: 'amd64',
      },
      images: Array.from({ length: 8 }, (_, i) => ({
        names: [`registry.example/library/image-${i}:1.${world.between(0, 9)}`],
        sizeBytes: world.between(5, 900) * 1_000_003,
      })),
    },
  };
}

export function createNodes(world: World, count: number): void {
  for (let index = 0; index < count; index++) {
    const node = world.create('', 'nodes', nodeOf(world, index), 'kubelet');
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
