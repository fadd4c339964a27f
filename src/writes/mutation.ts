/**
 * A mutation, from its arguments to its report.
 *
 *   resolve the targets -> dry run:  plan each object -> planId
 *                       -> real:     write each object (run/) -> wait until the tables show it (run/seen.ts) -> token
 *                       -> `plan`:   open the plan -> write exactly what was planned
 *
 * session/ has what one mutation needs all the time, for mutations of several steps too. Never: writes as the gateway, or shows a redacted
 * value.
 *
 * A timeline of a plan and its writing:
 *   dryRun  GET web (rv 7), dry run: spec.replicas 2 -> 3             planId binds caller, arguments, uid and the change
 *   review  a controller writes the status of web (rv 8)
 *   plan    PATCH with rv 7: 409 -> GET (rv 8), dry run: 2 -> 3, the planned change -> PATCH with tests of the state at rv 8: 200 (rv 9)
 *   seen    the watch brings rv 9 -> commit -> seen: true, token: web at rv 9
 */
import { must } from '../base/must.ts';
import { memberOf, recordOf } from '../catalog/values/displayed-value.ts';
import type { Operation } from '../operation/operation.ts';
import { writeError } from './outcome/write-error.ts';
import type { PlannedTarget } from './plan/plan-id.ts';
import {
  nameOfRequest,
  requireRepeatable,
  requireRepeatablePatch,
  requireRepeatableUndo,
  timeOfRequest,
} from './request/request-id.ts';
import { anyState, misfit, nameOfTarget, type WriteAction, type WriteVerb } from './request/write-intent.ts';
import { runWrites } from './run/run-writes.ts';
import { type RunContext, type RunItem, shownPlan, unwritten, type WriteItem } from './run/write-item.ts';
import type { WriteOptions } from './run/write-options.ts';
import { writeSteps } from './run/write-order.ts';
import { planItems, type SessionItem, sealedTarget } from './session/plan-items.ts';
import { planReport, type WriteReport, writtenReport } from './session/session-report.ts';
import { chargeObjects, type Follower, type WriteSession, withWriteSession } from './session/write-session.ts';
import {
  conditionOf,
  type EditedObject,
  editedTarget,
  identityOf,
  type ManifestDocument,
  manifestTargets,
  objectTargets,
  queryTargets,
  type ResolvedTarget,
  type RevertedObject,
  revertedTarget,
  type TargetObject,
  type TargetQuery,
} from './targets/wanted-targets.ts';

/** The objects of a mutation. */
export type WantedTargets =
  | { readonly documents: readonly ManifestDocument[] }
  | { readonly objects: readonly TargetObject[] }
  | { readonly query: TargetQuery }
  | { readonly edit: EditedObject }
  | { readonly past: RevertedObject };

export interface WantedMutation {
  readonly verb: WriteVerb;
  /** The operation's name in its document. */
  readonly operationName: string | null;
  /** The arguments, without `options`: a plan is bound to them. */
  readonly args: unknown;
  readonly targets: WantedTargets;
  /** Options that change what is written: a plan is bound to them. */
  readonly force: boolean;
  /** The action on one object. @param at the time that a restart writes, RFC 3339 */
  readonly action: (target: ResolvedTarget, at: string) => WriteAction;
  readonly options: WriteOptions;
}

/**
 * Carries out a mutation.
 * @throws PortolanError FORBIDDEN for a read-only gateway; BAD_USER_INPUT, QUERY_TOO_COSTLY for arguments that cannot be carried out.
 */
export async function carryOut(
  operation: Operation,
  wanted: WantedMutation,
  follower?: Follower,
): Promise<WriteReport> {
  const { verb, operationName, options } = wanted;
  const args = [wanted.args, wanted.force, options.fieldManager];
  const start = { verb, operationName, args, options, follower };
  return withWriteSession(operation, start, (session) => perform(session, wanted));
}

async function perform(session: WriteSession, wanted: WantedMutation): Promise<WriteReport> {
  const { operation, plan, options, context, follower } = session;
  const at = plan?.at ?? timeOf(operation, wanted);
  // A plan and what carries it out mean the same moment.
  const now = options.dryRun || plan !== null ? at : operation.now;
  const found = await targetsOf(session, wanted, now);
  // No snapshot is held while API servers answer.
  operation.renewSnapshot();
  const targets = namedOnce(found.map((target) => fitting(wanted, target)));
  chargeObjects(operation, targets.length);
  const items = targets.map((target, index) => itemOf(wanted, target, at, plan?.targets[index] ?? null));
  if (options.requestId !== null) checkRepeats(wanted.verb, items, plan !== null);
  follower.begun(items.length);
  if (!options.dryRun) return writtenReport(session, await written(context, items, options));
  const plans = await planItems(context, items);
  const outcomes = plans.map(({ intent, plan: made }) => shownPlan(intent, made));
  return planReport(session, outcomes, { at, targets: plans.map((each) => sealedTarget(context, each)) });
}

/** The time of a plan, and that a restart writes, in milliseconds since the epoch. */
function timeOf({ source }: Operation, { verb, options: { requestId } }: WantedMutation): number {
  if (verb === 'restart' && requestId !== null) return timeOfRequest(requestId);
  return Math.floor(source.now() / 1000) * 1000;
}

