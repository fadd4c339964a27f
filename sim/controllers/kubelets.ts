/**
 * The scheduler and all kubelets in one. Places pods on nodes, starts them after a delay, ends the pods of Jobs after their work, and
 * removes those being deleted.
 *
 * A pod that fits on no node stays Pending with the scheduler's reason. A pod that mentions a missing ConfigMap, Secret or claim does
 * not start. Both are tried again, without an Event for each time. Other troubled pods of the demo world stay troubled until changed.
 */
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import type { Step } from '../world/controller-loop.ts';
import type { Places } from '../world/places.ts';
import { exitsAtOnce, type PodState, podStatusOf } from '../world/pod-maker.ts';
import { startProblem } from '../world/pod-references.ts';
import { controllerOf, hasCondition, isDeleting, type World } from '../world/world.ts';

/** Milliseconds between two tries of what cannot be done now. */
const retryMs = [8_000, 20_000] as const;

interface Due {
  readonly at: number;
  readonly uid: string;
  readonly act: 'schedule' | 'start' | 'finish' | 'end';
}

/** Whether somebody else wrote that the pod runs or has ended, while it waited to be placed or started. */
function hasBegun(pod: Stored, act: Due['act']): boolean {
  return act !== 'finish' && at(pod.object, 'status', 'phase') !== 'Pending';
}

export class Kubelets implements Step {
  readonly #world: World;
  readonly #places: Places;
  readonly #due = new Map<string, Due>();
  readonly #unsubscribe: () => void;

  constructor(world: World, places: Places) {
    this.#world = world;
    this.#places = places;
    for (const pod of world.list('pods')) this.#takeOver(pod);
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
      else if (isDeleting(pod) || hasBegun(pod, due.act)) continue;
      else if (due.act === 'schedule') this.#schedule(pod);
      else if (due.act === 'start') this.#start(pod);
      else this.#finish(pod);
    }
  }

  /** Plans the work on a pod that exists already: it may have a place or what it mentions later. */
  #takeOver(pod: Stored): void {
    if (isDeleting(pod) || at(pod.object, 'status', 'phase') !== 'Pending') return;
    if (asString(at(pod.object, 'spec', 'nodeName')) === '') this.#plan(pod, 'schedule', ...retryMs);
    else if (startProblem(this.#world, pod.namespace, asObject(pod.object.spec))) this.#plan(pod, 'start', ...retryMs);
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
    const place = this.#places.find(pod.object);
    if ('message' in place) {
      this.#plan(pod, 'schedule', ...retryMs);
      const known = asObject((at(pod.object, 'status', 'conditions') as unknown[] | undefined)?.[0]);
      if (known.message === place.message) return;
      this.#report(pod, 'unschedulable', 0, place.message);
      if (known.reason !== 'Unschedulable')
        world.emit(pod, 'Warning', 'FailedScheduling', place.message, 'default-scheduler');
      return;
    }
    const { node } = place;
    const placed = world.patchSpec(pod, { nodeName: node }, 'kube-scheduler');
    if (!placed) return;
    world.emit(
      pod,
      'Normal',
      'Scheduled',
      `Successfully assigned ${pod.namespace}/${pod.name} to ${node}`,
      'default-scheduler',
    );
    this.#report(placed, 'starting', 0);
  }

  #start(pod: Stored): void {
    const world = this.#world;
    const problem = startProblem(world, pod.namespace, asObject(pod.object.spec));
    if (problem) {
      this.#plan(pod, 'start', ...retryMs);
      const [first] = (at(pod.object, 'status', 'containerStatuses') as unknown[] | undefined) ?? [];
      if (at(asObject(first), 'state', 'waiting', 'message') === problem.message) return;
      const known = world
        .list('events', pod.namespace)
        .some(
          (event) => at(event.object, 'involvedObject', 'uid') === pod.uid && event.object.message === problem.note,
        );
      if (!known)
        world.emit(pod, 'Warning', problem.kind === 'mount' ? 'FailedMount' : 'Failed', problem.note, 'kubelet');
      if (problem.kind === 'config') this.#report(pod, 'configError', 0, problem.message);
      return;
    }
    const once = at(pod.object, 'spec', 'restartPolicy') !== 'Always';
    const chance =
      !once && world.chance(0.03) ? world.pick<PodState>(['imagePull', 'crashLoop', 'notReady']) : 'running';
    const trouble = exitsAtOnce(asObject(pod.object.spec)) ? 'crashLoop' : chance;
    if (once) this.#plan(pod, 'finish', 5_000, 90_000);
    const image = asString(asObject((at(pod.object, 'spec', 'containers') as unknown[] | undefined)?.[0]).image);
    world.emit(pod, 'Normal', 'Pulled', `Container image "${image}" already present on machine`, 'kubelet');
    world.emit(pod, 'Normal', 'Started', 'Started container', 'kubelet');
    if (trouble === 'imagePull') world.emit(pod, 'Warning', 'Failed', `Failed to pull image "${image}"`, 'kubelet');
    if (trouble === 'crashLoop')
      world.emit(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', 'kubelet');
    this.#report(pod, trouble, trouble === 'crashLoop' ? world.between(2, 5) : 0);
  }

  #finish(pod: Stored): void {
    const failed = controllerOf(pod)?.kind === 'Job' && this.#world.chance(0.06);
    this.#report(pod, failed ? 'failed' : 'succeeded', 0);
  }

  #report(pod: Stored, state: PodState, restarts: number, message?: string): void {
    const input = statusInput(this.#world, this.#places, pod.object, state, restarts, message);
    this.#world.setStatus(pod, podStatusOf(this.#world, input), 'kubelet');
  }

  #end(pod: Stored): void {
    this.#world.emit(pod, 'Normal', 'Killing', 'Stopping container', 'kubelet');
    this.#world.delete(pod, 0);
  }
}

/** The input of podStatusOf for a pod on its node now; keeps the address that the pod already has. */
export function statusInput(
  world: World,
  places: Places,
  pod: JsonObject,
  state: PodState,
  restarts: number,
  message?: string,
): Parameters<typeof podStatusOf>[1] {
  const node = asString(at(pod, 'spec', 'nodeName'));
  const known = asString(at(pod, 'status', 'podIP'));
  const hostIp = places.hostIp(node);
  const own = at(pod, 'spec', 'hostNetwork') !== true;
  return {
    spec: asObject(pod.spec),
    state,
    since: world.clock.now(),
    hostIp,
    podIp: known !== '' ? known : own ? places.freeAddress(node) : hostIp,
    restarts,
    ...(message === undefined ? {} : { message }),
  };
}
