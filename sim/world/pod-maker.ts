/**
 * Pods as a kubelet reports them: specs from a template and a node, statuses for every state of a pod.
 * Writes nothing.
 */
import { createHash } from 'node:crypto';
import { asArray, asObject, asString, isObject, type JsonObject } from '../objects/json.ts';
import { timeText } from '../resources/object-metadata.ts';
import { numberAt, type World } from './world.ts';

export type PodState =
  | 'running'
  | 'starting'
  | 'unschedulable'
  | 'configError'
  | 'crashLoop'
  | 'imagePull'
  | 'notReady'
  | 'succeeded'
  | 'failed'
  | 'evicted';

/** The end of the version of an image whose containers exit at once, on every node. */
export const brokenVersion = '-broken';

export function exitsAtOnce(spec: JsonObject): boolean {
  return asArray(spec.containers).some((container) => asString(asObject(container).image).endsWith(brokenVersion));
}

const safe = 'bcdfghjklmnpqrstvwxz2456789';

/** Ten letters that depend only on the value, as in pod-template-hash. */
export function templateHash(template: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(template)).digest();
  return Array.from(digest.subarray(0, 10), (byte) => safe[byte % safe.length]).join('');
}

/** The spec of a pod made from a template, placed on a node, with what admission adds. */
export function podSpecOf(world: World, template: JsonObject, nodeName: string | undefined): JsonObject {
  const spec = asObject(template.spec);
  const classes = world.get('priorityclasses.scheduling.k8s.io', '', asString(spec.priorityClassName));
  return {
    ...spec,
    ...(nodeName === undefined ? {} : { nodeName }),
    serviceAccountName: asString(spec.serviceAccountName) || 'default',
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: numberAt(classes?.object ?? {}, 'value'),
    tolerations: [
      ...asArray(spec.tolerations),
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  };
}

interface StatusInput {
  readonly spec: JsonObject;
  readonly state: PodState;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly hostIp: string;
  readonly podIp: string;
  readonly restarts: number;
  /** Why a pod is unschedulable, or what its configuration lacks. */
  readonly message?: string;
}

function containerState(state: PodState, started: string, finished: string, message: string): JsonObject {
  switch (state) {
    case 'crashLoop':
      return { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' } };
    case 'imagePull':
      return { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } };
    case 'configError':
      return { waiting: { reason: 'CreateContainerConfigError', message } };
    case 'starting':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'succeeded':
      return { terminated: { exitCode: 0, reason: 'Completed', startedAt: started, finishedAt: finished } };
    case 'failed':
      return { terminated: { exitCode: 1, reason: 'Error', startedAt: started, finishedAt: finished } };
    default:
      return { running: { startedAt: started } };
  }
}

const phases: Readonly<Record<PodState, string>> = {
  running: 'Running',
  notReady: 'Running',
  crashLoop: 'Running',
  starting: 'Pending',
  imagePull: 'Pending',
  configError: 'Pending',
  unschedulable: 'Pending',
  succeeded: 'Succeeded',
  failed: 'Failed',
  evicted: 'Failed',
};

/** The status of a pod in a state. */
export function podStatusOf(world: World, input: StatusInput): JsonObject {
  const { spec, state, since, restarts, message = '' } = input;
  const time = timeText(since);
  const finished = timeText(Math.min(since + world.between(4, 600) * 1000, world.clock.now()));
  const phase = phases[state];
  if (state === 'unschedulable') {
    return {
      phase,
      qosClass: 'Burstable',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message,
          lastProbeTime: null,
          lastTransitionTime: time,
        },
      ],
    };
  }
  if (state === 'evicted') {
    return {
      phase,
      reason: 'Evicted',
      message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 88Mi.',
      startTime: time,
      qosClass: 'Burstable',
    };
  }
  const ready = state === 'running';
  const done = state === 'succeeded' || state === 'failed';
  const notReadyReason = done ? (state === 'succeeded' ? 'PodCompleted' : 'PodFailed') : 'ContainersNotReady';
  const flag = (type: string, ok: boolean): JsonObject => ({
    type,
    status: ok ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: time,
    ...(ok ? {} : { reason: notReadyReason, message: 'containers with unready status' }),
  });
  const containerStatuses = asArray(spec.containers)
    .filter(isObject)
    .map((container, index) => {
      const image = asString(container.image);
      const digest = createHash('sha256').update(image).digest('hex');
      const pulled = state !== 'imagePull' && state !== 'starting' && state !== 'configError';
      const lastState =
        restarts > 0 && index === 0
          ? {
              terminated: {
                exitCode: world.pick([1, 137, 143]),
                reason: world.pick(['Error', 'OOMKilled']),
                startedAt: time,
                finishedAt: time,
              },
            }
          : {};
      return {
        name: container.name,
        image,
        imageID: pulled ? `${image.split(':')[0]}@sha256:${digest}` : '',
        ...(pulled ? { containerID: `containerd://${digest.slice(1)}${index}` } : {}),
        ready,
        restartCount: index === 0 ? restarts : 0,
        started: ready || state === 'notReady',
        state: containerState(state, time, finished, message),
        lastState,
      };
    });
  return {
    phase,
    conditions: [
      flag('PodReadyToStartContainers', !done),
      flag('Initialized', true),
      flag('Ready', ready),
      flag('ContainersReady', ready),
      flag('PodScheduled', true),
    ],
    hostIP: input.hostIp,
    hostIPs: [{ ip: input.hostIp }],
    ...(state === 'starting' ? {} : { podIP: input.podIp, podIPs: [{ ip: input.podIp }] }),
    startTime: time,
    containerStatuses,
    qosClass: 'Burstable',
  };
}
