/**
 * The workloads of the demo world, as after weeks of operation. They are Deployments with ReplicaSets and Pods, StatefulSets with claims,
 * DaemonSets, and CronJobs with Jobs. Names and labels are those that the controllers give, and each Pod has
 * a node. The controllers therefore change nothing at first.
 */

import { bindClaim, claimsOfPod } from '../controllers/claim-controllers.ts';
import { createJob, finishedStatus, jobLabels } from '../controllers/job-controllers.ts';
import { statusInput } from '../controllers/kubelets.ts';
import { statefulPodSpec } from '../controllers/workload-controllers.ts';
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { fieldSetOf } from '../patch/managed-fields.ts';
import { timeText } from '../resources/object-metadata.ts';
import type { Places } from '../world/places.ts';
import { exitsAtOnce, type PodState, podSpecOf, podStatusOf, templateHash } from '../world/pod-maker.ts';
import { startProblem } from '../world/pod-references.ts';
import { hasCondition, type World } from '../world/world.ts';
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
  /** The node of a Pod that the scheduler does not place. */
  readonly node?: string;
  /** The state of the Pod if nothing hinders it from starting. */
  readonly state: PodState;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly spec?: JsonObject;
}

export class WorkloadBuilder {
  readonly #world: World;
  readonly #places: Places;
  readonly #podFields = new Map<string, JsonObject[]>();

  constructor(world: World, places: Places) {
    this.#world = world;
    this.#places = places;
  }

