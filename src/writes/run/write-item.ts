/**
 * Writes one object for real.
 *
 *   by id                  the request at once
 *   by a filter            GET -> the filter on the live object -> the request with its resourceVersion         409: again
 *   of a plan              the request with the resourceVersion of the plan                                     409: the next line
 *                          planned again -> the same changes -> a patch with tests (plan/tested-patch.ts)       a test fails: again
 *                                        -> no changes are left: UNCHANGED        other changes: PLAN_CHANGED
 *                          without such a patch: the request with the fresh resourceVersion                     409: again
 *                          after a 409, an object of which only the status changed is not planned again: GET -> the request
 *
 * Invariants: an object that a filter found is written only in a state that matches the filter. plan/tested-patch.ts has the one
 * exception. An object of a plan is written only if exactly the planned fields change. Each request has a line in the audit before it is
 * sent; without that line it is not sent.
 */
import { codeOf, messageOf, PortolanError } from '../../base/errors.ts';
import type { ValueChange } from '../diff/field-changes.ts';
import { withhold } from '../diff/withheld-values.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import type { PlannedTarget } from '../plan/plan-id.ts';
import { type Condition, mostAttempts, type PlannedWrite, planOne } from '../plan/plan-one.ts';
import { isSameButStatus } from '../plan/same-state.ts';
import { testedPatch } from '../plan/tested-patch.ts';
import {
  type Json,
  nameOfTarget,
  type Preconditions,
  type WriteAction,
  type WriteIntent,
} from '../request/write-intent.ts';
import {
  type Answer,
  readLive,
  sendWrite,
  uidOf,
  versionOf,
  type WriteContext,
  type Written,
} from '../send/send-write.ts';
import { concreteWrite, isUndoable } from '../undo/concrete-write.ts';

/** The effect on the object. */
export type WriteResult = 'CREATED' | 'CHANGED' | 'UNCHANGED' | 'DELETED' | 'EVICTED' | 'REVERTED' | 'NONE';

/** The outcome for one object. Redacted values in `before`, `after` and `changes` are Withheld. */
export interface WriteItem {
  readonly intent: WriteIntent;
  readonly result: WriteResult;
  /** With managedFields; null where it was not read. */
  readonly live: Json | null;
  readonly before: Json | null;
  /** The object in the answer of the API server. */
  readonly after: Json | null;
  readonly changes: readonly ValueChange[];
  readonly warnings: readonly string[];
  readonly errors: readonly WriteError[];
  /** The state that was written, or that was there already, for `seen`; null where there is none. */
  readonly written: Preconditions | null;
}

/** One object of a run. */
export interface RunItem {
  readonly intent: WriteIntent;
  /** Of a target by query. */
  readonly condition: Condition | null;
  /** Of a plan that is carried out. */
  readonly planned: PlannedTarget | null;
}

export interface RunContext extends WriteContext {
  /** Called before and after each request. @param sent if it is another intent @throws PortolanError if nothing may be written */
  before(intent: WriteIntent, changes: readonly ValueChange[], sent?: WriteIntent): Promise<void>;
  after(intent: WriteIntent, outcome: string, changes: readonly ValueChange[], sent?: WriteIntent): Promise<void>;
  /** Called when an object is done or planned, and again when it is undone. */
  told(outcome: WriteItem): void;
  /** The tag of changes, as in the plan. */
  tag(planned: PlannedTarget, changes: readonly ValueChange[]): string;
  /** The resourceVersion of the object in the tables; null if it is not there. Tells whether a write changed something. */
  storedVersion(intent: WriteIntent): Promise<string | null>;
}

/** An item that was not written. */
export function unwritten(intent: WriteIntent, ...errors: readonly WriteError[]): WriteItem {
  return {
    intent,
    result: errors.length === 0 ? 'UNCHANGED' : 'NONE',
    live: null,
    before: null,
    after: null,
    changes: [],
    warnings: [],
    errors,
    written: null,
  };
}