function checkRepeats(verb: WriteVerb, items: readonly RunItem[], isPlanned: boolean): void {
  const preconditions = items.map(({ intent }) => intent.preconditions);
  requireRepeatable(verb, preconditions, isPlanned);
  for (const { intent } of items) {
    const { action } = intent;
    requireRepeatableUndo(action, isPlanned);
    if (action.verb === 'patch') requireRepeatablePatch(action.patch, intent.preconditions.resourceVersion);
  }
}

/** Writes. An item that has an error fails before anything is sent. */
async function written(
  context: RunContext,
  items: readonly SessionItem[],
  { order, onError }: WriteOptions,
): Promise<readonly WriteItem[]> {
  const ready = items.filter(({ error }) => error === null);
  const isStopped = ready.length < items.length && onError !== 'CONTINUE';
  const skipped = writeError('SKIPPED', 'Another item of the mutation cannot be written.');
  const unsent = items.map(({ intent, error }) => {
    const why = error ?? (isStopped ? skipped : null);
    return why === null ? null : unwritten(intent, why);
  });
  for (const outcome of unsent) if (outcome !== null) context.told(outcome);
  const steps = writeSteps(
    ready.map(({ intent }) => intent),
    order,
  );
  const outcomes = (isStopped ? [] : await runWrites(context, ready, steps, onError)).values();
  return unsent.map((outcome) => outcome ?? must(outcomes.next().value, 'an outcome of each item'));
}

/** @param now in milliseconds since the epoch, for times that are relative to it */
async function targetsOf(
  { operation, access, served, plan }: WriteSession,
  { targets, verb }: WantedMutation,
  now: number,
): Promise<readonly ResolvedTarget[]> {
  if ('documents' in targets) {
    const found = await manifestTargets(operation, access, served, targets.documents);
    return verb === 'apply' || verb === 'create' ? found : found.map(namedTarget);
  }
  if ('edit' in targets) return [await editedTarget(operation, access, served, targets.edit)];
  if ('past' in targets) return [await revertedTarget(operation, served, targets.past, now)];
  if ('objects' in targets) return objectTargets(operation, served, targets.objects);
  const condition = conditionOf(operation, targets.query.kinds, targets.query.filter);
  // A plan has the objects that the query found then. Others that match by now were not reviewed.
  if (plan !== null) {
    return plan.targets.map(({ target }) => ({
      target,
      preconditions: anyState,
      condition: condition(identityOf(target, must(target.name, 'an object of a query has a name'))),
      manifest: null,
      error: null,
    }));
  }
  return queryTargets(operation, served, targets.query);
}

/** The object that a manifest names. The further content of the manifest does not matter. */
function namedTarget(resolved: ResolvedTarget): ResolvedTarget {
  const { target, error } = resolved;
  const isNameless = target.name === null && error === null;
  const why = isNameless
    ? writeError('INVALID_FIELD', 'The manifest names no object: write metadata.name.', 'metadata.name')
    : error;
  return { ...resolved, preconditions: anyState, manifest: null, error: why };
}

/** The target, with an error if the verb does not fit it. */
function fitting({ action, verb, options }: WantedMutation, resolved: ResolvedTarget): ResolvedTarget {
  // A requestId makes the name.
  if (verb === 'apply' && resolved.target.name === null && resolved.error === null && options.requestId === null) {
    const unnamed =
      'An apply needs the name of the object: write metadata.name, or use `create`, which takes generateName.';
    return { ...resolved, error: writeError('INVALID_FIELD', unnamed, 'metadata.name') };
  }
  const why = resolved.error === null ? misfit(action(resolved, ''), resolved.target.resource) : null;
  return why === null ? resolved : { ...resolved, error: writeError('UNSUPPORTED', why) };
}

/** An object that is named again gets an error: the second write would take the first one for that of another client. */
function namedOnce(targets: readonly ResolvedTarget[]): readonly ResolvedTarget[] {
  const seen = new Set<string>();
  return targets.map((resolved) => {
    const { target, error } = resolved;
    if (error !== null || target.name === null) return resolved;
    const key = JSON.stringify(identityOf(target, target.name));
    const isAgain = seen.has(key);
    seen.add(key);
    if (!isAgain) return resolved;
    const why = `The mutation has the ${nameOfTarget(target)} twice: name it once.`;
    return { ...resolved, error: writeError('INVALID_FIELD', why) };
  });
}

function itemOf(
  wanted: WantedMutation,
  resolved: ResolvedTarget,
  at: number,
  planned: PlannedTarget | null,
): SessionItem {
  const { requestId } = wanted.options;
  const named = requestId === null ? resolved : withName(resolved, requestId);
  const action = wanted.action(named, new Date(at).toISOString().replace('.000Z', 'Z'));
  const { target, preconditions, condition, error } = named;
  return { intent: { target, action, preconditions }, condition, planned, error };
}

function withName(resolved: ResolvedTarget, requestId: string): ResolvedTarget {
  const { target, manifest } = resolved;
  const metadata = recordOf(manifest?.['metadata']);
  const prefix = metadata === null ? null : memberOf(metadata, 'generateName');
  if (target.name !== null || manifest === null || typeof prefix !== 'string') return resolved;
  const name = nameOfRequest(requestId, prefix, target.place ?? '');
  // With generateName, servers before 1.30 answer 500 for a name that exists.
  const { generateName: _prefix, ...rest } = metadata ?? {};
  return { ...resolved, target: { ...target, name }, manifest: { ...manifest, metadata: { ...rest, name } } };
}
