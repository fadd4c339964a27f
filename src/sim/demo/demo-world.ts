/**
 * The demo world: a realistic cluster, filled once and then maintained by small controllers.
 *
 * Life: CRDs -> cluster-scoped parts -> workloads with their pods -> custom objects -> Events -> controllers attached. From then
 * on the world reacts to changes: a scaled Deployment gets its pods. With `churn`, objects also change by themselves. The same
 * seed and clock give the same content.
 */
import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { ObjectApi } from '../api/object-api.ts';
import { Churn } from '../controllers/churn.ts';
import { ControllerLoop } from '../controllers/controller-loop.ts';
import { cloudManagerController, fooController, pluginController } from '../controllers/custom-controllers.ts';
import { Kubelets } from '../controllers/kubelets.ts';
import {
  deploymentController,
  replicaSetController,
  statefulSetController,
} from '../controllers/workload-controllers.ts';
import { World } from '../controllers/world.ts';
import { asObject, at, type JsonObject } from '../objects/json.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { appTemplate, deploymentOf, selectorLabels, someVersion, teams } from '../sample/app-catalog.ts';
import { platformCrds } from '../sample/platform-crds.ts';
import { cloudManagerCrd, fooCrd } from '../sample/sample-crds.ts';
import { createClusterPolicy, createNamespaces, createNodes, daysAgo } from './demo-cluster-parts.ts';
import { createCloudManagers, createFoos, createPlatform } from './demo-customs.ts';
import { WorkloadBuilder } from './demo-workloads.ts';

