/**
 * The demo world: a realistic cluster, filled once and then maintained by small controllers.
 *
 * Life: CRDs -> cluster-scoped parts -> workloads with their pods -> custom objects -> Events -> controllers attached, which fill in
 * what follows from the rest: Endpoints, budgets, quotas, volumes. From then on the world reacts to changes: a scaled Deployment
 * gets its pods. With `churn`, objects also change by themselves. The same seed and clock give the same content.
 *
 * Every reference resolves, the requests on a node fit on it, and every status is true. Only the namespace `sandbox` has references to
 * objects that do not exist (demo-sandbox.ts). One application is broken: the CloudManager us-east (demo-customs.ts).
 * demo-invariants.test.ts checks this, also after much churn.
 */
import type { Clock, Random } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/log.ts';
import type { ObjectApi } from '../api/object-api.ts';
import { mysqlController, redisController } from '../controllers/app-store-controllers.ts';
import { autoscalerController } from '../controllers/autoscaler.ts';
import { namespaceController } from '../controllers/belongings.ts';
import { Churn } from '../controllers/churn.ts';
import { claimController, volumeController } from '../controllers/claim-controllers.ts';
import { cloudManagerController } from '../controllers/cloud-manager-controller.ts';
import { fooController, pluginController, projectController } from '../controllers/custom-controllers.ts';
import { disruptionController } from '../controllers/disruption-controller.ts';
import { endpointsController } from '../controllers/endpoints-controller.ts';
import { CronSchedule, cronJobController, jobController } from '../controllers/job-controllers.ts';
import { Kubelets } from '../controllers/kubelets.ts';
import { quotaController } from '../controllers/quota-controller.ts';
import {
  deploymentController,
  replicaSetController,
  statefulSetController,
} from '../controllers/workload-controllers.ts';
import { asArray, asObject, at } from '../objects/json.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { mysqlCrd, redisCrd } from '../sample/app-store-crds.ts';
import { platformCrds } from '../sample/platform-crds.ts';
import { cloudManagerCrd, fooCrd } from '../sample/sample-crds.ts';
import { ControllerLoop, type Step } from '../world/controller-loop.ts';
import { Places } from '../world/places.ts';
import { World } from '../world/world.ts';
import { createAppStore } from './demo-app-store.ts';
import { createApplications, createSystem } from './demo-applications.ts';
import { createClusterPolicy, createNamespaces, createNodes } from './demo-cluster-parts.ts';
import { createCloudManagers, createFoos, createPlatform } from './demo-customs.ts';
import { createSandbox } from './demo-sandbox.ts';
import { WorkloadBuilder } from './demo-workloads.ts';

interface DemoWorldOptions {
  readonly api: ObjectApi;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The approximate number of Pods. */
  readonly pods: number;
  readonly nodes: number;
  /** Whether objects also change by themselves. */
  readonly churn: boolean;
}

export interface DemoWorld {
  stop(): Promise<void>;
}

/** A filled cluster whose controllers do not run yet. */
export interface AssembledWorld {
  readonly world: World;
  readonly loop: ControllerLoop;
  /** Changes that happen by themselves, for `loop.addStep`. */
  readonly churn: readonly Step[];
  /** Ends the subscriptions and, when it runs, the loop. */
  stop(): Promise<void>;
}

/** Fills the cluster and starts the controllers. */
export function startDemoWorld(options: DemoWorldOptions): DemoWorld {
  const assembled = assembleDemoWorld(options);
  if (options.churn) for (const step of assembled.churn) assembled.loop.addStep(step);
  assembled.loop.start();
  return assembled;
}

/** Fills the cluster, and adds its controllers to a loop. The controllers have come to rest. */
export function assembleDemoWorld(options: Omit<DemoWorldOptions, 'churn'>): AssembledWorld {
  const { api, registry, clock, random, log } = options;
  const world = new World(api, registry, clock, random);
  for (const crd of [fooCrd, cloudManagerCrd, redisCrd, mysqlCrd, ...platformCrds]) {
    api.create(world.resource('apiextensions.k8s.io', 'customresourcedefinitions'), '', crd, {
      fieldManager: 'kubectl',
    });
  }
  createNamespaces(world);
  const namespaces = namespaceController(world);
  for (const namespace of world.list('namespaces')) namespaces.reconcile(namespace);
  createNodes(world, options.nodes);
  createClusterPolicy(world);
  const places = new Places(world);
  const builder = new WorkloadBuilder(world, places);
  const small = options.pods < 200;
  createSystem(world, builder, options.pods);
  createSandbox(world, builder);
  createFoos(world, builder, small ? 3 : 12);
  createCloudManagers(world, builder, small ? 2 : 6);
  createAppStore(world, builder, small);
  createApplications(world, builder, options.pods);
  createPlatform(world);
  createEvents(world);

  const assembled = workloadLoop(world, places, log);
  const { loop } = assembled;
  for (const controller of [
    namespaces,
    claimController(world),
    endpointsController(world),
    quotaController(world),
    autoscalerController(world),
    projectController(world),
    cloudManagerController(world),
    redisController(world),
    mysqlController(world),
  ]) {
    loop.add(controller, 'existing');
  }
  loop.add(volumeController(world));
  loop.add(fooController(world));
  loop.add(pluginController(world));
  loop.settle();
  return { ...assembled, churn: [new Churn(world, places), new CronSchedule(world)] };
}

/** The built-in controllers over a cluster without a demo world: they create the Pods of workloads. */
export function startWorkloadControllers(
  options: Pick<DemoWorldOptions, 'api' | 'registry' | 'clock' | 'random' | 'log'>,
): DemoWorld {
  const { api, registry, clock, random, log } = options;
  const world = new World(api, registry, clock, random);
  const assembled = workloadLoop(world, new Places(world), log);
  assembled.loop.start();
  return assembled;
}

function workloadLoop(world: World, places: Places, log: Logger): AssembledWorld {
  const kubelets = new Kubelets(world, places);
  const loop = new ControllerLoop(world, log);
  loop.addStep(kubelets);
  loop.add(deploymentController(world));
  loop.add(replicaSetController(world));
  loop.add(statefulSetController(world));
  loop.add(jobController(world));
  loop.add(cronJobController(world));
  loop.add(disruptionController(world), 'existing');
  return {
    world,
    loop,
    churn: [],
    stop: async () => {
      kubelets.stop();
      places.stop();
      await loop.stop();
    },
  };
}

/** Events of the last hour: Pods that cannot run have theirs already. */
function createEvents(world: World): void {
  const troubled = world
    .list('pods')
    .filter((pod) => at(pod.object, 'status', 'phase') !== 'Running' || world.chance(0.05));
  for (const pod of troubled.slice(0, 400)) {
    const phase = at(pod.object, 'status', 'phase');
    const when = world.clock.now() - world.between(5, 3500) * 1000;
    const reason = asObject(pod.object.status).reason;
    const waiting = at(
      asObject(asArray(at(pod.object, 'status', 'containerStatuses'))[0]),
      'state',
      'waiting',
      'reason',
    );
    if (reason === 'Evicted')
      world.emit(pod, 'Warning', 'Evicted', 'The node was low on resource: memory.', 'kubelet', when);
    else if (waiting === 'ImagePullBackOff')
      world.emit(pod, 'Warning', 'Failed', 'Error: ImagePullBackOff', 'kubelet', when);
    else if (phase !== 'Pending')
      world.emit(pod, 'Normal', 'Pulled', 'Container image already present on machine', 'kubelet', when);
  }
}
