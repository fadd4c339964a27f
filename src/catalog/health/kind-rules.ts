/**
 * The health rules of built-in kinds, as in kstatus. They apply when deletion, generation and the conditions Reconciling and Stalled
 * did not decide (health.ts).
 */

import { recordOf } from '../values/displayed-value.ts';
import { type Condition, current, type Finding, failed, finding, inProgress } from './health-status.ts';

interface KindInput {
  value(path: readonly string[]): unknown;
  readonly conditions: readonly Condition[];
  /** True if the object has a generation and an observed one; otherwise the reason why it is in progress. */
  readonly isGenerationKnown: true | string;
}

interface KindRule {
  readonly paths: readonly (readonly string[])[];
  of(input: KindInput): Finding;
}

type Path = readonly string[];

const at = (text: string): Path => text.split('.');

const spec = {
  replicas: at('spec.replicas'),
  progressDeadlineSeconds: at('spec.progressDeadlineSeconds'),
  updateStrategy: at('spec.updateStrategy.type'),
  partition: at('spec.updateStrategy.rollingUpdate.partition'),
  type: at('spec.type'),
  clusterIP: at('spec.clusterIP'),
};
const status = {
  phase: at('status.phase'),
  replicas: at('status.replicas'),
  readyReplicas: at('status.readyReplicas'),
  currentReplicas: at('status.currentReplicas'),
  updatedReplicas: at('status.updatedReplicas'),
  availableReplicas: at('status.availableReplicas'),
  fullyLabeledReplicas: at('status.fullyLabeledReplicas'),
  currentRevision: at('status.currentRevision'),
  updateRevision: at('status.updateRevision'),
  desiredNumberScheduled: at('status.desiredNumberScheduled'),
  currentNumberScheduled: at('status.currentNumberScheduled'),
  updatedNumberScheduled: at('status.updatedNumberScheduled'),
  numberAvailable: at('status.numberAvailable'),
  numberReady: at('status.numberReady'),
  startTime: at('status.startTime'),
  containerStatuses: at('status.containerStatuses'),
};

const alwaysCurrent: KindRule = { paths: [], of: () => current };

const pod: KindRule = {
  paths: [status.phase, status.containerStatuses],
  of({ value, conditions }) {
    const phase = textAt(value, status.phase, '');
    switch (phase) {
      case 'Succeeded':
      case 'Failed':
        return current;
      case 'Running':
        if (has(conditions, 'Ready', 'True')) return current;
        return crashMessage(value(status.containerStatuses)) === null
          ? inProgress('PodRunningNotReady', messageOf(conditions, 'Ready'))
          : failed('ContainerCrashLooping', crashMessage(value(status.containerStatuses)) ?? '');
      case 'Pending': {
        const scheduled = conditions.find((each) => each.type === 'PodScheduled' && each.status === 'False');
        return scheduled?.reason === 'Unschedulable'
          ? failed('PodUnschedulable', scheduled.message)
          : inProgress('PodPending', scheduled?.message ?? messageOf(conditions, 'Ready'));
      }
      case '':
        return inProgress('PodNotObserved');
      default:
        return finding('Unknown', 'UnknownPhase');
    }
  },
};

const persistentVolumeClaim: KindRule = {
  paths: [status.phase],
  of: ({ value }) => (textAt(value, status.phase, '') === 'Bound' ? current : inProgress('NotBound')),
};

const service: KindRule = {
  paths: [spec.type, spec.clusterIP],
  of: ({ value }) =>
    textAt(value, spec.type, '') === 'LoadBalancer' && textAt(value, spec.clusterIP, '') === ''
      ? inProgress('NoIPAssigned')
      : current,
};

const deployment: KindRule = {
  paths: [
    spec.replicas,
    spec.progressDeadlineSeconds,
    status.replicas,
    status.updatedReplicas,
    status.readyReplicas,
    status.availableReplicas,
  ],
  of({ value, conditions }) {
    // Without a deadline the controller writes no condition Progressing. It takes the largest int32 for no deadline.
    const largestInt32 = 2 ** 31 - 1;
    let progressed = integerAt(value, spec.progressDeadlineSeconds, largestInt32) === largestInt32;
    for (const { type, status, reason, message } of conditions) {
      if (type !== 'Progressing') continue;
      if (reason === 'ProgressDeadlineExceeded') return failed(reason, message);
      if (status === 'True' && reason === 'NewReplicaSetAvailable') progressed = true;
    }
    const wanted = integerAt(value, spec.replicas, 1);
    const replicas = integerAt(value, status.replicas, 0);
    const updated = integerAt(value, status.updatedReplicas, 0);
    const unavailable = messageOf(conditions, 'Available');
    if (wanted > replicas) return inProgress('LessReplicas', messageOf(conditions, 'ReplicaFailure'));
    if (wanted > updated) return inProgress('LessUpdated');
    if (replicas > wanted) return inProgress('ExtraPods');
    if (updated > integerAt(value, status.availableReplicas, 0)) return inProgress('LessAvailable', unavailable);
    if (wanted > integerAt(value, status.readyReplicas, 0)) return inProgress('LessReady', unavailable);
    if (!progressed) return inProgress('ReplicaSetNotAvailable');
    return has(conditions, 'Available', 'True') ? current : inProgress('DeploymentNotAvailable', unavailable);
  },
};

