/**
 * The scheduler's view of the nodes: what is free on each, and which Pod addresses are taken. It selects a node for a Pod.
 *
 * Owns: for each node what it can hold, and what the Pods on it request. Kept up to date by the events of nodes and pods, so the sum of
 * the requests on a node never exceeds what is allocatable, as long as every Pod is placed by `find`.
 * Never: writes an object.
 */
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import { quantityOf } from '../resources/quantity.ts';
import { podResources, takesSpace } from './pod-resources.ts';
import { hasCondition, type World } from './world.ts';

interface Node {
  readonly name: string;
  cpu: number;
  memory: number;
  pods: number;
  labels: JsonObject;
  taints: readonly JsonObject[];
  ready: boolean;
  cordoned: boolean;
  hostIp: string;
  /** The first address of its range of Pod addresses, as a number; undefined when it has no range. */
  firstAddress: number | undefined;
  readonly used: { cpu: number; memory: number; pods: number };
  readonly addresses: Set<string>;
}

interface Placed {
  readonly node: string;
  readonly cpu: number;
  readonly memory: number;
  readonly address: string;
}

type Place = { readonly node: string } | { readonly message: string };

export class Places {
  readonly #world: World;
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Placed>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(world: World) {
    this.#world = world;
    const { store } = world.api;
    for (const node of world.list('nodes')) this.#readNode(node);
    for (const pod of world.list('pods')) this.#readPod(pod);
    this.#unsubscribe = [
      store.subscribe('nodes', ({ type, stored }) => {
        if (type === 'DELETED') this.#nodes.delete(stored.name);
        else this.#readNode(stored);
      }),
      store.subscribe('pods', (event) => this.#onPod(event)),
    ];
  }

  stop(): void {
    for (const end of this.#unsubscribe) end();
  }

  /** A node on which the Pod fits, or why there is none. */
  find(pod: JsonObject): Place {
    const spec = asObject(pod.spec);
    const claims = this.#claimProblem(pod);
    const wanted = podResources(spec);
    const reasons = new Map<string, number>();
    const fitting: Node[] = [];
    for (const node of this.#nodes.values()) {
      const why = claims === undefined ? refusals(node, spec, wanted) : [claims];
      if (why.length === 0) fitting.push(node);
      for (const reason of why) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    if (fitting.length === 0) {
      const all = this.#nodes.size;
      const told = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
      if (claims !== undefined) return { message: `0/${all} nodes are available: ${claims}.` };
      return {
        message: `0/${all} nodes are available: ${told.join(', ')}. preemption: 0/${all} nodes are available: ${all} No preemption victims found for incoming pod.`,
      };
    }
    const [one, other] = [this.#world.pick(fitting), this.#world.pick(fitting)];
    return { node: load(one) <= load(other) ? one.name : other.name };
  }

  /** The address of a node. */
  hostIp(node: string): string {
    return this.#nodes.get(node)?.hostIp ?? '';
  }

  /** The zone of a node. */
  zone(node: string): string {
    return asString(this.#nodes.get(node)?.labels['topology.kubernetes.io/zone']);
  }

  /** The lowest free address in the range of a node; '' when there is none. */
  freeAddress(name: string): string {
    const node = this.#nodes.get(name);
    if (node?.firstAddress === undefined) return '';
    for (let number = node.firstAddress + 2; number < node.firstAddress + 510; number++) {
      const address = addressText(number);
      if (!node.addresses.has(address)) return address;
    }
    return '';
  }

  #claimProblem(pod: JsonObject): string | undefined {
    const namespace = asString(at(pod, 'metadata', 'namespace'));
    for (const volume of asArray(at(pod, 'spec', 'volumes')).filter(isObject)) {
      const name = asString(at(volume, 'persistentVolumeClaim', 'claimName'));
      if (name === '') continue;
      const claim = this.#world.get('persistentvolumeclaims', namespace, name);
      if (!claim) return `persistentvolumeclaim "${name}" not found`;
      if (at(claim.object, 'status', 'phase') !== 'Bound')
        return 'pod has unbound immediate PersistentVolumeClaims. preemption: not eligible due to unbound claims';
    }
    return undefined;
  }

  #readNode({ name, object }: Stored): void {
    const allocatable = asObject(at(object, 'status', 'allocatable'));
    const addresses = asArray(at(object, 'status', 'addresses')).filter(isObject);
    const range = /^([\d.]+)\//.exec(asString(at(object, 'spec', 'podCIDR')))?.[1];
    const before = this.#nodes.get(name);
    this.#nodes.set(name, {
      name,
      cpu: quantityOf(allocatable.cpu),
      memory: quantityOf(allocatable.memory),
      pods: quantityOf(allocatable.pods) / 1000,
      labels: asObject(at(object, 'metadata', 'labels')),
      taints: asArray(at(object, 'spec', 'taints')).filter(isObject),
      ready: hasCondition(object, 'Ready'),
      cordoned: at(object, 'spec', 'unschedulable') === true,
      hostIp: asString(addresses.find((item) => item.type === 'InternalIP')?.address),
      firstAddress: range?.split('.').reduce((sum, part) => sum * 256 + Number(part), 0),
      used: before?.used ?? { cpu: 0, memory: 0, pods: 0 },
      addresses: before?.addresses ?? new Set(),
    });
  }