/** @param keepsBefore reads the object first, so that the write can be reverted */
export async function writeItem(context: RunContext, item: RunItem, keepsBefore: boolean): Promise<WriteItem> {
  const { intent, condition, planned } = item;
  if (planned !== null) return writePlanned(context, item, planned, keepsBefore);
  // An eviction names the Pod by its uid, so that a repeat does not evict the next Pod of the name.
  const isNeeded = condition !== null || keepsBefore;
  const isUndo = isUndoable(intent.action);
  const reads = isNeeded || isUndo || intent.action.verb === 'evict';
  if (!reads || intent.target.name === null) return request(context, intent, null, []);
  for (let attempt = 1; ; attempt += 1) {
    const read = await readState(context, intent, condition);
    if (read.error !== null) {
      // The right to evict does not need the right to get: the API server decides about the eviction itself.
      const mayWrite = !isNeeded && !isUndo && read.error.by === 'RBAC';
      return mayWrite ? request(context, intent, null, []) : unwritten(intent, read.error);
    }
    const { live, before } = read;
    const isHeld = live !== null && intent.action.verb !== 'create';
    const held = isHeld ? heldAt(intent, versionsOf(live)) : intent;
    const concrete = await concreteWrite(context, held, live, heldInTurn(held, attempt));
    if (concrete.error !== null) return { ...unwritten(intent, concrete.error), live, before };
    const { warnings } = concrete;
    if (concrete.intent === null) {
      return { ...unwritten(intent), live, before, after: before, warnings, written: versionsOf(live) };
    }
    const done = await request(context, held, live, [], concrete.intent);
    if (!isStale(done, intent) || attempt === mostAttempts) {
      return { ...done, intent, before, warnings: [...warnings, ...done.warnings] };
    }
  }
}

/**
 * The preconditions for the object. For an undo, each second attempt holds tests of the changed fields, and not the resourceVersion
 * (undo/concrete-write.ts).
 */
function heldInTurn({ action, preconditions }: WriteIntent, attempt: number): Preconditions {
  return isUndoable(action) && attempt % 2 === 0 ? { ...preconditions, resourceVersion: null } : preconditions;
}

type State = Answer<{ readonly live: Json | null /** Of the subresource for scale. */; readonly before: Json | null }>;

const makesObjects: ReadonlySet<WriteAction['verb']> = new Set(['apply', 'create', 'revert']);

async function readState(context: RunContext, intent: WriteIntent, condition: Condition | null): Promise<State> {
  const { target, action } = intent;
  const read = await readLive(context, target);
  if (read.error !== null) return read;
  const live = read.object;
  if (live === null && !makesObjects.has(action.verb)) {
    return { error: writeError('NOT_FOUND', `There is no ${nameOfTarget(target)}.`) };
  }
  const refusal = live === null ? null : (condition?.refusal(live) ?? null);
  if (refusal !== null) return { error: refusal };
  const before = withhold(live, context.redacted(target.resource));
  if (action.verb !== 'scale') return { error: null, live, before };
  const scale = await readLive(context, target, 'scale');
  return scale.error === null ? { error: null, live, before: scale.object } : scale;
}

