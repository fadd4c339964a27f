/**
 * The scheduler and all kubelets in one. Places pods on nodes, starts them after a delay, and ends those being deleted. It reacts
 * only to pods that change after its start. The troubled pods of the demo world therefore stay troubled until changed.
 */
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import type { Step } from './controller-loop.ts';
import { type PodState, podStatusOf } from './pod-maker.ts';
import { hasCondition, isDeleting, type World } from './world.ts';

interface Due {
  readonly at: number;
  readonly uid: string;
  readonly act: 'schedule' | 'start' | 'end';
}

export class Kubelets implements Step {
  readonly #world: World;
  readonly #due = new Map<string, Due>();
  readonly #unsubscribe: () => void;

  constructor(world: World) {
    this.#world = world;
    this.#unsubscribe = world.api.store.subscribe('pods', (event) => this.#onEvent(event));
  }

  stop(): void {
    this.#unsubscribe();
  }

  step(): void {
    const now = this.#world.clock.monotonic();
    for (const [key, due] of [...this.#due]) {
      if (due.at > now) continue;
      this.#due.delete(key);
      const slash = key.indexOf('/');
      const pod = this.#world.get('pods', key.slice(0, slash), key.slice(slash + 1));
      if (!pod || pod.uid !== due.uid) continue;
      if (due.act === 'end') this.#end(pod);
      else if (!isDeleting(pod)) due.act === 'schedule' ? this.#schedule(pod) : this.#start(pod);
    }
  }

  #onEvent({ type, stored }: StoreEvent): void {
    if (type === 'DELETED') {
      this.#due.delete(stored.key);
      return;
    }
    const placed = asString(at(stored.object, 'spec', 'nodeName')) !== '';
    const known = this.#due.get(stored.key);
    if (isDeleting(stored)) {
      if (known?.act !== 'end') this.#plan(stored, 'end', 400, 3000);
      return;
    }
    if (known || at(stored.object, 'status', 'phase') !== 'Pending') return;
    if (!placed) this.#plan(stored, 'schedule', 50, 400);
    else if (hasCondition(stored.object, 'PodScheduled')) this.#plan(stored, 'start', 600, 4000);
  }

  #plan(pod: Stored, act: Due['act'], low: number, high: number): void {
    const { clock } = this.#world;
    this.#due.set(pod.key, { at: clock.monotonic() + this.#world.between(low, high), uid: pod.uid, act });
  }

  #schedule(pod: Stored): void {
    const world = this.#world;
    const nodes = world
      .list('nodes')
      .filter((node) => hasCondition(node.object, 'Ready') && at(node.object, 'spec', 'unschedulable') !== true);
    if (nodes.length === 0) {
      this.#plan(pod, 'schedule', 2000, 4000);
      return;
    }
    const node = world.pick(nodes);
    const placed = world.patchSpec(pod, { nodeName: node.name }, 'kube-scheduler');
    if (!placed) return;
    world.emit(
      pod,
      'Normal',
      'Scheduled',
      `Successfully assigned ${pod.namespace}/${pod.name} to ${node.name}`,
      'default-scheduler',
    );
    this.#report(placed, 'starting', 0);
  }

  #start(pod: Stored): void {
    const world = this.#world;
    const trouble = world.chance(0.03) ? world.pick<PodState>(['imagePull', 'crashLoop', 'notReady']) : 'running';
    const image = asString(asObject((at(pod.object, 'spec', 'containers') as unknown[] | undefined)?.[0]).image);
    world.emit(pod, 'Normal', 'Pulled', `Container image "${image}" already present on machine`, 'kubelet');
    world.emit(pod, 'Normal', 'Started', 'Started container', 'kubelet');
    if (trouble === 'imagePull') world.emit(pod, 'Warning', 'Failed', `Failed to pull image "${image}"`, 'kubelet');
    if (trouble === 'crashLoop')
      world.emit(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', 'kubelet');
    this.#report(pod, trouble, trouble === 'crashLoop' ? world.between(2, 5) : 0);
  }

  #report(pod: Stored, state: PodState, restarts: number): void {
    const world = this.#world;
    const nodeName = asString(at(pod.object, 'spec', 'nodeName'));
    world.setStatus(pod, podStatusOf(world, statusInput(world, pod.object, nodeName, state, restarts)), 'kubelet');
  }

  #end(pod: Stored): void {
    this.#world.emit(pod, 'Normal', 'Killing', 'Stopping container', 'kubelet');
    this.#world.delete(pod, 0);
  }
}

/** The input of podStatusOf for a pod on a node now; keeps the address that the pod already has. */
export function statusInput(
  world: World,
  pod: JsonObject,
  nodeName: string,
  state: PodState,
  restarts: number,
): Parameters<typeof podStatusOf>[1] {
  const node = world.get('nodes', '', nodeName);
  const number = node ? Math.max(0, world.list('nodes').indexOf(node)) : 0;
  const known = asString(at(pod, 'status', 'podIP'));
  return {
    spec: asObject(pod.spec),
    state,
    since: world.clock.now(),
    hostIp: `10.0.${Math.floor(number / 250)}.${(number % 250) + 4}`,
    podIp: known !== '' ? known : `10.244.${number}.${world.between(2, 254)}`,
    restarts,
  };
}