  #onPod({ type, stored }: StoreEvent): void {
    this.#remove(stored.key);
    if (type !== 'DELETED') this.#readPod(stored);
  }

  #readPod({ key, object }: Stored): void {
    const name = asString(at(object, 'spec', 'nodeName'));
    const node = this.#nodes.get(name);
    if (!node || !takesSpace(object)) return;
    const { cpu, memory } = podResources(asObject(object.spec));
    const address = asString(at(object, 'status', 'podIP'));
    this.#pods.set(key, { node: name, cpu, memory, address });
    node.used.cpu += cpu;
    node.used.memory += memory;
    node.used.pods++;
    node.addresses.add(address);
  }

  #remove(key: string): void {
    const placed = this.#pods.get(key);
    if (!placed) return;
    this.#pods.delete(key);
    const node = this.#nodes.get(placed.node);
    if (!node) return;
    node.used.cpu -= placed.cpu;
    node.used.memory -= placed.memory;
    node.used.pods--;
    node.addresses.delete(placed.address);
  }
}

function addressText(number: number): string {
  return [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.');
}

/** The share of the node's most requested resource that is requested. */
function load({ cpu, memory, used }: Node): number {
  return Math.max(used.cpu / cpu, used.memory / memory);
}

function tolerates(spec: JsonObject, taint: JsonObject): boolean {
  return asArray(spec.tolerations)
    .filter(isObject)
    .some((item) => {
      if (item.effect !== undefined && item.effect !== '' && item.effect !== taint.effect) return false;
      if (item.operator === 'Exists') return item.key === undefined || item.key === '' || item.key === taint.key;
      return item.key === taint.key && asString(item.value) === asString(taint.value);
    });
}

/** Why a node does not take a Pod; empty when it does. */
function refusals(node: Node, spec: JsonObject, wanted: { cpu: number; memory: number }): string[] {
  if (node.cordoned) return ['node(s) were unschedulable'];
  if (!node.ready) return ['node(s) had untolerated taint(s)'];
  const unwelcome = node.taints.find((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(spec, taint));
  if (unwelcome) return ['node(s) had untolerated taint(s)'];
  const labels = Object.entries(asObject(spec.nodeSelector));
  if (labels.some(([key, value]) => node.labels[key] !== value))
    return ["node(s) didn't match Pod's node affinity/selector"];
  const short: string[] = [];
  if (node.used.cpu + wanted.cpu > node.cpu) short.push('Insufficient cpu');
  if (node.used.memory + wanted.memory > node.memory) short.push('Insufficient memory');
  if (node.used.pods + 1 > node.pods) short.push('Too many pods');
  return short;
}
