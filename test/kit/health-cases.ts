/**
 * Objects with the health that kstatus gives them: the cases of its own tests (status_compute_test.go and core_test.go of
 * sigs.k8s.io/cli-utils/pkg/kstatus/status), except the one that depends on the time of the test.
 */
import type { Finding, HealthStatus } from '../../src/catalog/health/health-status.ts';

export interface HealthCase {
  readonly name: string;
  readonly object: Readonly<Record<string, unknown>>;
  readonly health: Omit<Finding, 'message'>;
}

type Json = Readonly<Record<string, unknown>>;

/** A condition such as `Ready=False NotYet`: its type, its status, and its reason if there is one. */
function condition(text: string): Json {
  const [, type, status, reason] = /^(\w+)=(\w+)(?: (.+))?$/.exec(text) ?? [];
  return reason === undefined ? { type, status } : { type, status, reason };
}

function given(
  name: string,
  of: string,
  {
    generation = 1,
    spec,
    status,
    conditions,
  }: Partial<Record<'spec' | 'status', Json>> & { generation?: number; conditions?: readonly string[] },
  wanted: HealthStatus,
  reason: string | null = null,
): HealthCase {
  const at = of.lastIndexOf(' ');
  const whole = conditions === undefined ? status : { ...status, conditions: conditions.map(condition) };
  return {
    name,
    object: {
      apiVersion: of.slice(0, at),
      kind: of.slice(at + 1),
      metadata: { name: 'test', namespace: 'qual', generation },
      ...(spec === undefined ? {} : { spec }),
      ...(whole === undefined ? {} : { status: whole }),
    },
    health: { status: wanted, reason },
  };
}

const pod = 'v1 Pod';
const claim = 'v1 PersistentVolumeClaim';
const service = 'v1 Service';
const statefulSet = 'apps/v1 StatefulSet';
const daemonSet = 'apps/v1 DaemonSet';
const deployment = 'apps/v1 Deployment';
const replicaSet = 'apps/v1 ReplicaSet';
const budget = 'policy/v1beta1 PodDisruptionBudget';
const custom = 'something/v1 MyCR';
const job = 'batch/v1 Job';
const cronJob = 'batch/v1 CronJob';
const definition = 'apiextensions.k8s.io/v1 CustomResourceDefinition';

const four = {
  desiredNumberScheduled: 4,
  currentNumberScheduled: 4,
  updatedNumberScheduled: 4,
  numberAvailable: 4,
  numberReady: 4,
};
const oneReplica = { observedGeneration: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, replicas: 1 };
const labelled = (count: number): Json => ({
  observedGeneration: 1,
  replicas: count,
  readyReplicas: count,
  availableReplicas: count,
  fullyLabeledReplicas: count,
});
const sets = { observedGeneration: 1, currentReplicas: 4, readyReplicas: 4, replicas: 4 };
const crashing = [{ name: 'nginx', state: { waiting: { reason: 'CrashLoopBackOff' } } }];

