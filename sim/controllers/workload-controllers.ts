/**
 * Minimal Deployment, ReplicaSet and StatefulSet controllers. They do rolling updates, scale, replace lost pods, remove ReplicaSets
 * beyond the history of a Deployment, and keep the statuses accurate. A quota may refuse a pod; the ReplicaSet says so and tries again
 * when the quota changes.
 */

import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import { metadataOf } from '../resources/served-resource.ts';
import type { Controller } from '../world/controller-loop.ts';
import { podSpecOf, templateHash } from '../world/pod-maker.ts';
import { controllerOf, hasCondition, isDeleting, numberAt, type World } from '../world/world.ts';
import { claimsOfPod, missingStorage } from './claim-controllers.ts';
import { createPod } from './created-pod.ts';
import { quotaRefusal, quotas, refusesStorage } from './quota-controller.ts';

const manager = 'kube-controller-manager';
const replicaSets = 'replicasets.apps';
const revisionKey = 'deployment.kubernetes.io/revision';
export const deployments = 'deployments.apps';
export const statefulSets = 'statefulsets.apps';

/** Maps an event of a dependent to the key of its owner of this kind. */
export function ownerKey(kind: string): (event: StoreEvent) => string | undefined {
  return ({ stored }) => {
    const owner = controllerOf(stored);
    return owner?.kind === kind ? `${stored.namespace}/${asString(owner.name)}` : undefined;
  };
}

/** The objects of a storage that an owner controls. */
export function dependentsOf(world: World, owner: Stored, storage: string): Stored[] {
  return world.list(storage, owner.namespace).filter((stored) => controllerOf(stored)?.uid === owner.uid);
}

/** Whether a pod counts as a replica: neither being deleted nor ended. */
export function isActive(pod: Stored): boolean {
  const phase = at(pod.object, 'status', 'phase');
  return !isDeleting(pod) && phase !== 'Failed' && phase !== 'Succeeded';
}

function isReady(pod: Stored): boolean {
  return isActive(pod) && hasCondition(pod.object, 'Ready');
}

function deploymentConditions(world: World, deployment: Stored, available: boolean, complete: boolean): JsonObject[] {
  const known = at(deployment.object, 'status', 'conditions');
  const condition = (type: string, ok: boolean, reason: string, message: string): JsonObject => {
    const old = (Array.isArray(known) ? known : []).map(asObject).find((item) => item.type === type);
    const status = ok ? 'True' : 'False';
    if (old?.status === status && old.reason === reason) return old;
    const now = world.nowText();
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return { type, status, lastUpdateTime: now, lastTransitionTime, reason, message };
  };
  return [
    condition(
      'Available',
      available,
      available ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      available ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
    ),
    condition(
      'Progressing',
      true,
      complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
      complete ? 'ReplicaSet has successfully progressed.' : 'ReplicaSet is progressing.',
    ),
  ];
}