  /**
   * A Deployment (already in its final form), its ReplicaSet and its Pods.
   * @param leftovers old Pods that have ended
   * @param isHealthy whether none of its Pods is in trouble by chance
   */
  deployment(object: JsonObject, { leftovers = 0, isHealthy = false } = {}): Stored {
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
    const sick = !isHealthy && world.chance(0.07);
    for (let i = 0; i < replicas + leftovers; i++) {
      const over = i >= replicas;
      const state: PodState = over
        ? 'evicted'
        : sick
          ? world.pick<PodState>(['crashLoop', 'imagePull', 'notReady', 'running'])
          : isHealthy
            ? 'running'
            : this.#state();
      const is = this.#pod({
        generateName: `${name}-`,
        owner: set,
        template: stored,
        labels,
        state,
        created: world.clock.now() - Math.floor(world.random() ** 2 * 60 * day) - 90_000,
      });
      if (is === 'running') ready++;
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
    let ready = 0;
    for (let i = 0; i < replicas; i++) {
      const name = `${set.name}-${i}`;
      const claims = claimsOfPod(world, set, name, created);
      for (const claim of claims.values()) bindClaim(world, claim);
      const is = this.#pod({
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
        state: 'running',
        created: world.clock.now() - Math.floor(world.random() * 60 * day) - 90_000,
        spec: statefulPodSpec(world, set, name, claims),
      });
      if (is === 'running') ready++;
    }
    world.setStatus(
      set,
      {
        observedGeneration: 1,
        replicas,
        readyReplicas: ready,
        availableReplicas: ready,
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
    const nodes = world.list('nodes');
    let ready = 0;
    for (const node of nodes) {
      const is = this.#pod({
        generateName: `${name}-`,
        owner: set,
        template,
        labels: { ...labels, 'controller-revision-hash': revision, 'pod-template-generation': '1' },
        node: node.name,
        state: hasCondition(node.object, 'Ready') ? 'running' : 'notReady',
        created: world.clock.now() - Math.floor(world.random() * 90 * day) - 90_000,
      });
      if (is === 'running') ready++;
    }
    world.setStatus(
      set,
      {
        currentNumberScheduled: nodes.length,
        desiredNumberScheduled: nodes.length,
        ...(ready > 0 ? { numberAvailable: ready } : {}),
        ...(ready < nodes.length ? { numberUnavailable: nodes.length - ready } : {}),
        numberMisscheduled: 0,
        numberReady: ready,
        observedGeneration: 1,
        updatedNumberScheduled: nodes.length,
      },
      by,
    );
  }

  /** A CronJob with its last Jobs and their Pods. The Jobs ran every hour, whatever the schedule is. */
  cronJob(namespace: string, name: string, schedule: string, template: JsonObject): void {
    const world = this.#world;
    const once: JsonObject = { ...template, spec: { ...asObject(template.spec), restartPolicy: 'Never' } };
    const cron = world.create(
      'batch',
      'cronjobs',
      {
        metadata: { name, namespace, creationTimestamp: daysAgo(world, 200) },
        spec: { schedule, concurrencyPolicy: 'Forbid', jobTemplate: { spec: { template: once, backoffLimit: 2 } } },
      },
      'helm',
    );
    const now = world.clock.now();
    let lastSuccess: string | undefined;
    let failures = 0;
    for (let i = 3; i > 0; i--) {
      const started = now - i * 3_600_000;
      const failed = failures === 0 && world.chance(0.2);
      if (failed) failures++;
      const job = createJob(world, cron, started);
      this.#pod({
        generateName: `${job.name}-`,
        owner: job,
        template: once,
        labels: { ...asObject(asObject(once.metadata).labels), ...jobLabels(job) },
        state: failed ? 'failed' : 'succeeded',
        created: started,
      });
      const ended = timeText(started + world.between(5, 900) * 1000);
      if (!failed) lastSuccess = ended;
      world.setStatus(job, finishedStatus(timeText(started), ended, failed ? 0 : 1, failed ? 1 : 0), by);
    }
    const lastScheduleTime = timeText(now - 3_600_000);
    world.setStatus(
      cron,
      { lastScheduleTime, ...(lastSuccess === undefined ? {} : { lastSuccessfulTime: lastSuccess }) },
      by,
    );
  }

  /** Most pods run; a few are in one of the trouble states. */
  #state(): PodState {
    const dice = this.#world.random();
    if (dice < 0.93) return 'running';
    return this.#world.pick<PodState>(['notReady', 'crashLoop', 'imagePull', 'running']);
  }

  /** Creates a Pod and returns its state: the wanted one, unless it fits on no node or lacks something that it mentions. */
  #pod(options: PodOptions): PodState {
    const world = this.#world;
    const { template, owner, created } = options;
    const draft = options.spec ?? podSpecOf(world, template, undefined);
    const metadataOfDraft = { namespace: owner.namespace };
    const place =
      options.node === undefined
        ? this.#places.find({ metadata: metadataOfDraft, spec: draft })
        : { node: options.node };
    const message = 'message' in place ? place.message : undefined;
    const spec = 'node' in place ? { ...draft, nodeName: place.node } : draft;
    const problem = message === undefined ? startProblem(world, owner.namespace, spec) : undefined;
    const hindered = problem?.kind === 'mount' ? 'starting' : 'configError';
    const wanted = exitsAtOnce(spec) ? 'crashLoop' : options.state;
    const state: PodState = message !== undefined ? 'unschedulable' : problem ? hindered : wanted;
    const troubled = state === 'crashLoop' || world.chance(0.12);
    const restarts = state === 'crashLoop' ? world.between(3, 240) : troubled ? world.between(1, 9) : 0;
    const started = state === 'running' || state === 'notReady' || state === 'crashLoop';
    const input = statusInput(
      world,
      this.#places,
      { spec },
      state,
      started ? restarts : 0,
      message ?? problem?.message,
    );
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
    const pod = world.api.create(
      resource,
      owner.namespace,
      { ...object, metadata },
      { trusted: true, fieldManager: by },
    );
    const when = world.clock.now() - world.between(5, 900) * 1000;
    if (message !== undefined) world.emit(pod, 'Warning', 'FailedScheduling', message, 'default-scheduler', when);
    if (problem) {
      const reason = problem.kind === 'mount' ? 'FailedMount' : 'Failed';
      world.emit(pod, 'Warning', reason, problem.note, 'kubelet', when);
    }
    if (exitsAtOnce(spec))
      world.emit(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', 'kubelet', when);
    return state;
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
}
