/** Controllers of the demo world's custom kinds: Foo, CloudManager, Project and Plugin. */

import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { metadataOf } from '../resources/served-resource.ts';
import { appTemplate, deploymentOf, selectorLabels } from '../sample/app-catalog.ts';
import { platformGroup } from '../sample/platform-crds.ts';
import type { Controller } from './controller-loop.ts';
import { deployments, ownerKey, statefulSets } from './workload-controllers.ts';
import { isDeleting, numberAt, type World } from './world.ts';

export const foos = 'foos.samplecontroller.k8s.io';
export const cloudManagers = 'cloudmanagers.cloud.portolan.example';
export const plugins = `plugins.${platformGroup}`;
export const projects = `projects.${platformGroup}`;

/** A condition. It keeps its transition time while its status is unchanged. */
export function conditionOf(
  world: World,
  stored: Stored,
  type: string,
  ok: boolean,
  reason: string,
  message: string,
): JsonObject {
  const status = ok ? 'True' : 'False';
  const known = asArray(at(stored.object, 'status', 'conditions'))
    .filter(isObject)
    .find((item) => item.type === type);
  return {
    type,
    status,
    reason,
    message,
    lastTransitionTime: known?.status === status ? known.lastTransitionTime : world.nowText(),
    observedGeneration: metadataOf(stored.object).generation ?? 1,
  };
}

/** The Deployment that a Foo declares. */
export function fooDeployment(world: World, foo: Stored): JsonObject {
  const name = asString(at(foo.object, 'spec', 'deploymentName'));
  const selector = { app: 'nginx', controller: foo.name };
  const template = appTemplate(world, {
    name: 'nginx',
    instance: foo.name,
    namespace: foo.namespace,
    version: '1.27.3',
    image: 'registry.example/library/nginx:1.27.3',
    extraLabels: selector,
  });
  const replicas = numberAt(foo.object, 'spec', 'replicas');
  return deploymentOf({
    name,
    namespace: foo.namespace,
    replicas,
    template,
    selector,
    owner: world.ownerReference(foo),
  });
}

export function fooController(world: World): Controller {
  return {
    name: 'foo',
    storage: foos,
    watches: { [deployments]: ownerKey('Foo') },
    reconcile: (foo) => {
      if (isDeleting(foo)) return;
      const name = asString(at(foo.object, 'spec', 'deploymentName'));
      const wanted = numberAt(foo.object, 'spec', 'replicas');
      let deployment = world.get(deployments, foo.namespace, name);
      if (!deployment) {
        deployment = world.create('apps', 'deployments', fooDeployment(world, foo), 'sample-controller');
        world.emit(foo, 'Normal', 'Synced', 'Foo synced successfully', 'sample-controller');
      } else if (numberAt(deployment.object, 'spec', 'replicas') !== wanted) {
        world.patchSpec(deployment, { replicas: wanted }, 'sample-controller');
      }
      const available = numberAt(deployment.object, 'status', 'availableReplicas');
      world.setStatus(foo, { availableReplicas: available }, 'sample-controller');
    },
  };
}

/** The parts of a CloudManager by role: two Deployments and a StatefulSet. */
export function cloudManagerParts(
  world: World,
  manager: Stored,
): { api: JsonObject; worker: JsonObject; db: JsonObject; secret: JsonObject } {
  const { name, namespace } = manager;
  const owner = world.ownerReference(manager);
  const version = asString(at(manager.object, 'spec', 'version'));
  const replicas = numberAt(manager.object, 'spec', 'replicas') || 2;
  const part = (role: string): { selector: JsonObject; template: JsonObject } => {
    const selector = selectorLabels(`cloud-manager-${role}`, name);
    const template = appTemplate(world, {
      name: `cloud-manager-${role}`,
      instance: name,
      namespace: 'cloud',
      version,
      extraLabels: { 'cloud.portolan.example/manager': name },
    });
    return { selector, template };
  };
  const db = part('db');
  return {
    api: deploymentOf({ name: `${name}-api`, namespace, replicas, owner, ...part('api') }),
    worker: deploymentOf({ name: `${name}-worker`, namespace, replicas, owner, ...part('worker') }),
    db: {
      metadata: { name: `${name}-db`, namespace, labels: db.selector, ownerReferences: [owner] },
      spec: {
        replicas: numberAt(manager.object, 'spec', 'database', 'instances') || 3,
        serviceName: `${name}-db`,
        selector: { matchLabels: db.selector },
        template: db.template,
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'fast',
              resources: { requests: { storage: at(manager.object, 'spec', 'database', 'storage') ?? '20Gi' } },
            },
          },
        ],
      },
    },
    secret: {
      metadata: { name: `${name}-credentials`, namespace, ownerReferences: [owner] },
      type: 'Opaque',
      stringData: { username: name, password: `not-a-secret-${name}` },
    },
  };
}

