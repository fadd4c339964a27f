/** Jobs and CronJobs: the Pods of a Job until enough of them succeed, and the Jobs of a CronJob by its schedule. */
import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { timeText } from '../resources/object-metadata.ts';
import type { Controller, Step } from '../world/controller-loop.ts';
import { podSpecOf } from '../world/pod-maker.ts';
import { hasCondition, isDeleting, numberAt, type World } from '../world/world.ts';
import { createPod } from './created-pod.ts';
import { dependentsOf, isActive, ownerKey } from './workload-controllers.ts';

const jobs = 'jobs.batch';
const cronJobs = 'cronjobs.batch';
const by = 'kube-controller-manager';
const minute = 60_000;

/** The labels by which a Job knows its Pods. */
export function jobLabels(job: Stored): JsonObject {
  return {
    'batch.kubernetes.io/controller-uid': job.uid,
    'batch.kubernetes.io/job-name': job.name,
    'controller-uid': job.uid,
    'job-name': job.name,
  };
}

/** Creates the Job of a CronJob for a minute; with the selector and labels that the API server would generate. */
export function createJob(world: World, cron: Stored, when: number): Stored {
  const spec = asObject(at(cron.object, 'spec', 'jobTemplate', 'spec'));
  const job = world.create(
    'batch',
    'jobs',
    {
      metadata: {
        name: `${cron.name}-${Math.floor(when / minute)}`,
        namespace: cron.namespace,
        labels: asObject(at(cron.object, 'spec', 'jobTemplate', 'metadata', 'labels')),
        annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': timeText(when) },
        ownerReferences: [world.ownerReference(cron)],
        creationTimestamp: timeText(when),
      },
      spec,
    },
    by,
  );
  const template = asObject(spec.template);
  const metadata = asObject(template.metadata);
  const labels = { ...asObject(metadata.labels), ...jobLabels(job) };
  const generated = {
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': job.uid } },
    template: { ...template, metadata: { ...metadata, labels } },
  };
  return world.patchSpec(job, generated, by) ?? job;
}

/** Whether a Job has ended. */
function isFinished(job: Stored): boolean {
  return hasCondition(job.object, 'Complete') || hasCondition(job.object, 'Failed');
}

/** The status of an ended Job. */
export function finishedStatus(started: string, ended: string, succeeded: number, failed: number): JsonObject {
  const type = succeeded > 0 ? 'Complete' : 'Failed';
  return {
    startTime: started,
    ...(succeeded > 0 ? { succeeded, completionTime: ended } : {}),
    ...(failed > 0 ? { failed } : {}),
    terminating: 0,
    ready: 0,
    uncountedTerminatedPods: {},
    conditions: [
      {
        type,
        status: 'True',
        lastProbeTime: ended,
        lastTransitionTime: ended,
        reason: succeeded > 0 ? 'CompletionsReached' : 'BackoffLimitExceeded',
        message:
          succeeded > 0 ? 'Reached expected number of succeeded pods' : 'Job has reached the specified backoff limit',
      },
    ],
  };
}

export function jobController(world: World): Controller {
  return {
    name: 'job',
    storage: jobs,
    watches: { pods: ownerKey('Job') },
    reconcile: (job) => {
      if (isDeleting(job) || isFinished(job) || at(job.object, 'spec', 'suspend') === true) return;
      const pods = dependentsOf(world, job, 'pods');
      const ended = (phase: string): number => pods.filter((pod) => at(pod.object, 'status', 'phase') === phase).length;
      const [succeeded, failed] = [ended('Succeeded'), ended('Failed')];
      const completions = numberAt(job.object, 'spec', 'completions') || 1;
      const limit =
        at(job.object, 'spec', 'backoffLimit') === undefined ? 6 : numberAt(job.object, 'spec', 'backoffLimit');
      const now = world.nowText();
      const startTime = asString(at(job.object, 'status', 'startTime')) || now;
      if (succeeded >= completions || failed > limit) {
        const enough = succeeded >= completions ? succeeded : 0;
        world.setStatus(job, finishedStatus(startTime, now, enough, failed), by);
        if (enough > 0) world.emit(job, 'Normal', 'Completed', 'Job completed', 'job-controller');
        else
          world.emit(
            job,
            'Warning',
            'BackoffLimitExceeded',
            'Job has reached the specified backoff limit',
            'job-controller',
          );
        return;
      }
      const active = pods.filter(isActive);
      const wanted = Math.min(numberAt(job.object, 'spec', 'parallelism') || 1, completions - succeeded);
      const template = asObject(asObject(job.object.spec).template);
      for (let i = active.length; i < wanted; i++) {
        const spec = podSpecOf(world, template, undefined);
        const made = { template, spec, labels: jobLabels(job), manager: by, component: 'job-controller' };
        if (createPod(world, job, made) !== undefined) break;
      }
      const left = dependentsOf(world, job, 'pods').filter(isActive);
      world.setStatus(
        job,
        {
          startTime,
          active: left.length,
          ready: left.filter((pod) => hasCondition(pod.object, 'Ready')).length,
          ...(succeeded > 0 ? { succeeded } : {}),
          ...(failed > 0 ? { failed } : {}),
          terminating: 0,
          uncountedTerminatedPods: {},
        },
        by,
      );
    },
  };
}

