/**
 * The columns of Pods. Ready, Status and Restarts are computed from the statuses of all containers, as the API server does
 * (printPod of Kubernetes 1.37):
 *
 *   the reason of the status, else its phase; SchedulingGated if the condition PodScheduled says so
 *   -> the first init container that has not succeeded: Init:0/2, Init:CrashLoopBackOff, Init:ExitCode:1
 *   -> otherwise the containers, the last one first: a container that waits or has ended gives its reason, and the first in the list wins
 *   -> Completed becomes Running or NotReady while another container runs
 *   -> Terminating or Unknown while the Pod is being deleted
 *
 * The time of the last restart is left out: it is an age, `1 (5m ago)`.
 */

import { list } from '../../base/json.ts';
import { type BuiltInColumn, column, wide } from './built-in-column.ts';
import { at, flag, isPresent, isTrue, memberOf, number, size, text, textOr } from './cell-values.ts';
import { age, name } from './common-columns.ts';

interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  readonly reason: string;
}

const sources = 'spec.initContainers spec.containers status metadata.deletionTimestamp';

function summarize(initContainers: unknown, containers: unknown, status: unknown, deletionTimestamp: unknown): Summary {
  const phase = text(memberOf(status, 'phase'));
  const conditions = memberOf(status, 'conditions');
  const sidecars = new Set(list(initContainers).filter(isSidecar).map(nameOf));
  const init = summarizeInit(list(memberOf(status, 'initContainerStatuses')), sidecars, size(initContainers));
  const isGated = list(conditions).some(
    (each) => memberOf(each, 'type') === 'PodScheduled' && memberOf(each, 'reason') === 'SchedulingGated',
  );
  const before = isGated ? 'SchedulingGated' : text(memberOf(status, 'reason')) || phase;
  let { ready, restarts } = init;
  let reason = init.reason ?? before;
  if (init.reason === null || isTrue(conditions, 'Initialized')) {
    const main = summarizeMain(list(memberOf(status, 'containerStatuses')), reason, isReady(conditions));
    ready += main.ready;
    restarts = init.sidecarRestarts + main.restarts;
    reason = main.reason;
  }
  if (isPresent(deletionTimestamp)) {
    if (memberOf(status, 'reason') === 'NodeLost') reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating';
  }
  return { ready, total: size(containers) + sidecars.size, restarts, reason };
}

/** An init container that runs as long as the Pod. */
function isSidecar(container: unknown): boolean {
  return memberOf(container, 'restartPolicy') === 'Always';
}

function nameOf(value: unknown): string {
  return text(memberOf(value, 'name'));
}

/** The statuses up to the first init container that has not succeeded; its reason, or null if all have. */
function summarizeInit(statuses: readonly unknown[], sidecars: ReadonlySet<string>, total: number) {
  let [ready, restarts, sidecarRestarts] = [0, 0, 0];
  for (const [index, status] of statuses.entries()) {
    const isOfSidecar = sidecars.has(nameOf(status));
    const restarted = number(memberOf(status, 'restartCount'));
    restarts += restarted;
    if (isOfSidecar) sidecarRestarts += restarted;
    const ended = at(status, 'state', 'terminated');
    if (isPresent(ended) && number(memberOf(ended, 'exitCode')) === 0) continue;
    if (isOfSidecar && flag(memberOf(status, 'started'))) {
      if (flag(memberOf(status, 'ready'))) ready += 1;
      continue;
    }
    const waits = text(at(status, 'state', 'waiting', 'reason'));
    const why = isPresent(ended)
      ? endReason(ended)
      : waits === '' || waits === 'PodInitializing'
        ? `${index}/${total}`
        : waits;
    return { ready, restarts, sidecarRestarts, reason: `Init:${why}` };
  }
  return { ready, restarts, sidecarRestarts, reason: null };
}

/** The statuses of the containers that run when all is initialized. */
function summarizeMain(statuses: readonly unknown[], before: string, isPodReady: boolean) {
  let [ready, restarts, reason, failure] = [0, 0, before, ''];
  let hasRunning = false;
  for (const status of statuses.toReversed()) {
    restarts += number(memberOf(status, 'restartCount'));
    const waits = text(at(status, 'state', 'waiting', 'reason'));
    const ended = at(status, 'state', 'terminated');
    if (waits !== '') reason = waits;
    else if (isPresent(ended)) {
      reason = endReason(ended);
      if (number(memberOf(ended, 'exitCode')) !== 0) failure = reason;
    } else if (flag(memberOf(status, 'ready')) && isPresent(at(status, 'state', 'running'))) {
      hasRunning = true;
      ready += 1;
    }
  }
  if (reason === 'Completed') {
    if (hasRunning && isPodReady) reason = 'Running';
    else if (failure !== '') reason = failure;
    else if (hasRunning) reason = 'NotReady';
  }
  return { ready, restarts, reason };
}

function endReason(ended: unknown): string {
  const signal = number(memberOf(ended, 'signal'));
  const code = signal === 0 ? `ExitCode:${number(memberOf(ended, 'exitCode'))}` : `Signal:${signal}`;
  return text(memberOf(ended, 'reason')) || code;
}

function isReady(conditions: unknown): boolean {
  return list(conditions).some((each) => memberOf(each, 'type') === 'Ready' && memberOf(each, 'status') === 'True');
}

function readinessGates(gates: unknown, conditions: unknown): string {
  const types = list(gates).map((gate) => text(memberOf(gate, 'conditionType')));
  if (types.length === 0) return '<none>';
  // The first condition of a type counts.
  const statuses = new Map(
    list(conditions)
      .toReversed()
      .map((each) => [memberOf(each, 'type'), memberOf(each, 'status')]),
  );
  const met = types.filter((type) => statuses.get(type) === 'True');
  return `${met.length}/${types.length}`;
}

/** A column of the summary. */
function summarized(title: string, cell: (summary: Summary) => string): BuiltInColumn {
  return column(title, 'string', sources, (init, main, status, deleted) =>
    cell(summarize(init, main, status, deleted)),
  );
}

export const podColumns: readonly BuiltInColumn[] = [
  name,
  summarized('Ready', ({ ready, total }) => `${ready}/${total}`),
  summarized('Status', ({ reason }) => reason),
  summarized('Restarts', ({ restarts }) => String(restarts)),
  age,
  ...wide(
    column(
      'IP',
      'string',
      'status.podIP status.podIPs',
      (ip, ips) => text(ip) || text(at(list(ips)[0], 'ip')) || '<none>',
    ),
    column('Node', 'string', 'spec.nodeName', textOr('<none>')),
    column('Nominated Node', 'string', 'status.nominatedNodeName', textOr('<none>')),
    column('Readiness Gates', 'string', 'spec.readinessGates status.conditions', readinessGates),
  ),
];
