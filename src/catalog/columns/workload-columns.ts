/** The columns of the groups apps, batch, autoscaling and policy: kinds that make, scale and protect Pods. */

import { list } from '../../base/json.ts';
import { type BuiltInColumn, column, since, wide } from './built-in-column.ts';
import { count, isPresent, isTrue, memberOf, number, presentOr, size, text, time } from './cell-values.ts';
import { age, containers, labelSelector, name, podMaker } from './common-columns.ts';
import { humanDuration } from './human-duration.ts';
import { metricsText, metricsTextOfV1 } from './metrics-text.ts';
import { labelsText, selectorText } from './selector-text.ts';

type Columns = readonly BuiltInColumn[];

const readyOfDesired = column(
  'Ready',
  'string',
  'status.readyReplicas spec.replicas',
  (ready, desired) => `${count(ready)}/${count(desired)}`,
);

const replicas: Columns = [
  column('Desired', 'integer', 'spec.replicas', count),
  column('Current', 'integer', 'status.replicas', count),
  column('Ready', 'integer', 'status.readyReplicas', count),
];

const deployments: Columns = [
  name,
  readyOfDesired,
  column('Up-to-date', 'integer', 'status.updatedReplicas', count),
  column('Available', 'integer', 'status.availableReplicas', count),
  age,
  ...podMaker(labelSelector),
];

const daemonSets: Columns = [
  name,
  column('Desired', 'integer', 'status.desiredNumberScheduled', count),
  column('Current', 'integer', 'status.currentNumberScheduled', count),
  column('Ready', 'integer', 'status.numberReady', count),
  column('Up-to-date', 'integer', 'status.updatedNumberScheduled', count),
  column('Available', 'integer', 'status.numberAvailable', count),
  column('Node Selector', 'string', 'spec.template.spec.nodeSelector', labelsText),
  age,
  ...podMaker(labelSelector),
];

/** `statefulset.apps/web`: what controls the object. */
function controllerName(owners: unknown): string {
  const owner = list(owners).find((each) => memberOf(each, 'controller') === true);
  if (owner === undefined) return '<none>';
  const version = text(memberOf(owner, 'apiVersion'));
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  const kind = text(memberOf(owner, 'kind'));
  const prefix = group === '' ? kind : `${kind}.${group}`;
  return `${prefix === '' ? '' : `${prefix.toLowerCase()}/`}${text(memberOf(owner, 'name'))}`;
}

const controllerRevisions: Columns = [
  name,
  column('Controller', 'string', 'metadata.ownerReferences', controllerName),
  column('Revision', 'integer', 'revision', count),
  age,
];

const podTemplates: Columns = [
  name,
  ...containers('template'),
  column('Pod Labels', 'string', 'template.metadata.labels', labelsText),
];

function jobStatus(conditions: unknown, deletionTimestamp: unknown): string {
  if (isTrue(conditions, 'Complete')) return 'Complete';
  if (isTrue(conditions, 'Failed')) return 'Failed';
  if (isPresent(deletionTimestamp)) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isTrue(conditions, type)) ?? 'Running';
}

function jobCompletions(succeeded: unknown, completions: unknown, parallelism: unknown): string {
  const done = count(succeeded);
  if (isPresent(completions)) return `${done}/${count(completions)}`;
  return number(parallelism) > 1 ? `${done}/1 of ${count(parallelism)}` : `${done}/1`;
}

/** How long the Job took; null while it runs, because that is an age. */
function jobDuration(start: unknown, completion: unknown): string | null {
  if (time(start) === null) return '';
  if (time(completion) === null) return null;
  return humanDuration((Date.parse(text(completion)) - Date.parse(text(start))) / 1_000);
}

const jobs: Columns = [
  name,
  column('Status', 'string', 'status.conditions metadata.deletionTimestamp', jobStatus),
  column('Completions', 'string', 'status.succeeded spec.completions spec.parallelism', jobCompletions),
  column('Duration', 'string', 'status.startTime status.completionTime', jobDuration),
  age,
  ...podMaker(labelSelector),
];

/** A boolean in words, as kubectl shows it in this column. */
function suspension(value: unknown): string {
  return isPresent(value) ? (value === true ? 'True' : 'False') : '<unset>';
}

const cronJobs: Columns = [
  name,
  column('Schedule', 'string', 'spec.schedule', text),
  since('spec.timeZone', column('Timezone', 'string', 'spec.timeZone', presentOr('<none>'))),
  column('Suspend', 'string', 'spec.suspend', suspension),
  column('Active', 'integer', 'status.active', size),
  column('Last Schedule', 'date', 'status.lastScheduleTime', time),
  age,
  ...wide(
    ...containers('spec.jobTemplate.spec.template'),
    column('Selector', 'string', 'spec.jobTemplate.spec.selector', selectorText),
  ),
];

const autoscalers: Columns = [
  name,
  column(
    'Reference',
    'string',
    'spec.scaleTargetRef',
    (target) => `${text(memberOf(target, 'kind'))}/${text(memberOf(target, 'name'))}`,
  ),
  column(
    'Targets',
    'string',
    'spec.metrics status.currentMetrics spec.targetCPUUtilizationPercentage status.currentCPUUtilizationPercentage',
    (metrics, current, cpu, currentCpu) =>
      isPresent(cpu) ? metricsTextOfV1(cpu, currentCpu) : metricsText(metrics, current),
  ),
  column('MinPods', 'string', 'spec.minReplicas', (value) => (isPresent(value) ? String(count(value)) : '<unset>')),
  column('MaxPods', 'integer', 'spec.maxReplicas', count),
  column('Replicas', 'integer', 'status.currentReplicas', count),
  age,
];

const disruptionBudgets: Columns = [
  name,
  column('Min Available', 'string', 'spec.minAvailable', presentOr('N/A')),
  column('Max Unavailable', 'string', 'spec.maxUnavailable', presentOr('N/A')),
  column('Allowed Disruptions', 'integer', 'status.disruptionsAllowed', count),
  age,
];

export const workloadColumns: Readonly<Record<string, Columns>> = {
  'deployments.apps': deployments,
  'replicasets.apps': [name, ...replicas, age, ...podMaker(labelSelector)],
  'statefulsets.apps': [name, readyOfDesired, age, ...podMaker()],
  'daemonsets.apps': daemonSets,
  'controllerrevisions.apps': controllerRevisions,
  replicationcontrollers: [
    name,
    ...replicas,
    age,
    ...podMaker(column('Selector', 'string', 'spec.selector', labelsText)),
  ],
  podtemplates: podTemplates,
  'jobs.batch': jobs,
  'cronjobs.batch': cronJobs,
  'horizontalpodautoscalers.autoscaling': autoscalers,
  'poddisruptionbudgets.policy': disruptionBudgets,
};
