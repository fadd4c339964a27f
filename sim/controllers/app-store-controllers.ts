/** The controllers of Redis and MySQL: each instance has a StatefulSet of its name, a Service, and what its Pods mention. */
import { asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { metadataOf } from '../resources/served-resource.ts';
import { appTemplate, dataClaims, selectorLabels } from '../sample/app-catalog.ts';
import { cacheGroup, databaseGroup } from '../sample/app-store-crds.ts';
import { conditionOf } from '../world/conditions.ts';
import type { Controller } from '../world/controller-loop.ts';
import { isDeleting, numberAt, type World } from '../world/world.ts';
import { ensureBelongings, pullSecret } from './belongings.ts';
import { ownerKey, statefulSets } from './workload-controllers.ts';

export const redises = `redises.${cacheGroup}`;
export const mysqls = `mysqls.${databaseGroup}`;

/** What two kinds of instances differ in. */
interface Engine {
  readonly kind: 'Redis' | 'MySQL';
  readonly by: string;
  readonly port: number;
  readonly dataPath: string;
  image(instance: JsonObject): string;
  servers(instance: JsonObject): number;
  disk(instance: JsonObject): { readonly class: string; readonly size: unknown };
  /** @param ready the servers that answer */
  status(world: World, instance: Stored, ready: number): JsonObject;
}

const redis: Engine = {
  kind: 'Redis',
  by: 'redis-operator',
  port: 6379,
  dataPath: '/data',
  image: (instance) => `registry.example/library/redis:${asString(at(instance, 'spec', 'version'))}`,
  servers: (instance) => numberAt(instance, 'spec', 'replicas'),
  disk: (instance) => ({ class: 'fast', size: at(instance, 'spec', 'memory') }),
  status: (_world, instance, ready) => {
    const { generation = 1 } = metadataOf(instance.object);
    const wanted = redis.servers(instance.object);
    const before = at(instance.object, 'status', 'phase');
    const isSame = at(instance.object, 'status', 'observedGeneration') === generation;
    const wasRunning = isSame && (before === 'Running' || before === 'Degraded');
    const working = ready >= wanted ? 'Running' : wasRunning ? 'Degraded' : 'Starting';
    return {
      phase: wanted === 0 ? 'Stopped' : working,
      readyReplicas: ready,
      endpoint: `${instance.name}.${instance.namespace}.svc:${redis.port}`,
      observedGeneration: generation,
    };
  },
};

const mysql: Engine = {
  kind: 'MySQL',
  by: 'mysql-operator',
  port: 3306,
  dataPath: '/var/lib/mysql',
  image: (instance) => {
    const repository = asString(at(instance, 'spec', 'image', 'repository')) || 'registry.example/library/mysql';
    return `${repository}:${asString(at(instance, 'spec', 'image', 'tag'))}`;
  },
  servers: (instance) => numberAt(instance, 'spec', 'instances'),
  disk: (instance) => ({
    class: asString(at(instance, 'spec', 'storage', 'class')) || 'standard',
    size: at(instance, 'spec', 'storage', 'size'),
  }),
  status: (world, instance, ready) => {
    const wanted = mysql.servers(instance.object);
    const isReady = ready >= wanted;
    const reason = isReady ? 'AllInstancesReady' : 'InstancesNotReady';
    return {
      readyInstances: ready,
      conditions: [conditionOf(world, instance, 'Ready', isReady, reason, `${ready} of ${wanted} instances are ready`)],
      observedGeneration: metadataOf(instance.object).generation ?? 1,
    };
  },
};

export const redisController = (world: World): Controller => instanceController(world, redises, redis);
export const mysqlController = (world: World): Controller => instanceController(world, mysqls, mysql);

/** Creates what the Pods of an instance mention, and its Service. Returns its StatefulSet, which is not created. */
export function prepareInstance(world: World, instance: Stored): JsonObject {
  const engine = instance.storage === redises ? redis : mysql;
  const { name, namespace, object } = instance;
  const owner = world.ownerReference(instance);
  const selector = selectorLabels(name, `${name}-${namespace}`);
  const metadata = { name, namespace, labels: selector, ownerReferences: [owner] };
  ensureBelongings(world, { namespace, name, owner, labels: selector }, engine.by);
  if (!world.get('services', namespace, name)) {
    const ports = [{ name: engine.kind.toLowerCase(), port: engine.port, targetPort: 'http' }];
    world.create('', 'services', { metadata, spec: { selector, clusterIP: 'None', ports } }, engine.by);
  }
  const disk = engine.disk(object);
  const image = engine.image(object);
  const template = appTemplate(world, {
    name,
    instance: `${name}-${namespace}`,
    namespace,
    version: asString(image.split(':').at(-1)),
    image,
    pullSecret,
    dataPath: engine.dataPath,
  });
  return {
    metadata,
    spec: {
      replicas: engine.servers(object),
      serviceName: name,
      selector: { matchLabels: selector },
      template,
      volumeClaimTemplates: dataClaims(disk.class, disk.size),
    },
  };
}

function instanceController(world: World, storage: string, engine: Engine): Controller {
  const { kind, by } = engine;
  return {
    name: kind.toLowerCase(),
    storage,
    watches: { [statefulSets]: ownerKey(kind) },
    reconcile: (instance) => {
      if (isDeleting(instance)) return;
      const { namespace, name } = instance;
      let set = world.get(statefulSets, namespace, name);
      const replicas = engine.servers(instance.object);
      if (!set) {
        set = world.create('apps', 'statefulsets', prepareInstance(world, instance), by);
        world.emit(instance, 'Normal', 'Created', `Created StatefulSet ${name}`, by);
      } else if (numberAt(set.object, 'spec', 'replicas') !== replicas) {
        world.patchSpec(set, { replicas }, by);
        world.emit(instance, 'Normal', 'Scaled', `Scaled StatefulSet ${name} to ${replicas}`, by);
      }
      const ready = Math.min(numberAt(set.object, 'status', 'readyReplicas'), replicas);
      world.setStatus(instance, engine.status(world, instance, ready), by);
    },
  };
}