export function cloudManagerController(world: World): Controller {
  const by = 'cloud-manager-operator';
  const owned = ownerKey('CloudManager');
  return {
    name: 'cloudmanager',
    storage: cloudManagers,
    watches: { [deployments]: owned, [statefulSets]: owned },
    reconcile: (manager) => {
      if (isDeleting(manager)) return;
      const { name, namespace } = manager;
      const existing = (): (Stored | undefined)[] => [
        world.get(deployments, namespace, `${name}-api`),
        world.get(deployments, namespace, `${name}-worker`),
        world.get(statefulSets, namespace, `${name}-db`),
      ];
      if (existing().some((part) => part === undefined) || !world.get('secrets', namespace, `${name}-credentials`)) {
        const parts = cloudManagerParts(world, manager);
        const [api, worker, db] = existing();
        if (!world.get('secrets', namespace, `${name}-credentials`)) world.create('', 'secrets', parts.secret, by);
        if (!api) world.create('apps', 'deployments', parts.api, by);
        if (!worker) world.create('apps', 'deployments', parts.worker, by);
        if (!db) world.create('apps', 'statefulsets', parts.db, by);
        world.emit(manager, 'Normal', 'Provisioning', 'Creating the parts of the control plane', by);
      }
      const wanted = numberAt(manager.object, 'spec', 'replicas') || 2;
      const parts = existing().filter((part) => part !== undefined);
      for (const part of parts.slice(0, 2)) {
        if (numberAt(part.object, 'spec', 'replicas') !== wanted) world.patchSpec(part, { replicas: wanted }, by);
      }
      world.setStatus(manager, cloudManagerStatus(world, manager, parts), by);
    },
  };
}

/** The status of a CloudManager, computed from its parts. */
export function cloudManagerStatus(world: World, manager: Stored, parts: readonly Stored[]): JsonObject {
  const components = parts.map((part) => ({
    name: part.name,
    kind: part.storage === statefulSets ? 'StatefulSet' : 'Deployment',
    ready: numberAt(part.object, 'status', 'readyReplicas') >= numberAt(part.object, 'spec', 'replicas'),
  }));
  const ready = components.length === 3 && components.every((part) => part.ready);
  const some = parts.some((part) => numberAt(part.object, 'status', 'readyReplicas') > 0);
  const before = asObject(manager.object.status);
  const wasRunning = before.phase === 'Running' || before.phase === 'Degraded';
  const phase = ready ? 'Running' : wasRunning ? 'Degraded' : some ? 'Provisioning' : 'Pending';
  return {
    ...before,
    phase,
    replicas: parts.reduce((total, part) => total + numberAt(part.object, 'status', 'readyReplicas'), 0),
    endpoint: `https://${manager.name}.${manager.namespace}.svc:8443`,
    secretName: `${manager.name}-credentials`,
    observedGeneration: metadataOf(manager.object).generation ?? 1,
    components,
    conditions: [
      conditionOf(
        world,
        manager,
        'Ready',
        ready,
        ready ? 'AllPartsReady' : 'PartsNotReady',
        ready ? 'all parts are ready' : 'some parts are not ready',
      ),
      conditionOf(world, manager, 'Synced', true, 'CloudRead', 'the cloud was read'),
    ],
  };
}

/** Sets a new or changed Plugin to Ready, and counts the plugins in its Project. */
export function pluginController(world: World): Controller {
  const by = 'platform-operator';
  return {
    name: 'plugin',
    storage: plugins,
    reconcile: (plugin) => {
      if (isDeleting(plugin)) return;
      const generation = metadataOf(plugin.object).generation ?? 1;
      const status = asObject(plugin.object.status);
      if (status.observedGeneration === generation && status.phase !== 'Installing') return;
      const installing = status.observedGeneration !== generation;
      const version = asString(at(plugin.object, 'spec', 'version'));
      const enabled = at(plugin.object, 'spec', 'enabled') !== false;
      world.setStatus(
        plugin,
        {
          ...status,
          phase: installing ? (status.phase === 'Ready' ? 'Upgrading' : 'Installing') : 'Ready',
          message: installing ? 'the template is being rendered' : 'installed',
          installedVersion: installing ? (status.installedVersion ?? '') : version,
          installedAt: installing ? (status.installedAt ?? null) : world.nowText(),
          observedGeneration: generation,
          conditions: [
            conditionOf(
              world,
              plugin,
              'Ready',
              !installing && enabled,
              installing ? 'Installing' : 'Installed',
              'see message',
            ),
          ],
        },
        by,
      );
      const project = world.get(projects, '', asString(at(plugin.object, 'spec', 'projectRef', 'name')));
      if (project) countPlugins(world, project, by);
    },
  };
}

function countPlugins(world: World, project: Stored, by: string): void {
  const count = world
    .list(plugins)
    .filter((item) => at(item.object, 'spec', 'projectRef', 'name') === project.name).length;
  world.setStatus(project, { ...asObject(project.object.status), pluginCount: count }, by);
}