export function deploymentController(world: World): Controller {
  return {
    name: 'deployment',
    storage: deployments,
    watches: { [replicaSets]: ownerKey('Deployment') },
    reconcile: (deployment) => {
      if (isDeleting(deployment)) return;
      const spec = asObject(deployment.object.spec);
      const template = asObject(spec.template);
      const wanted = numberAt(deployment.object, 'spec', 'replicas');
      const hash = templateHash(template);
      const all = dependentsOf(world, deployment, replicaSets);
      const name = `${deployment.name}-${hash}`;
      let current = all.find((set) => set.name === name);
      const newest = Math.max(0, ...all.filter((set) => set.name !== name).map(revisionOf));
      // A set that is current again is the newest revision.
      const revision = Math.max(newest + 1, current === undefined ? 0 : revisionOf(current));
      if (current) current = world.annotate(current, { [revisionKey]: String(revision) }, manager) ?? current;
      else {
        const labels = { ...asObject(asObject(template.metadata).labels), 'pod-template-hash': hash };
        current = world.create(
          'apps',
          'replicasets',
          {
            metadata: {
              name,
              namespace: deployment.namespace,
              labels,
              annotations: { [revisionKey]: String(revision) },
              ownerReferences: [world.ownerReference(deployment)],
            },
            spec: {
              replicas: all.length === 0 ? wanted : 0,
              selector: { matchLabels: labels },
              template: { ...template, metadata: { ...asObject(template.metadata), labels } },
            },
          },
          manager,
        );
        world.emit(
          deployment,
          'Normal',
          'ScalingReplicaSet',
          `Scaled up replica set ${name} from 0 to ${wanted}`,
          'deployment-controller',
        );
      }
      const old = all.filter((set) => set.name !== name && numberAt(set.object, 'spec', 'replicas') > 0);
      roll(world, current, old, wanted);
      const sets = [current, ...old].map((set) => world.get(replicaSets, set.namespace, set.name) ?? set);
      const sum = (field: string): number =>
        sets.reduce((total, set) => total + numberAt(set.object, 'status', field), 0);
      const available = sum('availableReplicas');
      const updated = numberAt(sets[0]?.object ?? {}, 'status', 'replicas');
      const status: JsonObject = {
        observedGeneration: metadataOf(deployment.object).generation ?? 1,
        replicas: sum('replicas'),
        updatedReplicas: updated,
        readyReplicas: sum('readyReplicas'),
        availableReplicas: available,
        unavailableReplicas: Math.max(0, wanted - available),
        conditions: deploymentConditions(
          world,
          deployment,
          available >= Math.ceil(wanted * 0.75),
          updated >= wanted && available >= wanted,
        ),
      };
      for (const field of [
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'unavailableReplicas',
      ]) {
        if (status[field] === 0) delete status[field];
      }
      world.annotate(deployment, { [revisionKey]: String(revision) }, manager);
      world.setStatus(deployment, status, manager);
      const limit = at(deployment.object, 'spec', 'revisionHistoryLimit') ?? 10;
      const ended = all
        .filter((set) => set.name !== name && numberAt(set.object, 'spec', 'replicas') === 0 && !isDeleting(set))
        .filter((set) => numberAt(set.object, 'status', 'replicas') === 0)
        .sort((a, b) => revisionOf(b) - revisionOf(a));
      for (const set of ended.slice(Number(limit))) world.delete(set);
    },
  };
}

/** The revision of a Deployment that a ReplicaSet is. */
function revisionOf(set: Stored): number {
  return Number(at(set.object, 'metadata', 'annotations', revisionKey) ?? 0);
}

/** One step of a rolling update: at most a quarter more or fewer pods than wanted. */
function roll(world: World, current: Stored, old: readonly Stored[], wanted: number): void {
  const have = numberAt(current.object, 'spec', 'replicas');
  if (old.length === 0) {
    if (have !== wanted) world.patchSpec(current, { replicas: wanted }, manager);
    return;
  }
  const surge = Math.ceil(wanted * 0.25);
  const oldCount = old.reduce((total, set) => total + numberAt(set.object, 'spec', 'replicas'), 0);
  const target = Math.min(wanted, Math.max(have, wanted + surge - oldCount));
  if (target !== have) world.patchSpec(current, { replicas: target }, manager);
  const available = numberAt(current.object, 'status', 'availableReplicas');
  let excess = oldCount + available - Math.floor(wanted * 0.75 + 0.999);
  if (available >= wanted) excess = oldCount;
  for (const set of old) {
    const replicas = numberAt(set.object, 'spec', 'replicas');
    const drop = Math.min(replicas, Math.max(0, excess));
    if (drop > 0) world.patchSpec(set, { replicas: replicas - drop }, manager);
    excess -= drop;
  }
}