/** Keeps the status of CronJobs, and removes ended Jobs beyond their history limits. */
export function cronJobController(world: World): Controller {
  return {
    name: 'cronjob',
    storage: cronJobs,
    watches: { [jobs]: ownerKey('CronJob') },
    reconcile: (cron) => {
      if (isDeleting(cron)) return;
      const own = dependentsOf(world, cron, jobs).filter((job) => !isDeleting(job));
      for (const [type, limit] of [
        ['Complete', 'successfulJobsHistoryLimit'],
        ['Failed', 'failedJobsHistoryLimit'],
      ] as const) {
        const ended = own.filter((job) => hasCondition(job.object, type)).sort((a, b) => (a.name < b.name ? 1 : -1));
        for (const job of ended.slice(numberAt(cron.object, 'spec', limit))) world.delete(job);
      }
      const running = own.filter((job) => !isFinished(job));
      const times = own
        .map((job) => asString(at(job.object, 'status', 'completionTime')))
        .filter((time) => time !== '');
      const last = times.sort().at(-1);
      const { active: _, ...status } = asObject(cron.object.status);
      world.setStatus(
        cron,
        {
          ...status,
          ...(running.length > 0
            ? {
                active: running.map((job) => ({
                  apiVersion: 'batch/v1',
                  kind: 'Job',
                  namespace: job.namespace,
                  name: job.name,
                  uid: job.uid,
                })),
              }
            : {}),
          ...(last === undefined ? {} : { lastSuccessfulTime: last }),
        },
        by,
      );
    },
  };
}

/** Creates the Jobs of CronJobs when their minute comes. Minutes before the start are not made up for. */
export class CronSchedule implements Step {
  readonly #world: World;
  #last: number;

  constructor(world: World) {
    this.#world = world;
    this.#last = Math.floor(world.clock.now() / minute);
  }

  step(): void {
    const world = this.#world;
    const now = Math.floor(world.clock.now() / minute);
    if (now <= this.#last) return;
    this.#last = now;
    for (const cron of world.list(cronJobs)) {
      const { schedule, suspend, concurrencyPolicy } = asObject(cron.object.spec);
      if (suspend === true || isDeleting(cron) || !isDue(asString(schedule), new Date(now * minute))) continue;
      if (concurrencyPolicy === 'Forbid' && asArray(at(cron.object, 'status', 'active')).length > 0) continue;
      if (world.get(jobs, cron.namespace, `${cron.name}-${now}`)) continue;
      const job = createJob(world, cron, now * minute);
      world.setStatus(cron, { ...asObject(cron.object.status), lastScheduleTime: timeText(now * minute) }, by);
      world.emit(cron, 'Normal', 'SuccessfulCreate', `Created job ${job.name}`, 'cronjob-controller');
    }
  }
}

/** Whether a schedule of five fields (numbers, lists, ranges, steps; UTC) has this minute. */
function isDue(schedule: string, time: Date): boolean {
  const fields = schedule.trim().split(/\s+/);
  const values = [
    time.getUTCMinutes(),
    time.getUTCHours(),
    time.getUTCDate(),
    time.getUTCMonth() + 1,
    time.getUTCDay(),
  ];
  return (
    fields.length === 5 && fields.every((field, i) => field.split(',').some((part) => covers(part, values[i] ?? 0)))
  );
}

function covers(part: string, value: number): boolean {
  const [, range = '', step = '1'] = /^([\d*-]+)(?:\/(\d+))?$/.exec(part) ?? [];
  if (range === '') return false;
  const [from = '', to = part.includes('/') ? '59' : from] = range.split('-');
  const low = range === '*' ? 0 : Number(from);
  return value >= low && (range === '*' || value <= Number(to)) && (value - low) % Number(step) === 0;
}
