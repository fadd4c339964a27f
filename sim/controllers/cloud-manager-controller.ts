/** The controller of CloudManagers. Each has two Deployments and a StatefulSet by the names and images in its spec, Services and a Secret. */
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { appTemplate, dataClaims, deploymentOf, selectorLabels } from '../sample/app-catalog.ts';
import type { Controller } from '../world/controller-loop.ts';
import { isDeleting, numberAt, type World } from '../world/world.ts';
import { ensureBelongings, freeClusterIp, pullSecret } from './belongings.ts';
import { deployments, ownerKey, statefulSets } from './workload-controllers.ts';

export const cloudManagers = 'cloudmanagers.cloud.portolan.example';
const by = 'cloud-manager-operator';

interface Part {
  readonly role: 'front' | 'identity' | 'db';
  readonly storage: typeof deployments | typeof statefulSets;
  readonly name: string;
  readonly image: string;
}

/** The parts that the spec names. */
function partsOf({ object }: Stored): readonly Part[] {
  const part = (role: Part['role'], workload: 'deployment' | 'statefulSet'): Part => {
    const { name, image } = asObject(at(object, 'spec', role, workload));
    const storage = workload === 'deployment' ? deployments : statefulSets;
    return { role, storage, name: asString(name), image: asString(image) };
  };
  return [part('front', 'deployment'), part('identity', 'deployment'), part('db', 'statefulSet')];
}

/** The Deployment or StatefulSet of a part. */
function workloadOf(world: World, manager: Stored, part: Part): JsonObject {
  const { role, name, image } = part;
  const { namespace } = manager;
  const owner = world.ownerReference(manager);
  const application = `cloud-manager-${role}`;
  const selector = selectorLabels(application, manager.name);
  const template = appTemplate(world, {
    name: application,
    instance: manager.name,
    namespace,
    version: asString(image.split(':').at(-1)),
    image,
    extraLabels: { 'cloud.portolan.example/manager': manager.name },
    pullSecret,
    ...(role === 'db' ? { dataPath: '/var/lib/db' } : {}),
  });
  if (role !== 'db') return deploymentOf({ name, namespace, replicas: 2, template, selector, owner });
  const storage = asObject(at(manager.object, 'spec', 'db', 'statefulSet', 'storage'));
  const claims = dataClaims(asString(storage.class) || 'standard', storage.size, asArray(storage.accessModes));
  return {
    metadata: { name, namespace, labels: selector, ownerReferences: [owner] },
    spec: {
      replicas: 1,
      serviceName: name,
      selector: { matchLabels: selector },
      template,
      volumeClaimTemplates: claims,
    },
  };
}

/** Creates what is missing. `create` creates a workload. Returns whether one was missing. */
export function ensureCloudManagerParts(
  world: World,
  manager: Stored,
  create: (storage: string, workload: JsonObject) => void,
): boolean {
  const { name, namespace } = manager;
  const ownerReferences = [world.ownerReference(manager)];
  const ensure = (plural: string, object: JsonObject): void => {
    if (!world.get(plural, namespace, asString(at(object, 'metadata', 'name')))) world.create('', plural, object, by);
  };
  ensure('secrets', {
    metadata: { name: `${name}-credentials`, namespace, ownerReferences },
    type: 'Opaque',
    stringData: { username: name, password: `not-a-secret-${name}` },
  });
  let wasMissing = false;
  for (const part of partsOf(manager)) {
    const labels = selectorLabels(`cloud-manager-${part.role}`, name);
    ensureBelongings(world, { namespace, name: `cloud-manager-${part.role}` }, by);
    ensure('services', {
      metadata: { name: part.name, namespace, labels, ownerReferences },
      spec: {
        selector: labels,
        ports: [{ name: 'http', port: 8443, targetPort: 'http' }],
        clusterIP: part.role === 'db' ? 'None' : freeClusterIp(world),
      },
    });
    if (world.get(part.storage, namespace, part.name)) continue;
    create(part.storage, workloadOf(world, manager, part));
    wasMissing = true;
  }
  return wasMissing;
}

export function cloudManagerController(world: World): Controller {
  const owned = ownerKey('CloudManager');
  return {
    name: 'cloudmanager',
    storage: cloudManagers,
    watches: { [deployments]: owned, [statefulSets]: owned },
    reconcile: (manager) => {
      if (isDeleting(manager)) return;
      const create = (storage: string, workload: JsonObject): void => {
        world.create('apps', storage === deployments ? 'deployments' : 'statefulsets', workload, by);
      };
      if (ensureCloudManagerParts(world, manager, create))
        world.emit(manager, 'Normal', 'Provisioning', 'Creating the parts of the control plane', by);
      for (const part of partsOf(manager)) rollOut(world, manager, part);
      const status = statusOf(world, manager);
      const phase = asString(at(manager.object, 'status', 'phase'));
      if (phase !== '' && phase !== status.phase)
        world.emit(
          manager,
          status.phase === 'Degraded' ? 'Warning' : 'Normal',
          asString(status.phase),
          asString(status.message) || 'All parts are ready',
          by,
        );
      world.setStatus(manager, status, by);
    },
  };
}

/** Gives a Deployment the image of the spec. */
function rollOut(world: World, manager: Stored, { storage, name, image }: Part): void {
  const workload = world.get(storage, manager.namespace, name);
  if (!workload || storage === statefulSets) return;
  const template = asObject(at(workload.object, 'spec', 'template'));
  const spec = asObject(template.spec);
  const [main = {}, ...others] = asArray(spec.containers).filter(isObject);
  if (main.image === image) return;
  const containers = [{ ...main, image }, ...others];
  world.patchSpec(workload, { template: { ...template, spec: { ...spec, containers } } }, by);
}

function statusOf(world: World, manager: Stored): JsonObject {
  const parts = partsOf(manager).map(({ storage, name }) => {
    const object = world.get(storage, manager.namespace, name)?.object ?? {};
    const wanted = numberAt(object, 'spec', 'replicas');
    const ready = numberAt(object, 'status', 'readyReplicas');
    const kind = storage === deployments ? 'Deployment' : 'StatefulSet';
    const isNew = numberAt(object, 'status', 'updatedReplicas') < wanted;
    return { told: `${ready} of ${wanted} Pods of ${kind} ${name} are ready`, isReady: ready >= wanted, ready, isNew };
  });
  const late = parts.filter(({ isReady }) => !isReady);
  const before = asString(at(manager.object, 'status', 'phase'));
  const wasRunning = before !== '' && before !== 'Pending' && before !== 'Provisioning';
  const isStarted = parts.some(({ ready }) => ready > 0);
  const starting = isStarted ? 'Provisioning' : 'Pending';
  const troubled = late.some(({ isNew }) => isNew) ? 'Updating' : 'Degraded';
  const phase = late.length === 0 ? 'Running' : wasRunning ? troubled : starting;
  return { phase, ...(late.length === 0 ? {} : { message: late.map(({ told }) => told).join('; ') }) };
}
