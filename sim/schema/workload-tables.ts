/** apps/v1 and batch/v1, in the notation of notation.ts. */
export const workloadTables = [
  `
group apps/v1 package=io.k8s.api.apps.v1
kind Deployment deployments scope=ns short=deploy categories=all sub=status,scale -- Keeps a set of equal pods and replaces them step by step.
  spec!: DeploymentSpec -- What is wanted.
  status: DeploymentStatus -- What there is.
type DeploymentSpec -- What is wanted of a Deployment.
  minReadySeconds: int32 -- Seconds a pod must be ready to count as available.
  paused: boolean -- Whether changes are held back.
  progressDeadlineSeconds: int32 -- Seconds without progress after which it counts as failed.
  replicas: int32 -- How many pods.
  revisionHistoryLimit: int32 -- How many old ReplicaSets to keep.
  selector!: LabelSelector -- Which pods belong to it.
  strategy: DeploymentStrategy patch=retainKeys -- How pods are replaced.
  template!: PodTemplateSpec -- What the pods are.
type DeploymentStrategy -- How pods are replaced.
  rollingUpdate: RollingUpdateDeployment -- Limits of a rolling update.
  type: string -- Recreate or RollingUpdate.
type RollingUpdateDeployment -- Limits of a rolling update.
  maxSurge: IntOrString -- How many pods more, as number or percentage.
  maxUnavailable: IntOrString -- How many pods fewer, as number or percentage.
type DeploymentStatus -- What there is of a Deployment.
  availableReplicas: int32 -- Pods ready for minReadySeconds.
  collisionCount: int32 -- Collisions of names of ReplicaSets.
  conditions: DeploymentCondition[] merge=type -- Where the Deployment stands.
  observedGeneration: int64 -- The generation the status was set from.
  readyReplicas: int32 -- Pods that are ready.
  replicas: int32 -- Pods that are not ending.
  unavailableReplicas: int32 -- Pods still missing.
  updatedReplicas: int32 -- Pods with the present template.
type DeploymentCondition -- One aspect of the state of a Deployment.
  lastTransitionTime: Time -- When the status last changed.
  lastUpdateTime: Time -- When it was last updated.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status: string -- True, False or Unknown.
  type: string -- Available, Progressing or ReplicaFailure.
kind ReplicaSet replicasets scope=ns short=rs categories=all sub=status,scale -- Keeps a number of equal pods.
  spec!: ReplicaSetSpec -- What is wanted.
  status: ReplicaSetStatus -- What there is.
type ReplicaSetSpec -- What is wanted of a ReplicaSet.
  minReadySeconds: int32 -- Seconds a pod must be ready to count as available.
  replicas: int32 -- How many pods.
  selector!: LabelSelector -- Which pods belong to it.
  template: PodTemplateSpec -- What the pods are.
type ReplicaSetStatus -- What there is of a ReplicaSet.
  availableReplicas: int32 -- Pods ready for minReadySeconds.
  conditions: ReplicaSetCondition[] merge=type -- Where the ReplicaSet stands.
  fullyLabeledReplicas: int32 -- Pods with all labels of the template.
  observedGeneration: int64 -- The generation the status was set from.
  readyReplicas: int32 -- Pods that are ready.
  replicas!: int32 -- Pods there are.
type ReplicaSetCondition -- One aspect of the state of a ReplicaSet.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status: string -- True, False or Unknown.
  type: string -- ReplicaFailure.
kind StatefulSet statefulsets scope=ns short=sts categories=all sub=status,scale -- Keeps pods with names and storage of their own.
  spec!: StatefulSetSpec -- What is wanted.
  status: StatefulSetStatus -- What there is.
type StatefulSetSpec -- What is wanted of a StatefulSet.
  minReadySeconds: int32 -- Seconds a pod must be ready to count as available.
  ordinals: StatefulSetOrdinals -- How pods are numbered.
  persistentVolumeClaimRetentionPolicy: StatefulSetPersistentVolumeClaimRetentionPolicy -- What becomes of claims.
  podManagementPolicy: string -- OrderedReady or Parallel.
  replicas: int32 -- How many pods.
  revisionHistoryLimit: int32 -- How many revisions to keep.
  selector!: LabelSelector -- Which pods belong to it.
  serviceName: string -- The service that names the pods.
  template!: PodTemplateSpec -- What the pods are.
  updateStrategy: StatefulSetUpdateStrategy -- How pods are replaced.
  volumeClaimTemplates: PersistentVolumeClaim[] -- Claims each pod gets.
type StatefulSetOrdinals -- How pods are numbered.
  start: int32 -- The first number.
type StatefulSetPersistentVolumeClaimRetentionPolicy -- What becomes of claims.
  whenDeleted: string -- Retain or Delete.
  whenScaled: string -- Retain or Delete.
type StatefulSetUpdateStrategy -- How pods are replaced.
  rollingUpdate: RollingUpdateStatefulSetStrategy -- Limits of a rolling update.
  type: string -- RollingUpdate or OnDelete.
type RollingUpdateStatefulSetStrategy -- Limits of a rolling update.
  maxUnavailable: IntOrString -- How many pods fewer.
  partition: int32 -- Pods below this number are left alone.
type StatefulSetStatus -- What there is of a StatefulSet.
  availableReplicas: int32 -- Pods ready for minReadySeconds.
  collisionCount: int32 -- Collisions of names of revisions.
  conditions: StatefulSetCondition[] merge=type -- Where the StatefulSet stands.
  currentReplicas: int32 -- Pods of the current revision.
  currentRevision: string -- The current revision.
  observedGeneration: int64 -- The generation the status was set from.
  readyReplicas: int32 -- Pods that are ready.
  replicas!: int32 -- Pods there are.
  updateRevision: string -- The revision being rolled out.
  updatedReplicas: int32 -- Pods of the revision being rolled out.
type StatefulSetCondition -- One aspect of the state of a StatefulSet.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status: string -- True, False or Unknown.
  type: string -- The aspect.
kind DaemonSet daemonsets scope=ns short=ds categories=all sub=status -- Keeps one pod on every node.
  spec!: DaemonSetSpec -- What is wanted.
  status: DaemonSetStatus -- What there is.
type DaemonSetSpec -- What is wanted of a DaemonSet.
  minReadySeconds: int32 -- Seconds a pod must be ready to count as available.
  revisionHistoryLimit: int32 -- How many revisions to keep.
  selector!: LabelSelector -- Which pods belong to it.
  template!: PodTemplateSpec -- What the pods are.
  updateStrategy: DaemonSetUpdateStrategy -- How pods are replaced.
type DaemonSetUpdateStrategy -- How pods are replaced.
  rollingUpdate: RollingUpdateDaemonSet -- Limits of a rolling update.
  type: string -- RollingUpdate or OnDelete.
type RollingUpdateDaemonSet -- Limits of a rolling update.
  maxSurge: IntOrString -- How many pods more.
  maxUnavailable: IntOrString -- How many pods fewer.
type DaemonSetStatus -- What there is of a DaemonSet.
  collisionCount: int32 -- Collisions of names of revisions.
  conditions: DaemonSetCondition[] merge=type -- Where the DaemonSet stands.
  currentNumberScheduled!: int32 -- Nodes that run a pod and should.
  desiredNumberScheduled!: int32 -- Nodes that should run a pod.
  numberAvailable: int32 -- Nodes with an available pod.
  numberMisscheduled!: int32 -- Nodes that run a pod and should not.
  numberReady!: int32 -- Nodes with a ready pod.
  numberUnavailable: int32 -- Nodes without an available pod.
  observedGeneration: int64 -- The generation the status was set from.
  updatedNumberScheduled: int32 -- Nodes with a pod of the present template.
type DaemonSetCondition -- One aspect of the state of a DaemonSet.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status: string -- True, False or Unknown.
  type: string -- The aspect.
kind ControllerRevision controllerrevisions scope=ns -- A snapshot of the state of a controller.
  data!: RawExtension -- The state.
  revision: int64 -- The number of the revision.
`,
  `
group batch/v1 package=io.k8s.api.batch.v1
kind Job jobs scope=ns categories=all sub=status -- Runs pods until enough of them succeed.
  spec: JobSpec -- What is wanted.
  status: JobStatus -- What there is.
type JobSpec -- What is wanted of a Job.
  activeDeadlineSeconds: int64 -- Seconds the Job may run.
  backoffLimit: int32 -- Retries before it fails.
  backoffLimitPerIndex: int32 -- Retries for each index.
  completionMode: string -- NonIndexed or Indexed.
  completions: int32 -- Pods that must succeed.
  manualSelector: boolean -- Whether the selector is the caller's.
  maxFailedIndexes: int32 -- Indexes that may fail.
  parallelism: int32 -- Pods at a time.
  podFailurePolicy: PodFailurePolicy -- What to do with failed pods.
  podReplacementPolicy: string -- When to make a new pod.
  selector: LabelSelector -- Which pods belong to it.
  suspend: boolean -- Whether no pods are made.
  template!: PodTemplateSpec -- What the pods are.
  ttlSecondsAfterFinished: int32 -- Seconds after which a finished Job is deleted.
type PodFailurePolicy -- What to do with failed pods.
  rules!: PodFailurePolicyRule[] -- The first rule that fits decides.
type PodFailurePolicyRule -- One rule.
  action!: string -- FailJob, FailIndex, Ignore or Count.
  onExitCodes: PodFailurePolicyOnExitCodesRequirement -- By exit code.
type PodFailurePolicyOnExitCodesRequirement -- A set of exit codes.
  containerName: string -- The container.
  operator!: string -- In or NotIn.
  values!: int32[] list=set -- The codes.
type JobStatus -- What there is of a Job.
  active: int32 -- Pods that are not finished.
  completedIndexes: string -- Indexes that succeeded.
  completionTime: Time -- When it completed.
  conditions: JobCondition[] merge=type list=atomic -- Where the Job stands.
  failed: int32 -- Pods that failed.
  failedIndexes: string -- Indexes that failed.
  ready: int32 -- Pods that are ready.
  startTime: Time -- When it started.
  succeeded: int32 -- Pods that succeeded.
  terminating: int32 -- Pods that are ending.
  uncountedTerminatedPods: UncountedTerminatedPods -- Pods not counted yet.
type UncountedTerminatedPods -- Pods not counted yet.
  failed: string[] list=set -- Uids of failed pods.
  succeeded: string[] list=set -- Uids of succeeded pods.
type JobCondition -- One aspect of the state of a Job.
  lastProbeTime: Time -- When it was last probed.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status!: string -- True, False or Unknown.
  type!: string -- Complete, Failed or Suspended.
kind CronJob cronjobs scope=ns short=cj categories=all sub=status -- Makes Jobs by the clock.
  spec!: CronJobSpec -- What is wanted.
  status: CronJobStatus -- What there is.
type CronJobSpec -- What is wanted of a CronJob.
  concurrencyPolicy: string -- Allow, Forbid or Replace.
  failedJobsHistoryLimit: int32 -- Failed Jobs to keep.
  jobTemplate!: JobTemplateSpec -- What the Jobs are.
  schedule!: string -- When, in cron format.
  startingDeadlineSeconds: int64 -- Seconds a Job may start late.
  successfulJobsHistoryLimit: int32 -- Finished Jobs to keep.
  suspend: boolean -- Whether no Jobs are made.
  timeZone: string -- The time zone of the schedule.
type JobTemplateSpec -- What the Jobs are.
  metadata: ObjectMeta -- Metadata of the Jobs.
  spec: JobSpec -- What is wanted of the Jobs.
type CronJobStatus -- What there is of a CronJob.
  active: ObjectReference[] -- Jobs that run.
  lastScheduleTime: Time -- When a Job was last made.
  lastSuccessfulTime: Time -- When a Job last succeeded.
`,
];
