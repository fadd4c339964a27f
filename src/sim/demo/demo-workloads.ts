/**
 * The workloads of the demo world, as after weeks of operation: Deployments with their ReplicaSets and Pods, StatefulSets with
 * claims, DaemonSets, and CronJobs with their Jobs. Names and labels equal those that the controllers would create. The
 * controllers therefore change nothing at first.
 */

import { statusInput } from '../controllers/kubelets.ts';
import { type PodState, podSpecOf, podStatusOf, templateHash } from '../controllers/pod-maker.ts';
import type { World } from '../controllers/world.ts';
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { fieldSetOf } from '../patch/managed-fields.ts';
import { timeText } from '../resources/object-metadata.ts';
import { daysAgo } from './demo-cluster-parts.ts';

const day = 86_400_000;
const by = 'kube-controller-manager';

interface PodOptions {
  /** Generated from generateName when absent. */
  readonly name?: string;
  readonly generateName: string;
  readonly owner: Stored;
  readonly template: JsonObject;
  readonly labels: JsonObject;
  readonly node: string;
  readonly state: PodState;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly extraSpec?: JsonObject;
}

export class WorkloadBuilder {
  readonly #world: World;
  readonly #workers: readonly string[];
  readonly #allNodes: readonly string[];
  readonly #podFields = new Map<string, JsonObject[]>();

  constructor(world: World) {
    this.#world = world;
    const nodes = world.list('nodes');
    this.#allNodes = nodes.map((node) => node.name);
    const workers = nodes.filter((node) => at(node.object, 'spec', 'taints') === undefined).map((node) => node.name);
    this.#workers = workers.length > 0 ? workers : this.#allNodes;
  }