export const healthCases: readonly HealthCase[] = [
  given('pod without a status', pod, {}, 'InProgress', 'PodNotObserved'),
  given('pod ready', pod, { status: { phase: 'Running' }, conditions: ['Ready=True'] }, 'Current'),
  given('pod succeeded', pod, { status: { phase: 'Succeeded' }, conditions: ['Ready=False PodCompleted'] }, 'Current'),
  given('pod failed', pod, { status: { phase: 'Failed' }, conditions: ['Ready=False PodCompleted'] }, 'Current'),
  given(
    'pod unschedulable',
    pod,
    { status: { phase: 'Pending' }, conditions: ['PodScheduled=False Unschedulable'] },
    'Failed',
    'PodUnschedulable',
  ),
  given(
    'pod crash looping',
    pod,
    { status: { phase: 'Running', containerStatuses: crashing }, conditions: ['PodScheduled=False Unschedulable'] },
    'Failed',
    'ContainerCrashLooping',
  ),

  given('claim without a status', claim, {}, 'InProgress', 'NotBound'),
  given('claim bound', claim, { status: { phase: 'Bound' } }, 'Current'),

  given('stateful set without a status', statefulSet, {}, 'InProgress', 'LessReplicas'),
  given(
    'stateful set with a bad status',
    statefulSet,
    { status: { observedGeneration: 1, currentReplicas: 1 } },
    'InProgress',
    'LessReplicas',
  ),
  given('stateful set complete', statefulSet, { spec: { replicas: 4 }, status: sets }, 'Current'),
  given(
    'stateful set with less ready',
    statefulSet,
    { spec: { replicas: 4 }, status: { ...sets, readyReplicas: 2 } },
    'InProgress',
    'LessReady',
  ),
  given(
    'stateful set with less current',
    statefulSet,
    { spec: { replicas: 4 }, status: { ...sets, currentReplicas: 2 } },
    'InProgress',
    'LessCurrent',
  ),
  given(
    'stateful set with extra pods',
    statefulSet,
    { spec: { replicas: 4 }, status: { ...sets, replicas: 8 } },
    'InProgress',
    'ExtraPods',
  ),

  given('daemon set without a status', daemonSet, {}, 'InProgress', 'NoObservedGeneration'),
  given(
    'daemon set with a bad status',
    daemonSet,
    { status: { observedGeneration: 1, currentReplicas: 1 } },
    'InProgress',
    'NoDesiredNumber',
  ),
  given('daemon set complete', daemonSet, { status: { ...four, observedGeneration: 1 } }, 'Current'),
  given(
    'daemon set of another generation',
    daemonSet,
    { generation: 2, status: { ...four, observedGeneration: 1 } },
    'InProgress',
    'LatestGenerationNotObserved',
  ),
  given(
    'daemon set with less ready',
    daemonSet,
    { status: { ...four, observedGeneration: 1, numberReady: 2 } },
    'InProgress',
    'LessReady',
  ),
  given(
    'daemon set with less available',
    daemonSet,
    { status: { ...four, observedGeneration: 1, numberAvailable: 2 } },
    'InProgress',
    'LessAvailable',
  ),

  given('deployment without a status', deployment, {}, 'InProgress', 'LessReplicas'),
  given(
    'deployment complete',
    deployment,
    { status: oneReplica, conditions: ['Progressing=True NewReplicaSetAvailable', 'Available=True'] },
    'Current',
  ),
  given(
    'deployment not progressing',
    deployment,
    {
      spec: { progressDeadlineSeconds: 45 },
      status: oneReplica,
      conditions: ['Progressing=False Some reason', 'Available=True'],
    },
    'InProgress',
    'ReplicaSetNotAvailable',
  ),
  given('deployment without a deadline', deployment, { status: oneReplica, conditions: ['Available=True'] }, 'Current'),
  given(
    'deployment not available',
    deployment,
    { status: oneReplica, conditions: ['Progressing=True NewReplicaSetAvailable', 'Available=False'] },
    'InProgress',
    'DeploymentNotAvailable',
  ),

  given('replica set without a status', replicaSet, {}, 'InProgress', 'LessLabelled'),
  given(
    'replica set without a failure',
    replicaSet,
    { spec: { replicas: 2 }, status: labelled(2), conditions: ['ReplicaFailure=False'] },
    'Current',
  ),
  given('replica set without conditions', replicaSet, { spec: { replicas: 2 }, status: labelled(2) }, 'Current'),
  given(
    'replica set with less available',
    replicaSet,
    { spec: { replicas: 4 }, status: { ...labelled(4), availableReplicas: 2 } },
    'InProgress',
    'LessAvailable',
  ),
  given(
    'replica set with less ready',
    replicaSet,
    { spec: { replicas: 4 }, status: { ...labelled(4), readyReplicas: 2 } },
    'InProgress',
    'LessReady',
  ),
  given(
    'replica set with a failure',
    replicaSet,
    { spec: { replicas: 4 }, status: labelled(4), conditions: ['ReplicaFailure=True'] },
    'InProgress',
    'ReplicaFailure',
  ),

  given(
    'budget not observed',
    budget,
    { generation: 2, status: { observedGeneration: 1 } },
    'InProgress',
    'LatestGenerationNotObserved',
  ),
  given('budget observed', budget, { status: { observedGeneration: 1 } }, 'Current'),

  given('custom resource without a status', custom, {}, 'Current'),
  given(
    'custom resource of another generation',
    custom,
    { generation: 2, status: { observedGeneration: 1 } },
    'InProgress',
    'LatestGenerationNotObserved',
  ),
  given('custom resource ready', custom, { conditions: ['Ready=True AllOk'] }, 'Current'),
  given(
    'custom resource not ready',
    custom,
    { status: { observedGeneration: 1 }, conditions: ['Ready=False NotReadyYet'] },
    'InProgress',
    'NotReadyYet',
  ),
  given('custom resource with another condition', custom, { conditions: ['SomeCondition=False'] }, 'Current'),

  given('job without a status', job, {}, 'InProgress', 'JobNotStarted'),
  given('job complete', job, { status: { succeeded: 1, active: 0 }, conditions: ['Complete=True'] }, 'Current'),
  given(
    'job failed',
    job,
    { spec: { completions: 4 }, status: { succeeded: 3, failed: 1 }, conditions: ['Failed=True JobFailed'] },
    'Failed',
    'JobFailed',
  ),
  given(
    'job running',
    job,
    {
      spec: { completions: 10, parallelism: 2 },
      status: { startTime: '2019-06-04T01:17:13Z', succeeded: 3, failed: 1, active: 2 },
      conditions: ['Failed=False', 'Complete=False'],
    },
    'Current',
  ),
  given('job suspended', job, { spec: { suspend: true }, conditions: ['Suspended=True'] }, 'Current'),
  given(
    'job no longer suspended',
    job,
    { spec: { suspend: false }, conditions: ['Suspended=False'] },
    'InProgress',
    'JobNotStarted',
  ),
  given(
    'job about to be suspended',
    job,
    { spec: { suspend: true }, conditions: ['Suspended=False'] },
    'InProgress',
    'JobNotStarted',
  ),
  given('job about to be resumed', job, { spec: { suspend: false }, conditions: ['Suspended=True'] }, 'Current'),

  given('cron job without a status', cronJob, {}, 'Current'),
  given('cron job with an empty status', cronJob, { status: {} }, 'Current'),

  given('service without a type', service, {}, 'Current'),
  given('service with a node port', service, { spec: { type: 'NodePort' } }, 'Current'),
  given('service with an address', service, { spec: { type: 'LoadBalancer', clusterIP: '1.2.3.4' } }, 'Current'),
  given('service without an address', service, { spec: { type: 'LoadBalancer' } }, 'InProgress', 'NoIPAssigned'),

  given('definition without conditions', definition, {}, 'InProgress', 'Installing'),
  given(
    'definition being installed',
    definition,
    { conditions: ['NamesAccepted=True NoConflicts', 'Established=False Installing'] },
    'InProgress',
    'Installing',
  ),
  given(
    'definition with refused names',
    definition,
    { conditions: ['NamesAccepted=False SomeReason'] },
    'Failed',
    'SomeReason',
  ),
  given(
    'definition established',
    definition,
    { conditions: ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'] },
    'Current',
  ),
];