async function writePlanned(
  context: RunContext,
  item: RunItem,
  planned: PlannedTarget,
  keepsBefore: boolean,
): Promise<WriteItem> {
  const { intent, condition } = item;
  const { tag, uid, resourceVersion } = planned;
  const isExisting = uid !== null && resourceVersion !== null;
  // An apply without changes is sent: it may make its manager an owner.
  const isSent = intent.action.verb === 'apply' || isRemoval(intent) || tag !== context.tag(planned, []);
  const isUndo = isUndoable(intent.action);
  if (tag !== null && isExisting && isSent && !keepsBefore && !isUndo && intent.action.verb !== 'create') {
    const done = await request(context, heldAt(intent, { uid, resourceVersion }), null, []);
    const isGone = isRemoval(intent) && done.errors[0]?.code === 'NOT_FOUND';
    if (!isGone && !isStale(done, intent)) return { ...done, intent };
  }
  for (let attempt = 1; ; attempt += 1) {
    const again = await planOne(context, intent, condition, planned.chosen);
    const differs = differenceFrom(context, intent, planned, again);
    if (differs !== null) {
      // A client that lost the answer to the write reads it by `seen` and the token of the repeat.
      const isThere = differs.result === 'UNCHANGED' && again.live !== null;
      return { ...shownPlan(intent, again), ...differs, written: isThere ? versionsOf(again.live) : null };
    }
    let { live } = again;
    let tested = testedPatch(intent, condition, again);
    for (; ; attempt += 1) {
      const held = live === null ? intent : heldAt(intent, versionsOf(live));
      const way = again.tried === null ? null : { ...again.tried, preconditions: held.preconditions };
      const done = await request(context, tested === null ? held : intent, live, again.changes, tested ?? way);
      if (!isStale(done, intent) || attempt >= mostAttempts) {
        const warnings = [...done.warnings, ...mergedWarning(intent, again, done)];
        return { ...done, intent, before: again.before, changes: again.changes, live, warnings };
      }
      live = live === null ? null : await withOtherStatus(context, item, live);
      if (live === null) break;
      // The object is as planned: the API server writes some value in another way than the test.
      tested = null;
    }
  }
}

/** The object as it is now if only its status has changed; else null. The changes of a write are the same then. */
async function withOtherStatus(
  context: RunContext,
  { intent: { target, action }, condition }: RunItem,
  planned: Json,
): Promise<Json | null> {
  if (condition?.dependsOnStatus === true || (action.verb === 'patch' && action.subresource === 'status')) return null;
  const read = await readLive(context, target);
  if (read.error !== null || read.object === null) return null;
  return isSameButStatus(planned, read.object) ? read.object : null;
}

/** How the plan of now differs from the plan of the caller; null if exactly the planned fields change. */
export function differenceFrom(
  context: RunContext,
  intent: WriteIntent,
  planned: PlannedTarget,
  { error, live, changes, bound }: PlannedWrite,
): Pick<WriteItem, 'result' | 'errors'> | null {
  const isGone = isRemoval(intent) && error?.code === 'NOT_FOUND' && live === null;
  // Done already: by a former attempt with this plan, or by somebody else.
  if (planned.tag !== null && (isGone || (error === null && changes.length === 0))) {
    return { result: 'UNCHANGED', errors: [] };
  }
  if (error !== null) return { result: 'NONE', errors: [error] };
  // The plan is bound to the manifest, and the object is still to be created from it.
  if (planned.isUnchecked && live === null) return null;
  if (planned.tag !== null && context.tag({ ...planned, uid: uidOf(live) }, bound) === planned.tag) return null;
  const why =
    planned.tag === null
      ? 'The plan could not be carried out for it, and now it could'
      : 'Other fields would change than planned';
  return {
    result: 'NONE',
    errors: [writeError('PLAN_CHANGED', `${why}: look at \`changes\` of this item, and plan again.`)],
  };
}

/** The item of a plan. */
export function shownPlan(
  intent: WriteIntent,
  { error, live, before, after, changes, warnings }: PlannedWrite,
): WriteItem {
  const removes = isRemoval(intent);
  const done: WriteResult =
    intent.action.verb === 'evict' ? 'EVICTED' : removes ? 'DELETED' : live === null ? 'CREATED' : 'CHANGED';
  const result = error !== null ? 'NONE' : changes.length === 0 && !removes ? 'UNCHANGED' : done;
  return {
    ...unwritten(intent),
    result,
    live,
    before,
    after,
    changes,
    warnings,
    errors: error === null ? [] : [error],
  };
}

function isRemoval({ action: { verb } }: WriteIntent): boolean {
  return verb === 'delete' || verb === 'evict';
}

function heldAt(intent: WriteIntent, { uid, resourceVersion }: Preconditions): WriteIntent {
  const own = intent.preconditions;
  return { ...intent, preconditions: { uid: own.uid ?? uid, resourceVersion: own.resourceVersion ?? resourceVersion } };
}

function versionsOf(live: Json | null): Preconditions {
  return { uid: uidOf(live), resourceVersion: versionOf(live) };
}

