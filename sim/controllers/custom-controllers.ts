/** Controllers of the demo world's custom kinds: Foo, CloudManager, Project and Plugin. */

import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { quantityOf, quantityText } from '../resources/quantity.ts';
import { metadataOf } from '../resources/served-resource.ts';
import { appTemplate, dataClaims, deploymentOf, selectorLabels } from '../sample/app-catalog.ts';
import { platformGroup } from '../sample/platform-crds.ts';
import { conditionOf } from '../world/conditions.ts';
import type { Controller } from '../world/controller-loop.ts';
import { controllerOf, isDeleting, numberAt, type World } from '../world/world.ts';
import { ensureBelongings, freeClusterIp, pullSecret } from './belongings.ts';
import { quotas } from './quota-controller.ts';
import { deployments, ownerKey, statefulSets } from './workload-controllers.ts';

export const foos = 'foos.samplecontroller.k8s.io';
export const cloudManagers = 'cloudmanagers.cloud.portolan.example';
export const plugins = `plugins.${platformGroup}`;
export const projects = `projects.${platformGroup}`;

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
    pullSecret,
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
        ensureBelongings(world, { namespace: foo.namespace, name: 'nginx' }, 'sample-controller');
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

interface CloudManagerParts {
  readonly api: JsonObject;
  readonly worker: JsonObject;
  readonly db: JsonObject;
  readonly secret: JsonObject;
  /** Of the API and, headless, of the database. */
  readonly services: readonly JsonObject[];
}

/** The parts of a CloudManager by role: two Deployments, a StatefulSet, their Services and a Secret. */
export function cloudManagerParts(world: World, manager: Stored): CloudManagerParts {
  const { name, namespace } = manager;
  const owner = world.ownerReference(manager);
  const version = asString(at(manager.object, 'spec', 'version'));
  const replicas = numberAt(manager.object, 'spec', 'replicas') || 2;
  const part = (role: string, dataPath?: string): { selector: JsonObject; template: JsonObject } => {
    const selector = selectorLabels(`cloud-manager-${role}`, name);
    const template = appTemplate(world, {
      name: `cloud-manager-${role}`,
      instance: name,
      namespace: 'cloud',
      version,
      extraLabels: { 'cloud.portolan.example/manager': name },
      pullSecret,
      ...(dataPath === undefined ? {} : { dataPath }),
    });
    return { selector, template };
  };
  const db = part('db', '/var/lib/db');
  const service = (role: string, selector: JsonObject, more: JsonObject): JsonObject => ({
    metadata: { name: `${name}-${role}`, namespace, labels: selector, ownerReferences: [owner] },
    spec: { selector, ports: [{ name: 'http', port: 8443, targetPort: 'http' }], ...more },
  });
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
        volumeClaimTemplates: dataClaims('fast', at(manager.object, 'spec', 'database', 'storage') ?? '20Gi'),
      },
    },
    secret: {
      metadata: { name: `${name}-credentials`, namespace, ownerReferences: [owner] },
      type: 'Opaque',
      stringData: { username: name, password: `not-a-secret-${name}` },
    },
    services: [
      service('api', selectorLabels('cloud-manager-api', name), { clusterIP: freeClusterIp(world) }),
      service('db', db.selector, { clusterIP: 'None' }),
    ],
  };
}

/** Creates the Secret and the Services of a CloudManager, and what its Pods mention, where they are missing. */
export function ensureCloudManagerBase(world: World, manager: Stored, parts: CloudManagerParts, by: string): void {
  const { namespace } = manager;
  for (const role of ['api', 'worker', 'db']) ensureBelongings(world, { namespace, name: `cloud-manager-${role}` }, by);
  const ensure = (plural: string, object: JsonObject): void => {
    if (!world.get(plural, namespace, asString(at(object, 'metadata', 'name')))) world.create('', plural, object, by);
  };
  ensure('secrets', parts.secret);
  for (const service of parts.services) ensure('services', service);
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
        ensureCloudManagerBase(world, manager, parts, by);
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

/** The name of the ResourceQuota that a Project has in each of its namespaces. */
const projectQuota = 'project';
const quotaNames: readonly (readonly [ofProject: string, ofQuota: string])[] = [
  ['cpu', 'requests.cpu'],
  ['memory', 'requests.memory'],
  ['pods', 'pods'],
  ['requests.storage', 'requests.storage'],
];

/** The bounds of a Project as a ResourceQuota has them. */
function hardOf(project: Stored): JsonObject {
  const bounds = asObject(at(project.object, 'spec', 'quota'));
  const named = quotaNames.filter(([own]) => bounds[own] !== undefined);
  return Object.fromEntries(named.map(([own, name]) => [name, String(bounds[own])]));
}

/** Keeps a ResourceQuota in each namespace of a Project, and tells in the Project what the namespaces use together. */
export function projectController(world: World): Controller {
  const by = 'platform-operator';
  return {
    name: 'project',
    storage: projects,
    watches: {
      [quotas]: ({ stored }) => {
        const owner = controllerOf(stored);
        return owner?.kind === 'Project' ? `/${asString(owner.name)}` : undefined;
      },
    },
    reconcile: (project) => {
      if (isDeleting(project)) return;
      const hard = hardOf(project);
      const used = new Map<string, number>();
      for (const namespace of asArray(at(project.object, 'spec', 'namespaces')).map(asString)) {
        if (!world.get('namespaces', '', namespace)) continue;
        const metadata = { name: projectQuota, namespace, ownerReferences: [world.ownerReference(project)] };
        const known = world.get(quotas, namespace, projectQuota);
        const quota = known
          ? world.patchSpec(known, { hard }, by)
          : world.create('', quotas, { metadata, spec: { hard } }, by);
        for (const [own, name] of quotaNames) {
          const amount = quantityOf(at(quota?.object, 'status', 'used', name) ?? '0');
          if (hard[name] !== undefined) used.set(own, (used.get(own) ?? 0) + amount);
        }
      }
      const binary = /memory|storage/;
      const usage = Object.fromEntries(
        [...used].map(([own, amount]) => [own, quantityText(amount, binary.test(own) ? 'binary' : 'decimal')]),
      );
      const suspended = at(project.object, 'spec', 'suspended') === true;
      const reason = suspended ? 'Suspended' : 'NamespacesReady';
      const status = {
        ...asObject(project.object.status),
        phase: suspended ? 'Suspended' : 'Active',
        usage,
        observedGeneration: metadataOf(project.object).generation ?? 1,
        conditions: [conditionOf(world, project, 'Ready', !suspended, reason, 'see phase')],
      };
      world.setStatus(project, status, by);
    },
  };
}