  /** A Deployment (already in its final form), its ReplicaSet and its Pods. `leftovers` are old pods that have ended. */
  deployment(object: JsonObject, leftovers = 0): Stored {
    const world = this.#world;
    const created = daysAgo(world, 90);
    const spec = asObject(object.spec);
    const template = asObject(spec.template);
    const metadata = { ...asObject(object.metadata), creationTimestamp: created };
    const deployment = world.create('apps', 'deployments', { ...object, metadata }, 'helm');
    const stored = asObject(asObject(deployment.object.spec).template);
    const hash = templateHash(stored);
    const labels = { ...asObject(asObject(template.metadata).labels), 'pod-template-hash': hash };
    const replicas = Number(spec.replicas);
    const name = `${deployment.name}-${hash}`;
    const set = world.create(
      'apps',
      'replicasets',
      {
        metadata: {
          name,
          namespace: deployment.namespace,
          labels,
          annotations: {
            'deployment.kubernetes.io/revision': '1',
            'deployment.kubernetes.io/desired-replicas': String(replicas),
          },
          ownerReferences: [world.ownerReference(deployment)],
          creationTimestamp: created,
        },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { ...stored, metadata: { ...asObject(stored.metadata), labels } },
        },
      },
      by,
    );
    let ready = 0;
    const sick = world.chance(0.07);
    for (let i = 0; i < replicas + leftovers; i++) {
      const over = i >= replicas;
      const state: PodState = over
        ? 'evicted'
        : sick
          ? world.pick<PodState>(['crashLoop', 'imagePull', 'notReady', 'running'])
          : this.#state();
      if (state === 'running') ready++;
      this.#pod({
        generateName: `${name}-`,
        owner: set,
        template: stored,
        labels,
        node: world.pick(this.#workers),
        state,
        created: world.clock.now() - Math.floor(world.random() ** 2 * 60 * day) - 90_000,
      });
    }
    world.setStatus(
      set,
      {
        replicas,
        fullyLabeledReplicas: replicas,
        ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
        observedGeneration: 1,
      },
      by,
    );
    const available = ready >= Math.ceil(replicas * 0.75);
    const condition = (type: string, ok: boolean, reason: string, message: string): JsonObject => ({
      type,
      status: ok ? 'True' : 'False',
      lastUpdateTime: created,
      lastTransitionTime: created,
      reason,
      message,
    });
    world.setStatus(
      deployment,
      {
        observedGeneration: 1,
        replicas,
        updatedReplicas: replicas,
        ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
        ...(ready < replicas ? { unavailableReplicas: replicas - ready } : {}),
        conditions: [
          condition(
            'Available',
            available,
            available ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
            available ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
          ),
          condition('Progressing', true, 'NewReplicaSetAvailable', 'ReplicaSet has successfully progressed.'),
        ],
      },
      by,
    );
    return deployment;
  }

  /** A StatefulSet, its Pods, and a bound claim and volume for each. */
  statefulSet(object: JsonObject): Stored {
    const world = this.#world;
    const created = daysAgo(world, 120);
    const set = world.create(
      'apps',
      'statefulsets',
      { ...object, metadata: { ...asObject(object.metadata), creationTimestamp: created } },
      'helm',
    );
    const template = asObject(asObject(set.object.spec).template);
    const revision = `${set.name}-${templateHash(template)}`;
    const replicas = Number(at(set.object, 'spec', 'replicas'));
    const size = at(set.object, 'spec', 'volumeClaimTemplates') === undefined ? '10Gi' : '20Gi';
    for (let i = 0; i < replicas; i++) {
      const name = `${set.name}-${i}`;
      this.#pod({
        name,
        generateName: `${set.name}-`,
        owner: set,
        template,
        labels: {
          ...asObject(asObject(template.metadata).labels),
          'controller-revision-hash': revision,
          'statefulset.kubernetes.io/pod-name': name,
          'apps.kubernetes.io/pod-index': String(i),
        },
        node: world.pick(this.#workers),
        state: 'running',
        created: world.clock.now() - Math.floor(world.random() * 60 * day) - 90_000,
        extraSpec: { hostname: name, subdomain: asString(at(set.object, 'spec', 'serviceName')) },
      });
      this.#claim(set, `data-${name}`, size);
    }
    world.setStatus(
      set,
      {
        observedGeneration: 1,
        replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
        currentReplicas: replicas,
        updatedReplicas: replicas,
        currentRevision: revision,
        updateRevision: revision,
        collisionCount: 0,
      },
      by,
    );
    return set;
  }

  /** A DaemonSet with one Pod on every node. */
  daemonSet(namespace: string, name: string, template: JsonObject): void {
    const world = this.#world;
    const labels = asObject(asObject(template.metadata).labels);
    const set = world.create(
      'apps',
      'daemonsets',
      {
        metadata: { name, namespace, labels, creationTimestamp: daysAgo(world, 200) },
        spec: { selector: { matchLabels: { 'k8s-app': name } }, template },
      },
      'kubeadm',
    );
    const revision = templateHash(template);
    for (const node of this.#allNodes) {
      this.#pod({
        generateName: `${name}-`,
        owner: set,
        template,
        labels: { ...labels, 'controller-revision-hash': revision, 'pod-template-generation': '1' },
        node,
        state: 'running',
        created: world.clock.now() - Math.floor(world.random() * 90 * day) - 90_000,
      });
    }
    const count = this.#allNodes.length;
    world.setStatus(
      set,
      {
        currentNumberScheduled: count,
        desiredNumberScheduled: count,
        numberAvailable: count,
        numberMisscheduled: 0,
        numberReady: count,
        observedGeneration: 1,
        updatedNumberScheduled: count,
      },
      by,
    );
  }

  /** A CronJob with its last Jobs and their Pods. */
  cronJob(namespace: string, name: string, schedule: string, template: JsonObject): void {
    const world = this.#world;
    const once = { ...template, spec: { ...asObject(template.spec), restartPolicy: 'OnFailure' } };
    const cron = world.create(
      'batch',
      'cronjobs',
      {
        metadata: { name, namespace, creationTimestamp: daysAgo(world, 200) },
        spec: { schedule, jobTemplate: { spec: { template: once } } },
      },
      'helm',
    );
    const now = world.clock.now();
    for (let i = 3; i > 0; i--) {
      const started = now - i * 3_600_000;
      const failed = world.chance(0.2);
      const job = world.create(
        'batch',
        'jobs',
        {
          metadata: {
            name: `${name}-${Math.floor(started / 60_000)}`,
            namespace,
            ownerReferences: [world.ownerReference(cron)],
            creationTimestamp: timeText(started),
          },
          spec: { template: once, backoffLimit: 2 },
        },
        by,
      );
      const labels = { 'batch.kubernetes.io/job-name': job.name, 'job-name': job.name };
      this.#pod({
        generateName: `${job.name}-`,
        owner: job,
        template: once,
        labels,
        node: world.pick(this.#workers),
        state: failed ? 'failed' : 'succeeded',
        created: started,
      });
      const ended = timeText(started + world.between(5, 900) * 1000);
      const type = failed ? 'Failed' : 'Complete';
      world.setStatus(
        job,
        {
          startTime: timeText(started),
          ...(failed ? { failed: 1 } : { succeeded: 1, completionTime: ended }),
          conditions: [{ type, status: 'True', lastProbeTime: ended, lastTransitionTime: ended }],
        },
        by,
      );
    }
    const last = timeText(now - 3_600_000);
    world.setStatus(cron, { lastScheduleTime: last, lastSuccessfulTime: last }, by);
  }

  /** Most pods run; a few are in one of the trouble states. */
  #state(): PodState {
    const dice = this.#world.random();
    if (dice < 0.93) return 'running';
    return this.#world.pick<PodState>(['notReady', 'crashLoop', 'imagePull', 'unschedulable', 'running']);
  }

  #pod(options: PodOptions): void {
    const world = this.#world;
    const { template, state, owner, created } = options;
    const placed = state === 'unschedulable' ? undefined : options.node;
    const spec = { ...podSpecOf(template, placed), ...options.extraSpec };
    const troubled = state === 'crashLoop' || world.chance(0.12);
    const restarts = state === 'crashLoop' ? world.between(3, 240) : troubled ? world.between(1, 9) : 0;
    const input = statusInput(world, { spec }, options.node, state, restarts);
    const status = podStatusOf(world, { ...input, since: created });
    const object: JsonObject = {
      metadata: {
        ...(options.name === undefined ? {} : { name: options.name }),
        generateName: options.generateName,
        namespace: owner.namespace,
        creationTimestamp: timeText(created),
        labels: options.labels,
        annotations: asObject(asObject(template.metadata).annotations),
        ownerReferences: [world.ownerReference(owner)],
      },
      spec,
      status,
    };
    const metadata = { ...asObject(object.metadata), managedFields: this.#managedFields(owner, object, state) };
    const resource = world.resource('', 'pods');
    world.api.create(resource, owner.namespace, { ...object, metadata }, { trusted: true, fieldManager: by });
  }

  /** managedFields of a pod, computed once for each owner and state: all its pods have the same fields. */
  #managedFields(owner: Stored, pod: JsonObject, state: PodState): JsonObject[] {
    const key = `${owner.uid} ${state}`;
    const known = this.#podFields.get(key);
    if (known) return known;
    const types = this.#world.resource('', 'pods').schema;
    const time = asString(asObject(pod.metadata).creationTimestamp);
    const { status, ...rest } = pod;
    const entry = (manager: string, fields: JsonObject, subresource?: string): JsonObject => ({
      manager,
      operation: 'Update',
      apiVersion: 'v1',
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: fieldSetOf(fields, types, 'Update'),
      ...(subresource === undefined ? {} : { subresource }),
    });
    const fields = [entry(by, rest), entry('kubelet', { status }, 'status')];
    this.#podFields.set(key, fields);
    return fields;
  }

  #claim(set: Stored, name: string, size: string): void {
    const world = this.#world;
    const claim = world.create(
      '',
      'persistentvolumeclaims',
      {
        metadata: { name, namespace: set.namespace, labels: asObject(asObject(set.object.metadata).labels) },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: size } },
          storageClassName: 'fast',
          volumeName: `pvc-${name}`,
        },
      },
      by,
    );
    world.setStatus(claim, { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: size } }, by);
    const volume = world.create(
      '',
      'persistentvolumes',
      {
        metadata: { name: `pvc-${claim.uid}` },
        spec: {
          capacity: { storage: size },
          accessModes: ['ReadWriteOnce'],
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: set.namespace, name, uid: claim.uid },
          persistentVolumeReclaimPolicy: 'Delete',
          storageClassName: 'fast',
          csi: { driver: 'csi.storage.example', volumeHandle: claim.uid, fsType: 'ext4' },
        },
      },
      by,
    );
    world.patchSpec(claim, { volumeName: volume.name }, by);
    world.setStatus(volume, { phase: 'Bound' }, by);
  }
}
