/**
 * Changes the demo world all the time: every second a few events of real clusters happen. Containers restart, pods are evicted,
 * Deployments are scaled and rolled out. Foos, CloudManagers, Redis and MySQL change their specs. Nodes renew Leases.
 *
 * The random numbers of the World decide everything, so a fixed seed gives the same sequence. The clock sets the pace.
 */

import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { microTimeText } from '../resources/object-metadata.ts';
import { someVersion } from '../sample/app-catalog.ts';
import { conditionOf } from '../world/conditions.ts';
import type { Step } from '../world/controller-loop.ts';
import type { Places } from '../world/places.ts';
import { exitsAtOnce, podStatusOf } from '../world/pod-maker.ts';
import { controllerOf, isDeleting, numberAt, type World } from '../world/world.ts';
import { mysqls, redises } from './app-store-controllers.ts';
import { autoscalers, moveLoad } from './autoscaler.ts';
import { cloudManagers } from './cloud-manager-controller.ts';
import { foos, plugins, projects } from './custom-controllers.ts';
import { statusInput } from './kubelets.ts';
import { deployments } from './workload-controllers.ts';

const leaseEveryMs = 10_000;
const mostMissedMs = 60_000;

export class Churn implements Step {
  readonly #world: World;
  readonly #places: Places;
  #next: number;
  #nextLease: number;

  constructor(world: World, places: Places) {
    this.#world = world;
    this.#places = places;
    this.#next = world.clock.monotonic() + 1000;
    this.#nextLease = world.clock.monotonic() + leaseEveryMs;
  }

  step(): void {
    const now = this.#world.clock.monotonic();
    if (now >= this.#nextLease) {
      this.#nextLease = now + leaseEveryMs;
      this.#renewLeases();
    }
    // Seconds that a busy thread missed are made up for; those of a machine that slept are not.
    this.#next = Math.max(this.#next, now - mostMissedMs);
    for (; this.#next <= now; this.#next += 1000) {
      for (let i = this.#world.between(1, 3); i > 0; i--) this.#once();
    }
  }

  #once(): void {
    const dice = this.#world.random();
    if (dice < 0.35) this.#restart();
    else if (dice < 0.5) this.#recover();
    else if (dice < 0.6) this.#evict();
    else if (dice < 0.72) this.#scale();
    else if (dice < 0.76) this.#roll();
    else if (dice < 0.84) this.#foo();
    else if (dice < 0.86) this.#cloudManager();
    else if (dice < 0.9) this.#instance();
    else if (dice < 0.97) this.#plugin();
    else this.#project();
  }

  #some(storage: string): Stored | undefined {
    const { store } = this.#world.api;
    return store.nth(storage, Math.floor(this.#world.random() * store.count(storage)));
  }

  #runningPod(): Stored | undefined {
    for (let tries = 0; tries < 10; tries++) {
      const pod = this.#some('pods');
      const isRunning = pod && at(pod.object, 'status', 'phase') === 'Running' && !isDeleting(pod);
      if (isRunning && !exitsAtOnce(asObject(pod.object.spec))) return pod;
    }
    return undefined;
  }

  /** A container of a running pod terminates and restarts. */
  #restart(): void {
    const world = this.#world;
    const pod = this.#runningPod();
    if (!pod) return;
    const status = asObject(pod.object.status);
    const time = world.nowText();
    const oom = world.chance(0.3);
    const terminated = {
      exitCode: oom ? 137 : 1,
      reason: oom ? 'OOMKilled' : 'Error',
      startedAt: status.startTime,
      finishedAt: time,
    };
    const containerStatuses = asArray(status.containerStatuses)
      .filter(isObject)
      .map((item, i) =>
        i > 0
          ? item
          : {
              ...item,
              restartCount: numberAt(item, 'restartCount') + 1,
              lastState: { terminated },
              state: { running: { startedAt: time } },
            },
      );
    world.setStatus(pod, { ...status, containerStatuses }, 'kubelet');
    world.emit(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', 'kubelet');
  }

  /** A pod in trouble recovers, or a healthy one becomes not ready. */
  #recover(): void {
    const world = this.#world;
    const pod = this.#runningPod();
    if (!pod || asString(at(pod.object, 'spec', 'nodeName')) === '') return;
    const ready = asArray(at(pod.object, 'status', 'conditions')).some(
      (item) => asObject(item).type === 'Ready' && asObject(item).status === 'True',
    );
    const restarts = numberAt(asObject(asArray(at(pod.object, 'status', 'containerStatuses'))[0]), 'restartCount');
    const state = ready && world.chance(0.4) ? 'notReady' : 'running';
    if (ready && state === 'running') return;
    world.setStatus(pod, podStatusOf(world, statusInput(world, this.#places, pod.object, state, restarts)), 'kubelet');
    if (state === 'notReady')
      world.emit(
        pod,
        'Warning',
        'Unhealthy',
        'Readiness probe failed: HTTP probe failed with statuscode: 503',
        'kubelet',
      );
  }

  #evict(): void {
    const pod = this.#runningPod();
    if (!pod || controllerOf(pod)?.kind !== 'ReplicaSet') return;
    this.#world.emit(pod, 'Warning', 'Evicted', 'The node was low on resource: memory.', 'kubelet');
    this.#world.delete(pod);
  }

  #freeDeployment(): Stored | undefined {
    for (let tries = 0; tries < 10; tries++) {
      const found = this.#some(deployments);
      if (found && !controllerOf(found) && !isDeleting(found)) return found;
    }
    return undefined;
  }