const replicaSet: KindRule = {
  paths: [spec.replicas, status.replicas, status.readyReplicas, status.availableReplicas, status.fullyLabeledReplicas],
  of({ value, conditions }) {
    if (has(conditions, 'ReplicaFailure', 'True'))
      return inProgress('ReplicaFailure', messageOf(conditions, 'ReplicaFailure'));
    const wanted = integerAt(value, spec.replicas, 1);
    if (wanted > integerAt(value, status.fullyLabeledReplicas, 0)) return inProgress('LessLabelled');
    if (wanted > integerAt(value, status.availableReplicas, 0)) return inProgress('LessAvailable');
    if (wanted > integerAt(value, status.readyReplicas, 0)) return inProgress('LessReady');
    return integerAt(value, status.replicas, 0) > wanted ? inProgress('ExtraPods') : current;
  },
};

const statefulSet: KindRule = {
  paths: [
    spec.replicas,
    spec.updateStrategy,
    spec.partition,
    status.replicas,
    status.readyReplicas,
    status.currentReplicas,
    status.updatedReplicas,
    status.currentRevision,
    status.updateRevision,
  ],
  of({ value }) {
    // With OnDelete, the user updates the Pods.
    if (textAt(value, spec.updateStrategy, '') === 'OnDelete') return current;
    const wanted = integerAt(value, spec.replicas, 1);
    const replicas = integerAt(value, status.replicas, 0);
    if (wanted > replicas) return inProgress('LessReplicas');
    if (wanted > integerAt(value, status.readyReplicas, 0)) return inProgress('LessReady');
    if (replicas > wanted) return inProgress('ExtraPods');
    const partition = integerAt(value, spec.partition, -1);
    if (partition !== -1) {
      const updated = integerAt(value, status.updatedReplicas, 0);
      return updated < wanted - partition ? inProgress('PartitionRollout') : current;
    }
    if (wanted > integerAt(value, status.currentReplicas, 0)) return inProgress('LessCurrent');
    const isUpdated = textAt(value, status.currentRevision, '') === textAt(value, status.updateRevision, '');
    return isUpdated ? current : inProgress('RevisionMismatch');
  },
};

const daemonSet: KindRule = {
  paths: [
    status.desiredNumberScheduled,
    status.currentNumberScheduled,
    status.updatedNumberScheduled,
    status.numberAvailable,
    status.numberReady,
  ],
  of({ value, isGenerationKnown }) {
    if (isGenerationKnown !== true) return inProgress(isGenerationKnown);
    const desired = integerAt(value, status.desiredNumberScheduled, -1);
    if (desired === -1) return inProgress('NoDesiredNumber');
    if (desired > integerAt(value, status.currentNumberScheduled, 0)) return inProgress('LessCurrent');
    if (desired > integerAt(value, status.updatedNumberScheduled, 0)) return inProgress('LessUpdated');
    if (desired > integerAt(value, status.numberAvailable, 0)) return inProgress('LessAvailable');
    return desired > integerAt(value, status.numberReady, 0) ? inProgress('LessReady') : current;
  },
};

const job: KindRule = {
  paths: [status.startTime],
  of({ value, conditions }) {
    for (const { type, status, message } of conditions) {
      if (status !== 'True') continue;
      if (type === 'Complete') return current;
      if (type === 'Failed') return failed('JobFailed', message);
      if (type === 'Suspended') return current;
    }
    return textAt(value, status.startTime, '') === '' ? inProgress('JobNotStarted') : current;
  },
};

const customResourceDefinition: KindRule = {
  paths: [],
  of({ conditions }) {
    for (const { type, status, reason, message } of conditions) {
      if (type === 'NamesAccepted' && status === 'False') return failed(reason, message);
      if (type !== 'Established') continue;
      if (status === 'False' && reason !== 'Installing') return failed(reason, message);
      if (status === 'True') return current;
    }
    return inProgress('Installing');
  },
};

/** The rules by `group/Kind`; by `Kind` in the core group. */
export const kindRules: ReadonlyMap<string, KindRule> = new Map([
  ['ConfigMap', alwaysCurrent],
  ['PersistentVolumeClaim', persistentVolumeClaim],
  ['Pod', pod],
  ['Secret', alwaysCurrent],
  ['Service', service],
  ['apiextensions.k8s.io/CustomResourceDefinition', customResourceDefinition],
  ['batch/CronJob', alwaysCurrent],
  ['batch/Job', job],
  ['policy/PodDisruptionBudget', alwaysCurrent],
  ...['apps', 'extensions'].flatMap((group): [string, KindRule][] => [
    [`${group}/DaemonSet`, daemonSet],
    [`${group}/Deployment`, deployment],
    [`${group}/ReplicaSet`, replicaSet],
  ]),
  ['apps/StatefulSet', statefulSet],
]);

function has(conditions: readonly Condition[], type: string, status: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === status);
}

function textAt(value: KindInput['value'], path: Path, otherwise: string): string {
  const found = value(path);
  return typeof found === 'string' ? found : otherwise;
}

function integerAt(value: KindInput['value'], path: Path, otherwise: number): number {
  const found = value(path);
  return Number.isInteger(found) ? (found as number) : otherwise;
}

/** The message of the first container that is in a crash loop; null if none is. */
function crashMessage(containerStatuses: unknown): string | null {
  for (const container of Array.isArray(containerStatuses) ? (containerStatuses as readonly unknown[]) : []) {
    const waiting = recordOf(recordOf(recordOf(container)?.['state'])?.['waiting']);
    if (recordOf(container)?.['name'] === undefined || waiting?.['reason'] !== 'CrashLoopBackOff') continue;
    return typeof waiting['message'] === 'string' ? waiting['message'] : '';
  }
  return null;
}

/** The message of the condition of this type; empty without one. */
function messageOf(conditions: readonly Condition[], type: string): string {
  return conditions.find((condition) => condition.type === type)?.message ?? '';
}