/** Did the object change in between, and not against a precondition of the caller? */
function isStale({ errors: [error] }: WriteItem, { preconditions }: WriteIntent): boolean {
  return error?.code === 'STALE_OBJECT' && preconditions.resourceVersion === null;
}

/**
 * The request, between two lines of the audit.
 * @param sent what is sent instead of the intent, and does the same
 */
async function request(
  context: RunContext,
  intent: WriteIntent,
  live: Json | null,
  changes: readonly ValueChange[],
  sent: WriteIntent | null = null,
): Promise<WriteItem> {
  // Before the request: afterwards the tables may have what it writes.
  const { resourceVersion } = intent.preconditions;
  const former = live === null ? (resourceVersion ?? (await context.storedVersion(intent))) : versionOf(live);
  try {
    await context.before(intent, changes, sent ?? intent);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const code = error.code === 'TOO_MANY_REQUESTS' || error.code === 'AUDIT_UNAVAILABLE' ? error.code : 'UNAVAILABLE';
    return unwritten(intent, writeError(code, error.message));
  }
  let answer: Answer<{ readonly written: Written }>;
  try {
    answer = await sendWrite(context, sent ?? intent, false, live, intent.action.verb);
  } catch (error) {
    await context.after(intent, codeOf(error), changes, sent ?? intent).catch(() => {});
    // Aborted, or the client of the cluster cannot be used. The first may have reached the API server.
    const code = error instanceof PortolanError ? 'DENIED' : 'UNKNOWN';
    return unwritten(intent, writeError(code, messageOf(error)));
  }
  const outcome = answer.error === null ? 'OK' : answer.error.code;
  const unnoted = await context.after(intent, outcome, changes, sent ?? intent).then(
    () => [],
    (error: unknown) => [`It was done, and the audit has no line of the outcome: ${messageOf(error)}`],
  );
  if (answer.error !== null) return { ...unwritten(intent, answer.error), live, warnings: unnoted };
  const { object, isNew, warnings } = answer.written;
  const paused = pausedWarning(intent, object);
  return {
    ...unwritten(intent),
    live,
    result: resultOf(intent, isNew, versionOf(object), former),
    after: withhold(object, context.redacted(intent.target.resource)),
    warnings: [...warnings, ...paused, ...unnoted],
    written: writtenOf(intent, object, live),
  };
}

function resultOf(
  { action: { verb } }: WriteIntent,
  isNew: boolean,
  now: string | null,
  former: string | null,
): WriteResult {
  if (verb === 'delete') return 'DELETED';
  if (verb === 'evict') return 'EVICTED';
  if (isNew || verb === 'create') return 'CREATED';
  return now !== null && now === former ? 'UNCHANGED' : 'CHANGED';
}

function writtenOf(
  { action, preconditions }: WriteIntent,
  object: Json | null,
  live: Json | null,
): WriteItem['written'] {
  // A Status of a deletion has no resourceVersion. The deletion is seen when the object of this uid is gone.
  const uid = action.verb === 'evict' ? uidOf(live) : (uidOf(object) ?? uidOf(live) ?? preconditions.uid);
  return { uid, resourceVersion: action.verb === 'evict' ? null : versionOf(object) };
}

/** A server-side apply has no precondition that there is no object. */
function mergedWarning({ action }: WriteIntent, plan: PlannedWrite, done: WriteItem): readonly string[] {
  const isMerged =
    action.verb === 'apply' && plan.live === null && done.errors.length === 0 && done.result !== 'CREATED';
  return isMerged ? ['Another client created it just before. The fields of the manifest were merged into it.'] : [];
}

function pausedWarning({ action, target }: WriteIntent, object: Json | null): readonly string[] {
  const spec = object?.['spec'];
  const isPaused = typeof spec === 'object' && spec !== null && (spec as Json)['paused'] === true;
  if (action.verb !== 'restart' || !isPaused) return [];
  return [`${target.resource.kind} ${target.name} is paused: its Pods are replaced when it is resumed.`];
}
