/**
 * The plan of one write: what would change, by a dry run of the API server.
 *
 *   GET -> the filter, evaluated on the live object -> dry run with that uid and resourceVersion -> field changes
 *                                                      409: the object changed in between: the next line
 *   GET -> the filter -> dry run with that uid -> GET: the same but for the status -> field changes        another object: the first line
 *
 * The second line is for objects whose status changes more often than a request takes. So `before` and `after` belong to one state of the
 * object, but for its status. A create has no `before`, and a delete no `after`. A new object has a second
 * dry run, which tells what the API server chooses anew each time (chosen-values.ts).
 */

import type { Place } from '../../catalog/paths/places-at.ts';
import { fieldChanges, type ValueChange } from '../diff/field-changes.ts';
import { withhold } from '../diff/withheld-values.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import { anyState, type Json, nameOfTarget, type WriteIntent } from '../request/write-intent.ts';
import { readLive, sendWrite, uidOf, versionOf, type WriteContext } from '../send/send-write.ts';
import { concreteWrite } from '../undo/concrete-write.ts';
import { chosenPlaces, withoutChosen } from './chosen-values.ts';
import { isSameButStatus } from './same-state.ts';

/** A condition for an object that a query found. */
export interface Condition {
  /** Why a live object must not be written; null if it may. Such as: it no longer matches the filter. */
  refusal(live: Json): WriteError | null;
  /** May the refusal be another one when only the status has changed? */
  readonly dependsOnStatus: boolean;
}

export interface PlannedWrite {
  /** Null: the plan cannot be carried out for this object. */
  readonly error: WriteError | null;
  /** The object as it is, with managedFields and all values. Null if there is none, and where it could not be read. */
  readonly live: Json | null;
  /** Redacted values are Withheld. Of the subresource scale for that verb. */
  readonly before: Json | null;
  readonly after: Json | null;
  readonly changes: readonly ValueChange[];
  /** Where a new object has values that the API server chooses anew for each request. */
  readonly chosen: readonly Place[];
  /** The changes without chosen values: a plan holds if these are the same. */
  readonly bound: readonly ValueChange[];
  readonly warnings: readonly string[];
  /** The write that the dry run sent; null without one. */
  readonly tried: WriteIntent | null;
}

/**
 * Attempts to plan or to write in one state of an object that others change meanwhile. A controller may write the status of each object
 * several times a second, and each attempt takes some requests.
 */
export const mostAttempts = 50;

const nothing = {
  live: null,
  before: null,
  after: null,
  changes: [],
  chosen: [],
  bound: [],
  warnings: [],
  tried: null,
};

const changedMeanwhile = writeError('STALE_OBJECT', 'The object changes all the time: send the mutation again.');

/** The plan of an object that cannot be written. */
export function unplanned(error: WriteError): PlannedWrite {
  return { ...nothing, error };
}

/** @param chosen of the plan that is carried out; null for a new plan, which finds them out */
export async function planOne(
  context: WriteContext,
  intent: WriteIntent,
  condition: Condition | null,
  chosen: readonly Place[] | null,
): Promise<PlannedWrite> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await attemptPlan(context, intent, condition, chosen, attempt % 2 === 1);
    const isOurs = intent.preconditions.resourceVersion === null;
    if (found.error?.code !== 'STALE_OBJECT' || !isOurs || found.isOther || attempt === mostAttempts) return found;
  }
}

async function attemptPlan(
  context: WriteContext,
  intent: WriteIntent,
  condition: Condition | null,
  known: readonly Place[] | null,
  holdsVersion: boolean,
): Promise<PlannedWrite & { readonly isOther?: boolean }> {
  const { target, action, preconditions } = intent;
  const isNew = action.verb === 'create';
  const read = isNew || target.name === null ? { error: null, object: null } : await readLive(context, target);
  if (read.error !== null) return { ...nothing, error: read.error };
  const live = read.object;
  const refusal = refusalOf(intent, live, condition);
  if (refusal !== null) return { ...nothing, live, error: refusal, isOther: true };
  const held =
    live === null
      ? preconditions
      : { uid: uidOf(live), resourceVersion: preconditions.resourceVersion ?? (holdsVersion ? versionOf(live) : null) };
  const scale = action.verb === 'scale' ? await readLive(context, target, 'scale') : null;
  if (scale !== null && scale.error !== null) return { ...nothing, live, error: scale.error };
  const concrete = await concreteWrite(context, intent, live, isNew ? anyState : held);
  if (concrete.error !== null) return { ...nothing, live, error: concrete.error };
  const tried = concrete.intent;
  const redacted = context.redacted(target.resource);
  if (tried === null) {
    const now = withhold(live, redacted);
    return { ...nothing, error: null, live, before: now, after: now, warnings: concrete.warnings };
  }
  const dry = await sendWrite(context, tried, true, live, action.verb);
  if (dry.error !== null) return { ...nothing, live, error: dry.error };
  if (live !== null && held.resourceVersion === null && !isNew) {
    const again = await readLive(context, target);
    if (again.error !== null) return { ...nothing, live, error: again.error };
    if (again.object === null || !isSameButStatus(live, again.object))
      return { ...nothing, live, error: changedMeanwhile };
  }
  const { object } = dry.written;
  const warnings = [...concrete.warnings, ...dry.written.warnings];
  let chosen = live === null ? (known ?? []) : [];
  if (live === null && known === null) {
    const other = await sendWrite(context, tried, true, null, action.verb);
    if (other.error !== null) return { ...nothing, error: other.error };
    chosen = chosenPlaces(object, other.written.object);
  }
  const isRemoval = action.verb === 'delete' || action.verb === 'evict';
  const before = withhold(scale === null ? live : scale.object, redacted);
  const after = isRemoval ? null : withhold(object, redacted);
  const withStatus = action.verb === 'patch' && action.subresource === 'status';
  const changes = fieldChanges(before, after, { withStatus });
  const kept = withhold(withoutChosen(object, chosen), redacted);
  const bound = chosen.length === 0 ? changes : fieldChanges(before, kept, { withStatus });
  return { error: null, live, before, after, changes, chosen, bound, warnings, tried };
}

function refusalOf(
  { target, action, preconditions }: WriteIntent,
  live: Json | null,
  condition: Condition | null,
): WriteError | null {
  if (live === null) {
    if (action.verb === 'revert' && preconditions.resourceVersion === null) return null;
    if (action.verb === 'apply' && preconditions.uid === null && preconditions.resourceVersion === null) return null;
    if (action.verb === 'create') return null;
    return writeError('NOT_FOUND', `There is no ${nameOfTarget(target)}.`);
  }
  if (preconditions.uid !== null && preconditions.uid !== uidOf(live)) {
    return writeError('STALE_OBJECT', `The ${nameOfTarget(target)} is another object now: its uid is ${uidOf(live)}.`);
  }
  return condition?.refusal(live) ?? null;
}
