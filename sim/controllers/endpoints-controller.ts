/** Keeps the Endpoints and EndpointSlices of each Service equal to the Pods that its selector matches. */
import { asArray, asObject, asString, at, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { labelSelectorOf } from '../resources/label-selector.ts';
import { metadataOf } from '../resources/served-resource.ts';
import type { Controller } from '../world/controller-loop.ts';
import { takesSpace } from '../world/pod-resources.ts';
import { keysSelecting, podsSelected, type SelectorOf } from '../world/selected.ts';
import { hasCondition, isDeleting, type World } from '../world/world.ts';

const slices = 'endpointslices.discovery.k8s.io';
const by = 'kube-controller-manager';
/** The most endpoints of one slice. */
const sliceSize = 100;

interface Backend {
  readonly pod: Stored;
  readonly ip: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly ports: readonly JsonObject[];
}

const selectorOf: SelectorOf = (service) => {
  const matchLabels = asObject(at(service, 'spec', 'selector'));
  return Object.keys(matchLabels).length === 0 ? undefined : labelSelectorOf({ matchLabels });
};

/** The port of a Service on a Pod: a name is looked up in the Pod's containers. Undefined when no container has it. */
function portOn(pod: JsonObject, port: JsonObject): JsonObject | undefined {
  const { targetPort, protocol = 'TCP', name } = port;
  let number = typeof targetPort === 'number' ? targetPort : undefined;
  if (typeof targetPort === 'string') {
    const found = asArray(at(pod, 'spec', 'containers'))
      .flatMap((container) => asArray(asObject(container).ports).filter(isObject))
      .find((item) => item.name === targetPort && (item.protocol ?? 'TCP') === protocol);
    number = typeof found?.containerPort === 'number' ? found.containerPort : undefined;
  }
  if (number === undefined) return undefined;
  return { ...(name === undefined ? {} : { name }), port: number, protocol };
}

function backendsOf(world: World, service: Stored): Backend[] {
  const selector = selectorOf(service.object);
  if (!selector) return [];
  const publish = at(service.object, 'spec', 'publishNotReadyAddresses') === true;
  const ports = asArray(at(service.object, 'spec', 'ports')).filter(isObject);
  return podsSelected(world, service.namespace, selector).flatMap((pod) => {
    const ip = asString(at(pod.object, 'status', 'podIP'));
    if (ip === '' || !takesSpace(pod.object)) return [];
    const found = ports.map((port) => portOn(pod.object, port)).filter((port) => port !== undefined);
    if (ports.length > 0 && found.length === 0) return [];
    const terminating = isDeleting(pod);
    const ready = publish || (!terminating && hasCondition(pod.object, 'Ready'));
    return [{ pod, ip, ready, terminating, ports: found }];
  });
}

/** Backends by their ports: Pods of different versions may have different numbers under the same name. */
function byPorts(backends: readonly Backend[]): Backend[][] {
  return [...Map.groupBy(backends, ({ ports }) => JSON.stringify(ports)).values()];
}

const targetRef = ({ kind, pod }: { kind: string; pod: Stored }): JsonObject => ({
  kind,
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
});
const nodeOf = (pod: Stored): JsonObject => {
  const nodeName = asString(at(pod.object, 'spec', 'nodeName'));
  return nodeName === '' ? {} : { nodeName };
};
const hostnameOf = (pod: Stored): JsonObject => {
  const { hostname, subdomain } = asObject(pod.object.spec);
  return asString(hostname) !== '' && asString(subdomain) !== '' ? { hostname } : {};
};

function subsetsOf(backends: readonly Backend[]): JsonObject[] {
  return byPorts(backends).map((group) => {
    const addresses = (ready: boolean): JsonObject[] =>
      group
        .filter((item) => item.ready === ready && !(item.terminating && !ready))
        .map(({ ip, pod }) => ({ ip, ...hostnameOf(pod), ...nodeOf(pod), targetRef: targetRef({ kind: 'Pod', pod }) }));
    const [good, bad] = [addresses(true), addresses(false)];
    return {
      ...(good.length > 0 ? { addresses: good } : {}),
      ...(bad.length > 0 ? { notReadyAddresses: bad } : {}),
      ports: group[0]?.ports,
    };
  });
}

function endpointOf(world: World, { pod, ip, ready, terminating }: Backend): JsonObject {
  const node = nodeOf(pod);
  const zone = at(world.get('nodes', '', asString(node.nodeName))?.object, 'metadata', 'labels', zoneLabel);
  return {
    addresses: [ip],
    conditions: { ready, serving: ready || (terminating && hasCondition(pod.object, 'Ready')), terminating },
    ...hostnameOf(pod),
    ...node,
    targetRef: targetRef({ kind: 'Pod', pod }),
    ...(typeof zone === 'string' ? { zone } : {}),
  };
}
const zoneLabel = 'topology.kubernetes.io/zone';

/** The wanted content of the slices: at least one, even without backends. */
function slicesOf(world: World, backends: readonly Backend[]): JsonObject[] {
  const wanted = byPorts(backends).flatMap((group) => {
    const parts: JsonObject[] = [];
    for (let i = 0; i < group.length; i += sliceSize) {
      const endpoints = group.slice(i, i + sliceSize).map((item) => endpointOf(world, item));
      parts.push({ endpoints, ports: group[0]?.ports });
    }
    return parts;
  });
  return wanted.length > 0 ? wanted : [{ endpoints: [] }];
}

export function endpointsController(world: World): Controller {
  return {
    name: 'endpoints',
    storage: 'services',
    watches: { pods: keysSelecting(world, 'services', selectorOf) },
    reconcile: (service) => {
      if (isDeleting(service) || !selectorOf(service.object)) return;
      const backends = backendsOf(world, service);
      syncEndpoints(world, service, backends);
      syncSlices(world, service, slicesOf(world, backends));
    },
    removed: (namespace, name) => {
      const endpoints = world.get('endpoints', namespace, name);
      if (endpoints) world.delete(endpoints);
    },
  };
}

function syncEndpoints(world: World, service: Stored, backends: readonly Backend[]): void {
  const { name, namespace } = service;
  const content = backends.length > 0 ? { subsets: subsetsOf(backends) } : {};
  const known = world.get('endpoints', namespace, name);
  if (known) {
    world.replace(known, content, by);
    return;
  }
  const { labels, creationTimestamp } = metadataOf(service.object);
  const metadata = {
    name,
    namespace,
    creationTimestamp,
    labels: { ...asObject(labels), 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
  };
  world.create('', 'endpoints', { metadata, ...content }, by);
}

function syncSlices(world: World, service: Stored, wanted: readonly JsonObject[]): void {
  const { name, namespace } = service;
  const prefix = `${name}-`;
  const known = world
    .list(slices, namespace)
    .filter(
      (slice) =>
        slice.name.startsWith(prefix) && at(slice.object, 'metadata', 'labels', 'kubernetes.io/service-name') === name,
    );
  // A slice keeps its ports, so a group of Pods stays in the same slices.
  const free = [...known];
  const take = (content: JsonObject): Stored | undefined => {
    const same = free.findIndex((slice) => equalJson(slice.object.ports, content.ports));
    return free.splice(Math.max(0, same), 1)[0];
  };
  for (const content of wanted) {
    const slice = take(content);
    if (slice) {
      world.replace(slice, { addressType: 'IPv4', ...content }, by);
      continue;
    }
    const { labels, creationTimestamp } = metadataOf(service.object);
    const metadata = {
      generateName: prefix,
      namespace,
      creationTimestamp,
      labels: {
        ...asObject(labels),
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        ...(at(service.object, 'spec', 'clusterIP') === 'None' ? { 'service.kubernetes.io/headless': '' } : {}),
      },
      ownerReferences: [world.ownerReference(service)],
    };
    world.create('discovery.k8s.io', 'endpointslices', { metadata, addressType: 'IPv4', ...content }, by);
  }
  for (const slice of free) world.delete(slice);
}