  /** Moves the load of an autoscaler, or scales a Deployment that has none. */
  #scale(): void {
    const world = this.#world;
    const scaler = world.chance(0.5) ? this.#some(autoscalers) : undefined;
    if (scaler) {
      moveLoad(world, scaler, world.between(35, 110));
      return;
    }
    const deployment = this.#freeDeployment();
    if (!deployment || world.get(autoscalers, deployment.namespace, deployment.name)) return;
    const replicas = numberAt(deployment.object, 'spec', 'replicas');
    // Larger Deployments rather become smaller, so the number of Pods stays about the same.
    const grow = world.chance(replicas > 12 ? 0.3 : 0.5);
    world.patchSpec(deployment, { replicas: Math.min(40, Math.max(1, replicas + (grow ? 1 : -1))) }, 'kubectl-scale');
  }

  /** Rolls out a new version. */
  #roll(): void {
    const world = this.#world;
    const deployment = this.#freeDeployment();
    if (!deployment) return;
    const template = asObject(asObject(deployment.object.spec).template);
    const spec = asObject(template.spec);
    const version = someVersion(world);
    const containers = asArray(spec.containers)
      .filter(isObject)
      .map((item, i) => (i > 0 ? item : { ...item, image: `${asString(item.image).split(':')[0]}:${version}` }));
    const metadata = asObject(template.metadata);
    const labels = { ...asObject(metadata.labels), 'app.kubernetes.io/version': version };
    const next: JsonObject = { ...template, metadata: { ...metadata, labels }, spec: { ...spec, containers } };
    world.patchSpec(deployment, { template: next }, 'deployer');
  }

  #foo(): void {
    const foo = this.#some(foos);
    if (foo) this.#world.patchSpec(foo, { replicas: this.#world.between(1, 5) }, 'kubectl-edit');
  }

  /** Rolls a new front of a CloudManager out. */
  #cloudManager(): void {
    const world = this.#world;
    const manager = this.#some(cloudManagers);
    if (!manager) return;
    const front = asObject(at(manager.object, 'spec', 'front', 'deployment'));
    const image = `${asString(front.image).split(':')[0]}:${someVersion(world)}`;
    world.patchSpec(manager, { front: { deployment: { ...front, image } } }, 'kubectl-edit');
  }

  /** Scales an instance of the app store that is not stopped. */
  #instance(): void {
    const world = this.#world;
    const servers = world.between(1, 3);
    if (world.chance(0.4)) {
      const database = this.#some(mysqls);
      if (database) world.patchSpec(database, { instances: servers }, 'app-store');
      return;
    }
    const cache = this.#some(redises);
    if (cache && numberAt(cache.object, 'spec', 'replicas') > 0)
      world.patchSpec(cache, { replicas: servers }, 'app-store');
  }

  #plugin(): void {
    const world = this.#world;
    const plugin = this.#some(plugins);
    if (!plugin) return;
    if (world.chance(0.3)) {
      world.patchSpec(plugin, { version: someVersion(world) }, 'platform-console');
      return;
    }
    const failed = world.chance(0.15);
    const status = asObject(plugin.object.status);
    world.setStatus(
      plugin,
      {
        ...status,
        phase: failed ? 'Failed' : 'Ready',
        message: failed ? 'the template could not be rendered' : 'installed',
        requests: numberAt(plugin.object, 'status', 'requests') + world.between(10, 5000),
        conditions: [
          conditionOf(world, plugin, 'Ready', !failed, failed ? 'RenderFailed' : 'Installed', 'see message'),
        ],
      },
      'platform-operator',
    );
  }

  #project(): void {
    const world = this.#world;
    const project = this.#some(projects);
    if (project) world.patchSpec(project, { budget: Math.round(world.random() * 1e6) / 100 }, 'platform-console');
  }

  #renewLeases(): void {
    const world = this.#world;
    const renewTime = microTimeText(world.clock.now());
    for (const lease of world.list('leases.coordination.k8s.io', 'kube-node-lease')) {
      world.patchSpec(lease, { renewTime }, 'kubelet');
    }
  }
}