export interface DemoWorldOptions {
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

/** Fills the cluster and starts the controllers. */
export function startDemoWorld(options: DemoWorldOptions): DemoWorld {
  const { api, registry, clock, random, log } = options;
  const world = new World(api, registry, clock, random);
  for (const crd of [fooCrd, cloudManagerCrd, ...platformCrds]) {
    api.create(world.resource('apiextensions.k8s.io', 'customresourcedefinitions'), '', crd, {
      fieldManager: 'kubectl',
    });
  }
  createNamespaces(world);
  createNodes(world, options.nodes);
  createClusterPolicy(world);
  const builder = new WorkloadBuilder(world);
  createSystem(world, builder, options.pods);
  const small = options.pods < 200;
  createFoos(world, builder, small ? 3 : 12);
  createCloudManagers(world, builder, small ? 1 : 6);
  createPlatform(world);
  createApplications(world, builder, options.pods);
  createEvents(world);

  const { loop, kubelets } = workloadLoop(world, log);
  loop.add(fooController(world));
  loop.add(cloudManagerController(world));
  loop.add(pluginController(world));
  if (options.churn) loop.addStep(new Churn(world));
  loop.start();
  return {
    stop: async () => {
      kubelets.stop();
      await loop.stop();
    },
  };
}

/** The built-in controllers over a cluster without a demo world: they create the Pods of workloads. */
export function startWorkloadControllers(
  options: Pick<DemoWorldOptions, 'api' | 'registry' | 'clock' | 'random' | 'log'>,
): DemoWorld {
  const { api, registry, clock, random, log } = options;
  const { loop, kubelets } = workloadLoop(new World(api, registry, clock, random), log);
  loop.start();
  return {
    stop: async () => {
      kubelets.stop();
      await loop.stop();
    },
  };
}

function workloadLoop(world: World, log: Logger): { readonly loop: ControllerLoop; readonly kubelets: Kubelets } {
  const kubelets = new Kubelets(world);
  const loop = new ControllerLoop(world, log);
  loop.addStep(kubelets);
  loop.add(deploymentController(world));
  loop.add(replicaSetController(world));
  loop.add(statefulSetController(world));
  return { loop, kubelets };
}

function createSystem(world: World, builder: WorkloadBuilder, pods: number): void {
  const daemons = pods < 200 ? [] : pods < 600 ? ['kube-proxy'] : ['kube-proxy', 'cni-agent', 'node-exporter'];
  for (const name of daemons) {
    const template = appTemplate(world, {
      name,
      instance: name,
      namespace: 'kube-system',
      version: '1.35.0',
      extraLabels: { 'k8s-app': name },
    });
    builder.daemonSet('kube-system', name, template);
  }
  const selector = { 'k8s-app': 'kube-dns' };
  const template = appTemplate(world, {
    name: 'coredns',
    instance: 'coredns',
    namespace: 'kube-system',
    version: '1.12.1',
    extraLabels: selector,
  });
  builder.deployment(deploymentOf({ name: 'coredns', namespace: 'kube-system', replicas: 2, template, selector }));
}

/** Creates applications until there are enough pods. Each has a Service, a ConfigMap, a Secret and a ServiceAccount. */
function createApplications(world: World, builder: WorkloadBuilder, pods: number): void {
  const apps = teams.flatMap(({ namespace, team, apps: names }) => names.map((name) => ({ namespace, team, name })));
  for (let i = 0; world.api.store.count('pods') < pods && i < 20_000; i++) {
    const app = apps[i % apps.length];
    if (!app) return;
    const { namespace, team } = app;
    const round = Math.floor(i / apps.length);
    const name = round === 0 ? app.name : `${app.name}-${round + 1}`;
    const missing = pods - world.api.store.count('pods');
    const replicas = Math.min(missing, 1 + Math.floor(world.random() ** 3 * (pods > 20_000 ? 200 : 30)));
    const selector = selectorLabels(name, `${name}-${namespace}`);
    const template = appTemplate(world, {
      name,
      instance: `${name}-${namespace}`,
      namespace,
      team,
      version: someVersion(world),
    });
    createBelongings(world, namespace, name, selector, i);
    if (i % 9 === 4) {
      const count = Math.min(3, missing);
      builder.statefulSet({
        metadata: { name, namespace, labels: { ...selector, team } },
        spec: { replicas: count, serviceName: name, selector: { matchLabels: selector }, template },
      });
      continue;
    }
    const labels = { ...selector, team };
    builder.deployment(
      deploymentOf({ name, namespace, replicas, template, selector, labels }),
      missing > 20 && world.chance(0.1) ? 1 : 0,
    );
    if (i % 11 === 7 && missing > 20)
      builder.cronJob(namespace, `${name}-report`, world.pick(['0 * * * *', '*/15 * * * *', '30 2 * * 1']), template);
  }
}

function createBelongings(world: World, namespace: string, name: string, selector: JsonObject, index: number): void {
  const metadata = { name, namespace, labels: selector, creationTimestamp: daysAgo(world, 200) };
  const clusterIP = `10.96.${Math.floor(index / 250) % 250}.${(index % 250) + 2}`;
  world.create(
    '',
    'services',
    {
      metadata,
      spec: {
        selector,
        clusterIP,
        ports: [{ name: 'http', port: 80, targetPort: 'http' }],
        type: index % 12 === 3 ? 'LoadBalancer' : 'ClusterIP',
      },
    },
    'helm',
  );
  const config = {
    'application.yaml': `name: ${name}\nnamespace: ${namespace}\n`,
    'feature.flags': world.pick(['a', 'a,b', '']),
  };
  world.create('', 'configmaps', { metadata: { ...metadata, name: `${name}-config` }, data: config }, 'helm');
  world.create(
    '',
    'secrets',
    {
      metadata: { ...metadata, name: `${name}-credentials` },
      type: 'Opaque',
      stringData: { url: `postgres://${name}@db.${namespace}:5432/app` },
    },
    'helm',
  );
  world.create('', 'serviceaccounts', { metadata }, 'helm');
  if (index % 6 !== 0) return;
  const backend = { service: { name, port: { name: 'http' } } };
  world.create(
    'networking.k8s.io',
    'ingresses',
    {
      metadata,
      spec: {
        ingressClassName: 'nginx',
        rules: [
          {
            host: `${name}.${namespace}.portolan.example`,
            http: { paths: [{ path: '/', pathType: 'Prefix', backend }] },
          },
        ],
        tls: [{ hosts: [`${name}.${namespace}.portolan.example`], secretName: `${name}-tls` }],
      },
    },
    'helm',
  );
}

/** Events of the last hour. */
function createEvents(world: World): void {
  const troubled = world
    .list('pods')
    .filter((pod) => at(pod.object, 'status', 'phase') !== 'Running' || world.chance(0.05));
  for (const pod of troubled.slice(0, 400)) {
    const phase = at(pod.object, 'status', 'phase');
    const when = world.clock.now() - world.between(5, 3500) * 1000;
    const reason = asObject(pod.object.status).reason;
    if (reason === 'Evicted')
      world.emit(pod, 'Warning', 'Evicted', 'The node was low on resource: memory.', 'kubelet', when);
    else if (phase === 'Pending')
      world.emit(
        pod,
        'Warning',
        'FailedScheduling',
        '0/24 nodes are available: insufficient memory.',
        'default-scheduler',
        when,
      );
    else world.emit(pod, 'Normal', 'Pulled', 'Container image already present on machine', 'kubelet', when);
  }
}
