/** What must hold in every state in which the demo world comes to rest. Reads the objects as a client sees them. */
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../../sim/objects/json.ts';
import { labelSelectorOf } from '../../sim/resources/label-selector.ts';
import { quantityOf } from '../../sim/resources/quantity.ts';

export interface WorldObject {
  /** As `pods` or `deployments.apps`. */
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly object: JsonObject;
}

type Mention = readonly [storage: string, namespace: string, name: unknown];

const items = (value: unknown, ...path: string[]): JsonObject[] => asArray(at(value, ...path)).filter(isObject);
const labelsOf = (object: JsonObject): JsonObject => asObject(at(object, 'metadata', 'labels'));
const ready = (pod: JsonObject): boolean =>
  items(pod, 'status', 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True');
const ended = (pod: JsonObject): boolean => ['Succeeded', 'Failed'].includes(asString(at(pod, 'status', 'phase')));
const deleting = (object: JsonObject): boolean => at(object, 'metadata', 'deletionTimestamp') !== undefined;

/** The storages of kinds that are mentioned with a kind. */
const storages: Readonly<Record<string, string>> = {
  Pod: 'pods',
  Node: 'nodes',
  Service: 'services',
  ServiceAccount: 'serviceaccounts',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  Deployment: 'deployments.apps',
  ReplicaSet: 'replicasets.apps',
  StatefulSet: 'statefulsets.apps',
  DaemonSet: 'daemonsets.apps',
  Job: 'jobs.batch',
  CronJob: 'cronjobs.batch',
  Role: 'roles.rbac.authorization.k8s.io',
  ClusterRole: 'clusterroles.rbac.authorization.k8s.io',
  Foo: 'foos.samplecontroller.k8s.io',
  CloudManager: 'cloudmanagers.cloud.portolan.example',
  Redis: 'redises.cache.portolan.example',
  MySQL: 'mysqls.db.portolan.example',
  Project: 'projects.platform.portolan.example',
  Plugin: 'plugins.platform.portolan.example',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers.autoscaling',
  Ingress: 'ingresses.networking.k8s.io',
};
const clusterScoped = new Set(['nodes', storages['ClusterRole'], storages['Project']]);

/** Every mention in a pod spec, with the place names of the Kubernetes API. */
function mentionsOfPod(spec: JsonObject, namespace: string): Mention[] {
  const found: Mention[] = [
    ['nodes', '', spec['nodeName']],
    ['serviceaccounts', namespace, spec['serviceAccountName']],
    ['priorityclasses.scheduling.k8s.io', '', spec['priorityClassName']],
    ...items(spec, 'imagePullSecrets').map(({ name }): Mention => ['secrets', namespace, name]),
  ];
  for (const volume of items(spec, 'volumes')) {
    found.push(
      ['configmaps', namespace, at(volume, 'configMap', 'name')],
      ['secrets', namespace, at(volume, 'secret', 'secretName')],
      ['persistentvolumeclaims', namespace, at(volume, 'persistentVolumeClaim', 'claimName')],
    );
    for (const source of items(volume, 'projected', 'sources')) {
      found.push(['configmaps', namespace, at(source, 'configMap', 'name')]);
      found.push(['secrets', namespace, at(source, 'secret', 'name')]);
    }
  }
  for (const container of [...items(spec, 'initContainers'), ...items(spec, 'containers')]) {
    for (const source of items(container, 'envFrom')) {
      found.push(['configmaps', namespace, at(source, 'configMapRef', 'name')]);
      found.push(['secrets', namespace, at(source, 'secretRef', 'name')]);
    }
    for (const variable of items(container, 'env')) {
      found.push(['configmaps', namespace, at(variable, 'valueFrom', 'configMapKeyRef', 'name')]);
      found.push(['secrets', namespace, at(variable, 'valueFrom', 'secretKeyRef', 'name')]);
    }
  }
  return found;
}

const template = (object: JsonObject): JsonObject => asObject(at(object, 'spec', 'template', 'spec'));
const byKind = (kind: unknown, namespace: string, name: unknown): Mention => {
  const storage = storages[asString(kind)] ?? `storage of ${asString(kind)}`;
  return [storage, clusterScoped.has(storage) ? '' : namespace, name];
};
const backends = (ingress: JsonObject): JsonObject[] =>
  items(ingress, 'spec', 'rules')
    .flatMap((rule) => items(rule, 'http', 'paths'))
    .map((path) => asObject(path['backend']));

/** The workloads of a CloudManager. */
const partsOf = (manager: JsonObject, namespace: string): readonly Mention[] => [
  ['deployments.apps', namespace, at(manager, 'spec', 'front', 'deployment', 'name')],
  ['deployments.apps', namespace, at(manager, 'spec', 'identity', 'deployment', 'name')],
  ['statefulsets.apps', namespace, at(manager, 'spec', 'db', 'statefulSet', 'name')],
];

/** By storage: what an object mentions besides its owners. */
const mentions: Readonly<Record<string, (object: JsonObject, namespace: string) => Mention[]>> = {
  pods: (pod, namespace) => mentionsOfPod(asObject(pod['spec']), namespace),
  'deployments.apps': (object, namespace) => mentionsOfPod(template(object), namespace),
  'replicasets.apps': (object, namespace) => mentionsOfPod(template(object), namespace),
  'daemonsets.apps': (object, namespace) => mentionsOfPod(template(object), namespace),
  'jobs.batch': (object, namespace) => mentionsOfPod(template(object), namespace),
  'statefulsets.apps': (object, namespace) => [
    ...mentionsOfPod(template(object), namespace),
    ['services', namespace, at(object, 'spec', 'serviceName')],
  ],
  'cronjobs.batch': (object, namespace) => [
    ...mentionsOfPod(asObject(at(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec')), namespace),
    ...items(object, 'status', 'active').map(({ name }): Mention => ['jobs.batch', namespace, name]),
  ],
  serviceaccounts: (object, namespace) =>
    items(object, 'imagePullSecrets').map(({ name }): Mention => ['secrets', namespace, name]),
  'ingresses.networking.k8s.io': (object, namespace) => [
    ['ingressclasses.networking.k8s.io', '', at(object, 'spec', 'ingressClassName')],
    ...backends(object).map((backend): Mention => ['services', namespace, at(backend, 'service', 'name')]),
    ...items(object, 'spec', 'tls').map(({ secretName }): Mention => ['secrets', namespace, secretName]),
  ],
  'horizontalpodautoscalers.autoscaling': (object, namespace) => {
    const { kind, name } = asObject(at(object, 'spec', 'scaleTargetRef'));
    return [byKind(kind, namespace, name)];
  },
  persistentvolumeclaims: (object) => [
    ['storageclasses.storage.k8s.io', '', at(object, 'spec', 'storageClassName')],
    ['persistentvolumes', '', at(object, 'spec', 'volumeName')],
  ],
  persistentvolumes: (object) => {
    const { namespace, name } = asObject(at(object, 'spec', 'claimRef'));
    return [
      ['storageclasses.storage.k8s.io', '', at(object, 'spec', 'storageClassName')],
      ['persistentvolumeclaims', asString(namespace), name],
    ];
  },
  endpoints: (object, namespace) =>
    items(object, 'subsets')
      .flatMap((subset) => [...items(subset, 'addresses'), ...items(subset, 'notReadyAddresses')])
      .flatMap((address): Mention[] => [
        ['pods', namespace, at(address, 'targetRef', 'name')],
        ['nodes', '', address['nodeName']],
      ]),
  'endpointslices.discovery.k8s.io': (object, namespace) => [
    ['services', namespace, labelsOf(object)['kubernetes.io/service-name']],
    ...items(object, 'endpoints').flatMap((endpoint): Mention[] => [
      ['pods', namespace, at(endpoint, 'targetRef', 'name')],
      ['nodes', '', endpoint['nodeName']],
    ]),
  ],
  'rolebindings.rbac.authorization.k8s.io': (object, namespace) => {
    const { kind, name } = asObject(object['roleRef']);
    return [byKind(kind, namespace, name)];
  },
  'clusterrolebindings.rbac.authorization.k8s.io': (object) => {
    const { kind, name } = asObject(object['roleRef']);
    return [byKind(kind, '', name)];
  },
  'foos.samplecontroller.k8s.io': (object, namespace) => [
    ['deployments.apps', namespace, at(object, 'spec', 'deploymentName')],
  ],
  'cloudmanagers.cloud.portolan.example': (object, namespace) => [
    ...partsOf(object, namespace),
    ['secrets', namespace, `${asString(at(object, 'metadata', 'name'))}-credentials`],
    ['storageclasses.storage.k8s.io', '', at(object, 'spec', 'db', 'statefulSet', 'storage', 'class')],
  ],
  'redises.cache.portolan.example': (object, namespace) => [
    ['statefulsets.apps', namespace, at(object, 'metadata', 'name')],
    ['services', namespace, at(object, 'metadata', 'name')],
  ],
  'mysqls.db.portolan.example': (object, namespace) => [
    ['statefulsets.apps', namespace, at(object, 'metadata', 'name')],
    ['services', namespace, at(object, 'metadata', 'name')],
    ['storageclasses.storage.k8s.io', '', at(object, 'spec', 'storage', 'class')],
  ],
  'projects.platform.portolan.example': (object) =>
    asArray(at(object, 'spec', 'namespaces')).map((name): Mention => ['namespaces', '', name]),
  'plugins.platform.portolan.example': (object) => [
    ['projects.platform.portolan.example', '', at(object, 'spec', 'projectRef', 'name')],
    [
      'templates.platform.portolan.example',
      asString(at(object, 'spec', 'templateRef', 'namespace')),
      at(object, 'spec', 'templateRef', 'name'),
    ],
  ],
};

/** The broken invariants, as sentences. `dangling`: targets that may be missing, as `storage/namespace/name`. */
export function worldProblems(objects: readonly WorldObject[], dangling: readonly string[]): string[] {
  const problems: string[] = [];
  const byName = new Map(objects.map((item) => [`${item.storage}/${item.namespace}/${item.name}`, item]));
  const uids = new Map(objects.map((item) => [item.uid, item]));
  const all = (storage: string): WorldObject[] => objects.filter((item) => item.storage === storage);
  const check = (ok: boolean, item: WorldObject, problem: string): void => {
    if (!ok) problems.push(`${item.storage} ${item.namespace}/${item.name}: ${problem}`);
  };

  for (const item of objects) {
    for (const [storage, namespace, name] of mentions[item.storage]?.(item.object, item.namespace) ?? []) {
      if (typeof name !== 'string' || name === '') continue;
      const key = `${storage}/${namespace}/${name}`;
      if (!dangling.includes(key)) check(byName.has(key), item, `mentions ${key}, which does not exist`);
      else check(!byName.has(key), item, `${key} is declared as missing and exists`);
    }
    for (const { uid, kind, name } of items(item.object, 'metadata', 'ownerReferences')) {
      const owner = uids.get(asString(uid));
      check(owner?.name === name && owner?.storage === storages[asString(kind)], item, `has no owner ${kind} ${name}`);
    }
    check(item.namespace === '' || byName.has(`namespaces//${item.namespace}`), item, 'has no namespace');
  }
  for (const pod of all('pods')) {
    const [first] = items(pod.object, 'status', 'containerStatuses');
    const waiting = at(first, 'state', 'waiting', 'reason');
    if (waiting !== 'ContainerCreating' && waiting !== 'CreateContainerConfigError') continue;
    const found = mentionsOfPod(asObject(pod.object['spec']), pod.namespace);
    const lacks = found.some((mention) => dangling.includes(mention.map(String).join('/')));
    check(lacks, pod, `is in ${waiting} and lacks nothing`);
  }
  checkNodes(all, check);
  checkServices(all, check);
  checkClaims(all, uids, check);
  checkQuotas(all, check);
  checkBudgets(all, check);
  checkWorkloads(all, check);
  checkInstances(all, byName, check);
  return problems;
}

type All = (storage: string) => WorldObject[];
type Check = (ok: boolean, item: WorldObject, problem: string) => void;

function requestOf(pod: JsonObject, resource: 'cpu' | 'memory', which: 'requests' | 'limits' = 'requests'): number {
  return items(pod, 'spec', 'containers').reduce(
    (sum, container) => sum + quantityOf(at(container, 'resources', which, resource) ?? '0'),
    0,
  );
}

function checkNodes(all: All, check: Check): void {
  const pods = all('pods').filter(({ object }) => !ended(object));
  const addresses = new Map<string, string>();
  for (const pod of pods) {
    const ip = asString(at(pod.object, 'status', 'podIP'));
    if (ip === '' || at(pod.object, 'spec', 'hostNetwork') === true) continue;
    check(!addresses.has(ip), pod, `has the address ${ip} of ${addresses.get(ip)}`);
    addresses.set(ip, pod.name);
  }
  for (const node of all('nodes')) {
    const here = pods.filter((pod) => at(pod.object, 'spec', 'nodeName') === node.name);
    const allocatable = asObject(at(node.object, 'status', 'allocatable'));
    for (const resource of ['cpu', 'memory'] as const) {
      const sum = here.reduce((total, pod) => total + requestOf(pod.object, resource), 0);
      check(
        sum <= quantityOf(allocatable[resource]),
        node,
        `${resource} of ${sum} is requested of ${allocatable[resource]}`,
      );
    }
    check(here.length <= Number(allocatable['pods']), node, `${here.length} pods of ${allocatable['pods']}`);
  }
  for (const pod of pods) {
    for (const container of items(pod.object, 'spec', 'containers')) {
      const { requests, limits } = asObject(container['resources']);
      const limit = at(limits, 'memory');
      if (limit === undefined) continue;
      check(quantityOf(at(requests, 'memory')) <= quantityOf(limit), pod, 'requests more memory than its limit');
    }
  }
}

function checkServices(all: All, check: Check): void {
  const addresses = new Set<string>();
  for (const service of all('services')) {
    const clusterIp = asString(at(service.object, 'spec', 'clusterIP'));
    check(clusterIp === 'None' || !addresses.has(clusterIp), service, `shares the address ${clusterIp}`);
    addresses.add(clusterIp);
    const matchLabels = at(service.object, 'spec', 'selector');
    if (matchLabels === undefined) continue;
    const selector = labelSelectorOf({ matchLabels });
    const own = all('pods').filter(
      ({ namespace, object }) =>
        namespace === service.namespace &&
        selector(labelsOf(object)) &&
        !ended(object) &&
        at(object, 'status', 'podIP'),
    );
    const names = (wanted: boolean): string =>
      JSON.stringify(
        own
          .filter(({ object }) => (ready(object) && !deleting(object)) === wanted)
          .map(({ name }) => name)
          .sort(),
      );
    const told = (list: readonly JsonObject[]): string =>
      JSON.stringify(list.map((item) => asString(at(item, 'targetRef', 'name'))).sort());
    const endpoints = all('endpoints').find(
      ({ namespace, name }) => namespace === service.namespace && name === service.name,
    );
    const subsets = items(endpoints?.object, 'subsets');
    check(
      told(subsets.flatMap((subset) => items(subset, 'addresses'))) === names(true),
      service,
      'Endpoints are not its ready Pods',
    );
    const slices = all('endpointslices.discovery.k8s.io').filter(
      ({ namespace, object }) =>
        namespace === service.namespace && labelsOf(object)['kubernetes.io/service-name'] === service.name,
    );
    check(slices.length > 0, service, 'has no EndpointSlice');
    const inSlices = (wanted: boolean): string =>
      told(
        slices
          .flatMap(({ object }) => items(object, 'endpoints'))
          .filter((endpoint) => at(endpoint, 'conditions', 'ready') === wanted),
      );
    check(inSlices(true) === names(true), service, 'EndpointSlices are not its ready Pods');
    check(inSlices(false) === names(false), service, 'EndpointSlices are not its Pods that are not ready');
  }
}

function checkClaims(all: All, uids: ReadonlyMap<string, WorldObject>, check: Check): void {
  for (const claim of all('persistentvolumeclaims')) {
    const bound = at(claim.object, 'status', 'phase') === 'Bound';
    const classless = asString(at(claim.object, 'spec', 'storageClassName')) === '';
    check(bound !== classless, claim, bound ? 'is bound without a class' : 'is not bound');
    if (!bound) continue;
    const volume = all('persistentvolumes').find(({ name }) => name === at(claim.object, 'spec', 'volumeName'));
    check(at(volume?.object, 'spec', 'claimRef', 'uid') === claim.uid, claim, 'its volume does not point at it');
  }
  for (const volume of all('persistentvolumes')) {
    const claim = uids.get(asString(at(volume.object, 'spec', 'claimRef', 'uid')));
    check(at(claim?.object, 'spec', 'volumeName') === volume.name, volume, 'its claim does not point at it');
  }
  for (const pod of all('pods')) {
    const [owner] = items(pod.object, 'metadata', 'ownerReferences');
    if (owner?.['kind'] !== 'StatefulSet') continue;
    const mounted = items(pod.object, 'spec', 'volumes').some(
      (volume) => volume['persistentVolumeClaim'] !== undefined,
    );
    check(mounted, pod, 'mounts no claim');
  }
}

function checkQuotas(all: All, check: Check): void {
  for (const quota of all('resourcequotas')) {
    const { hard, used } = asObject(quota.object['status']);
    check(
      JSON.stringify(hard) === JSON.stringify(at(quota.object, 'spec', 'hard')),
      quota,
      'its status has other bounds',
    );
    const pods = all('pods').filter(({ namespace, object }) => namespace === quota.namespace && !ended(object));
    const sum = (of: (pod: JsonObject) => number): number => pods.reduce((total, { object }) => total + of(object), 0);
    const claims = all('persistentvolumeclaims').filter(({ namespace }) => namespace === quota.namespace);
    const amounts: Readonly<Record<string, number>> = {
      pods: pods.length * 1000,
      'requests.cpu': sum((pod) => requestOf(pod, 'cpu')),
      'requests.memory': sum((pod) => requestOf(pod, 'memory')),
      'requests.storage': claims.reduce(
        (total, { object }) => total + quantityOf(at(object, 'spec', 'resources', 'requests', 'storage')),
        0,
      ),
    };
    for (const [resource, bound] of Object.entries(asObject(hard))) {
      const told = quantityOf(asObject(used)[resource]);
      check(told === amounts[resource], quota, `${resource}: ${told} is said to be used, not ${amounts[resource]}`);
      check(told <= quantityOf(bound), quota, `${resource}: ${told} is used of ${asString(bound)}`);
    }
  }
}

function checkBudgets(all: All, check: Check): void {
  for (const budget of all('poddisruptionbudgets.policy')) {
    const selector = labelSelectorOf(at(budget.object, 'spec', 'selector'));
    const healthy = all('pods').filter(
      ({ namespace, object }) =>
        namespace === budget.namespace &&
        selector(labelsOf(object)) &&
        !deleting(object) &&
        !ended(object) &&
        ready(object),
    );
    const { currentHealthy, desiredHealthy, disruptionsAllowed } = asObject(budget.object['status']);
    check(
      currentHealthy === healthy.length,
      budget,
      `${currentHealthy} of ${healthy.length} Pods are said to be healthy`,
    );
    const allowed = Math.max(0, Number(currentHealthy) - Number(desiredHealthy));
    check(disruptionsAllowed === allowed, budget, `${disruptionsAllowed} disruptions are allowed, not ${allowed}`);
  }
  for (const scaler of all('horizontalpodautoscalers.autoscaling')) {
    const { spec, status } = scaler.object;
    const target = all('deployments.apps').find(
      ({ namespace, name }) => namespace === scaler.namespace && name === at(spec, 'scaleTargetRef', 'name'),
    );
    const replicas = at(target?.object, 'spec', 'replicas');
    check(
      at(status, 'currentReplicas') === replicas,
      scaler,
      `tells ${at(status, 'currentReplicas')} of ${replicas} replicas`,
    );
    check(Number(replicas) <= Number(at(spec, 'maxReplicas')), scaler, 'its target is beyond the maximum');
    check(items(status, 'currentMetrics').length === 1, scaler, 'has no metric');
  }
}

/** Applications tell what their workloads tell. */
function checkInstances(all: All, byName: ReadonlyMap<string, WorldObject>, check: Check): void {
  const isReady = (mention: Mention): boolean => {
    const object = byName.get(mention.map(String).join('/'))?.object;
    return Number(at(object, 'status', 'readyReplicas') ?? 0) >= Number(at(object, 'spec', 'replicas'));
  };
  for (const manager of all('cloudmanagers.cloud.portolan.example')) {
    const parts = partsOf(manager.object, manager.namespace);
    const phase = at(manager.object, 'status', 'phase');
    check((phase === 'Running') === parts.every(isReady), manager, `is ${String(phase)}, unlike its parts`);
  }
  for (const cache of all('redises.cache.portolan.example')) {
    const phase = asString(at(cache.object, 'status', 'phase'));
    const wanted = Number(at(cache.object, 'spec', 'replicas'));
    check((phase === 'Stopped') === (wanted === 0), cache, `is ${phase} with ${wanted} servers`);
    const isRunning = isReady(['statefulsets.apps', cache.namespace, cache.name]);
    if (wanted > 0) check((phase === 'Running') === isRunning, cache, `is ${phase}, unlike its StatefulSet`);
  }
  for (const database of all('mysqls.db.portolan.example')) {
    const isRunning = isReady(['statefulsets.apps', database.namespace, database.name]);
    check(ready(database.object) === isRunning, database, 'has a condition unlike its StatefulSet');
  }
}

function checkWorkloads(all: All, check: Check): void {
  const owned = (owner: WorldObject, storage: string): WorldObject[] =>
    all(storage).filter(({ object }) =>
      items(object, 'metadata', 'ownerReferences').some(({ uid }) => uid === owner.uid),
    );
  for (const storage of ['replicasets.apps', 'statefulsets.apps'] as const) {
    for (const set of all(storage)) {
      const pods = owned(set, 'pods').filter(({ object }) => !ended(object) && !deleting(object));
      const good = pods.filter(({ object }) => ready(object)).length;
      check(
        Number(at(set.object, 'status', 'readyReplicas') ?? 0) === good,
        set,
        `has ${good} ready Pods and tells another number`,
      );
      check(
        Number(at(set.object, 'status', 'replicas') ?? 0) === pods.length,
        set,
        `has ${pods.length} Pods and tells ${String(at(set.object, 'status', 'replicas'))} of ${String(at(set.object, 'spec', 'replicas'))}`,
      );
    }
  }
  for (const deployment of all('deployments.apps')) {
    const sets = owned(deployment, 'replicasets.apps');
    const sum = sets.reduce((total, { object }) => total + Number(at(object, 'status', 'readyReplicas') ?? 0), 0);
    check(
      Number(at(deployment.object, 'status', 'readyReplicas') ?? 0) === sum,
      deployment,
      `has ${sum} ready Pods and tells another number`,
    );
    const limit = Number(at(deployment.object, 'spec', 'revisionHistoryLimit') ?? 10);
    const idle = sets.filter(({ object }) => at(object, 'spec', 'replicas') === 0).length;
    check(idle <= limit, deployment, `keeps ${idle} ReplicaSets without Pods`);
  }
  for (const cron of all('cronjobs.batch')) {
    check(owned(cron, 'jobs.batch').length <= 6, cron, 'has more Jobs than its history may have');
  }
}