export function replicaSetController(world: World): Controller {
  return {
    name: 'replicaset',
    storage: replicaSets,
    watches: {
      pods: ownerKey('ReplicaSet'),
      [quotas]: ({ stored }) =>
        world
          .list(replicaSets, stored.namespace)
          .filter((set) => hasCondition(set.object, 'ReplicaFailure'))
          .map(({ key }) => key),
    },
    reconcile: (set) => {
      const wanted = isDeleting(set) ? 0 : numberAt(set.object, 'spec', 'replicas');
      const pods = dependentsOf(world, set, 'pods').filter(isActive);
      const template = asObject(asObject(set.object.spec).template);
      const spec = podSpecOf(world, template, undefined);
      let refused: string | undefined;
      for (let i = pods.length; i < wanted; i++) {
        refused = createPod(world, set, { template, spec, manager, component: 'replicaset-controller' });
        if (refused !== undefined) break;
      }
      const surplus = [...pods].sort((a, b) => Number(isReady(a)) - Number(isReady(b)) || b.revision - a.revision);
      for (const pod of surplus.slice(0, Math.max(0, pods.length - wanted))) {
        world.emit(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.name}`, 'replicaset-controller');
        world.delete(pod);
      }
      const left = dependentsOf(world, set, 'pods').filter(isActive);
      const ready = left.filter(isReady).length;
      if (refused !== undefined && !hasCondition(set.object, 'ReplicaFailure'))
        world.emit(set, 'Warning', 'FailedCreate', `Error creating: ${refused}`, 'replicaset-controller');
      world.setStatus(
        set,
        {
          ...(refused === undefined ? {} : { conditions: [failureCondition(world, set, refused)] }),
          replicas: left.length,
          ...(left.length > 0 ? { fullyLabeledReplicas: left.length } : {}),
          ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
          observedGeneration: metadataOf(set.object).generation ?? 1,
        },
        manager,
      );
    },
  };
}

function failureCondition(world: World, set: Stored, message: string): JsonObject {
  const [known] = asArray(at(set.object, 'status', 'conditions')).filter(isObject);
  const lastTransitionTime = known?.lastTransitionTime ?? world.nowText();
  return { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', lastTransitionTime, message };
}

/** The spec of a Pod of a StatefulSet: with its name, and with a volume for each of its claims. */
export function statefulPodSpec(
  world: World,
  set: Stored,
  name: string,
  claims: ReadonlyMap<string, Stored>,
): JsonObject {
  const spec = podSpecOf(world, asObject(asObject(set.object.spec).template), undefined);
  const volumes = [...claims].map(([volume, claim]) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claim.name },
  }));
  return {
    ...spec,
    hostname: name,
    subdomain: asString(at(set.object, 'spec', 'serviceName')),
    volumes: [...volumes, ...asArray(spec.volumes).filter((item) => !claims.has(asString(asObject(item).name)))],
  };
}

export function statefulSetController(world: World): Controller {
  return {
    name: 'statefulset',
    storage: statefulSets,
    watches: { pods: ownerKey('StatefulSet'), [quotas]: ({ stored }) => waiting(world, stored.namespace) },
    reconcile: (set) => {
      if (isDeleting(set)) return;
      const wanted = numberAt(set.object, 'spec', 'replicas');
      const template = asObject(asObject(set.object.spec).template);
      const revision = `${set.name}-${templateHash(template)}`;
      const pods = new Map(dependentsOf(world, set, 'pods').map((pod) => [pod.name, pod]));
      for (let i = 0; i < wanted; i++) {
        const name = `${set.name}-${i}`;
        const pod = pods.get(name);
        if (pod && !isReady(pod)) {
          const phase = at(pod.object, 'status', 'phase');
          if (phase === 'Failed' || phase === 'Succeeded') world.delete(pod);
          break;
        }
        if (pod) continue;
        if (refusesStorage(world, set.namespace, missingStorage(world, set, name))) break;
        const spec = statefulPodSpec(world, set, name, claimsOfPod(world, set, name));
        if (quotaRefusal(world, set.namespace, name, spec) !== undefined) break;
        const labels = {
          ...asObject(asObject(template.metadata).labels),
          'controller-revision-hash': revision,
          'statefulset.kubernetes.io/pod-name': name,
          'apps.kubernetes.io/pod-index': String(i),
        };
        world.create(
          '',
          'pods',
          {
            metadata: {
              name,
              generateName: `${set.name}-`,
              namespace: set.namespace,
              labels,
              ownerReferences: [world.ownerReference(set)],
            },
            spec,
          },
          manager,
        );
        world.emit(
          set,
          'Normal',
          'SuccessfulCreate',
          `create Pod ${name} in StatefulSet ${set.name} successful`,
          'statefulset-controller',
        );
        break;
      }
      for (const [name, pod] of pods) {
        if (Number(name.slice(set.name.length + 1)) >= wanted && isActive(pod)) world.delete(pod);
      }
      const left = dependentsOf(world, set, 'pods').filter(isActive);
      const ready = left.filter(isReady).length;
      world.setStatus(
        set,
        {
          observedGeneration: metadataOf(set.object).generation ?? 1,
          replicas: left.length,
          readyReplicas: ready,
          availableReplicas: ready,
          currentReplicas: left.length,
          updatedReplicas: left.length,
          currentRevision: revision,
          updateRevision: revision,
          collisionCount: 0,
        },
        manager,
      );
    },
  };
}

/** The keys of the StatefulSets that lack Pods. */
function waiting(world: World, namespace: string): string[] {
  return world
    .list(statefulSets, namespace)
    .filter(({ object }) => numberAt(object, 'status', 'replicas') < numberAt(object, 'spec', 'replicas'))
    .map(({ key }) => key);
}
