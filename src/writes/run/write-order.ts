/**
 * The order in which the objects of one mutation are written.
 *
 *   BY_KIND   what others need first: namespaces, CRDs, rights, configuration, storage, workloads, then what selects and scales them,
 *             admission webhooks and policies last. Removals run the other way. Objects of one step are written several at a time.
 *   GIVEN     one after the other, as the caller wrote them
 */
import type { WriteIntent } from '../request/write-intent.ts';

export type WriteOrder = 'BY_KIND' | 'GIVEN';

/** Kinds of Kubernetes by step. A custom resource is a step of its own, after the configuration and before the workloads. */
const steps: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition', 'PriorityClass', 'StorageClass', 'RuntimeClass', 'IngressClass', 'APIService'],
  ['ResourceQuota', 'LimitRange', 'NetworkPolicy', 'ServiceAccount'],
  ['ClusterRole', 'Role'],
  ['ClusterRoleBinding', 'RoleBinding'],
  ['Secret', 'ConfigMap'],
  ['PersistentVolume', 'PersistentVolumeClaim'],
  ['Service', 'Endpoints', 'EndpointSlice'],
  [],
  ['Pod', 'ReplicationController', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'],
  ['PodDisruptionBudget', 'HorizontalPodAutoscaler', 'Ingress'],
  [
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
    'MutatingWebhookConfiguration',
  ],
];
const custom = steps.findIndex((kinds) => kinds.length === 0);
const stepOf = new Map(steps.flatMap((kinds, step) => kinds.map((kind) => [kind, step])));

/** The indexes of the intents: one list for each step, in the order of the steps. */
export function writeSteps(intents: readonly WriteIntent[], order: WriteOrder): readonly (readonly number[])[] {
  if (order === 'GIVEN') return intents.map((_, index) => [index]);
  const byStep = Map.groupBy(intents.keys(), (index) => {
    const { target, action } = intents[index] as WriteIntent;
    // A custom resource may have the Kind of a built-in one. Its step differs then, which does no harm.
    const step = stepOf.get(target.resource.kind) ?? custom;
    return action.verb === 'delete' || action.verb === 'evict' ? -step : step;
  });
  return [...byStep].toSorted(([a], [b]) => a - b).map(([, indexes]) => indexes);
}
