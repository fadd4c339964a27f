/** ResourceQuotas: what a namespace uses, and whether one more Pod fits. */
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { StoreEvent } from '../objects/object-store.ts';
import { quantityOf, quantityText } from '../resources/quantity.ts';
import type { Controller } from '../world/controller-loop.ts';
import { type PodResources, podResources, takesSpace } from '../world/pod-resources.ts';
import { isDeleting, type World } from '../world/world.ts';

export const quotas = 'resourcequotas';

type Used = ReadonlyMap<string, number>;

/** Storages that quotas count by object, as `count/deployments.apps` or by a name of their own. */
const counted: Readonly<Record<string, string>> = {
  services: 'services',
  secrets: 'secrets',
  configmaps: 'configmaps',
  persistentvolumeclaims: 'persistentvolumeclaims',
  'count/deployments.apps': 'deployments.apps',
  'count/jobs.batch': 'jobs.batch',
};

/** By resource of a quota: what a Pod adds to it. */
const ofPod: Readonly<Record<string, (pod: PodResources) => number>> = {
  pods: () => 1000,
  'requests.cpu': ({ cpu }) => cpu,
  'requests.memory': ({ memory }) => memory,
  'limits.cpu': ({ cpuLimit }) => cpuLimit,
  'limits.memory': ({ memoryLimit }) => memoryLimit,
};

/** What a namespace uses of the resources of a quota, in thousandths. */
export function usedIn(world: World, namespace: string, names: readonly string[]): Used {
  const pods = world
    .list('pods', namespace)
    .filter(({ object }) => takesSpace(object))
    .map(({ object }) => podResources(asObject(object.spec)));
  return new Map(
    names.map((name) => {
      const each = ofPod[name];
      if (each) return [name, pods.reduce((sum, pod) => sum + each(pod), 0)];
      if (name === 'requests.storage') return [name, storageIn(world, namespace)];
      const storage = counted[name];
      return [name, storage === undefined ? 0 : world.list(storage, namespace).length * 1000];
    }),
  );
}

function storageIn(world: World, namespace: string): number {
  return world
    .list('persistentvolumeclaims', namespace)
    .reduce((sum, { object }) => sum + quantityOf(at(object, 'spec', 'resources', 'requests', 'storage')), 0);
}

/** Used amounts as a quota reports them. */
function usedTexts(used: Used): JsonObject {
  const binary = /memory$|storage$/;
  return Object.fromEntries(
    [...used].map(([name, amount]) => [name, quantityText(amount, binary.test(name) ? 'binary' : 'decimal')]),
  );
}

/** Why the quotas of a namespace do not admit another Pod with this spec, as the API server says it. */
export function quotaRefusal(world: World, namespace: string, name: string, spec: JsonObject): string | undefined {
  const pod = podResources(spec);
  const wanted = new Map(Object.entries(ofPod).map(([resource, of]) => [resource, of(pod)]));
  for (const quota of world.list(quotas, namespace)) {
    const hard = asObject(at(quota.object, 'spec', 'hard'));
    const names = Object.keys(hard).filter((resource) => wanted.has(resource));
    const used = usedIn(world, namespace, names);
    const over = names.filter(
      (resource) => (used.get(resource) ?? 0) + (wanted.get(resource) ?? 0) > quantityOf(hard[resource]),
    );
    if (over.length === 0) continue;
    const told = (amounts: JsonObject): string =>
      over.map((resource) => `${resource}=${asString(amounts[resource])}`).join(',');
    return `pods "${name}" is forbidden: exceeded quota: ${quota.name}, requested: ${told(usedTexts(wanted))}, used: ${told(usedTexts(used))}, limited: ${told(hard)}`;
  }
  return undefined;
}

/** Whether the quotas of a namespace admit no claims of so much more storage, in thousandths of bytes. */
export function refusesStorage(world: World, namespace: string, more: number): boolean {
  return world.list(quotas, namespace).some((quota) => {
    const bound = at(quota.object, 'spec', 'hard', 'requests.storage');
    return bound !== undefined && storageIn(world, namespace) + more > quantityOf(bound);
  });
}

export function quotaController(world: World): Controller {
  const inNamespace = ({ stored }: StoreEvent): readonly string[] =>
    world.list(quotas, stored.namespace).map(({ key }) => key);
  return {
    name: 'resourcequota',
    storage: quotas,
    watches: Object.fromEntries(['pods', ...Object.values(counted)].map((storage) => [storage, inNamespace])),
    reconcile: (quota) => {
      if (isDeleting(quota)) return;
      const hard = asObject(at(quota.object, 'spec', 'hard'));
      const used = usedTexts(usedIn(world, quota.namespace, Object.keys(hard)));
      world.setStatus(quota, { hard, used }, 'kube-controller-manager');
    },
  };
}
