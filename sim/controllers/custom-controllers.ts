/** Controllers of custom kinds of the demo world: Foo, Project and Plugin. */

import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { quantityOf, quantityText } from '../resources/quantity.ts';
import { metadataOf } from '../resources/served-resource.ts';
import { appTemplate, deploymentOf } from '../sample/app-catalog.ts';
import { platformGroup } from '../sample/platform-crds.ts';
import { conditionOf } from '../world/conditions.ts';
import type { Controller } from '../world/controller-loop.ts';
import { controllerOf, isDeleting, numberAt, type World } from '../world/world.ts';
import { ensureBelongings, pullSecret } from './belongings.ts';
import { quotas } from './quota-controller.ts';
import { deployments, ownerKey } from './workload-controllers.ts';

export const foos = 'foos.samplecontroller.k8s.io';
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
