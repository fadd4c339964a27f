/**
 * The steps of an apply after the record has all members: the members are written, what leaves is deleted, and the record gets the uids.
 *
 *   apply in the order of the mutation -> delete in the reverse order -> record: Applied, or Applying if something failed
 *
 * If another apply has taken the set meanwhile, what the record does not name any more is taken away (stray-members.ts).
 *
 * With `onError: REVERT`, what was written is undone, and the record says what it said before.
 */
import type { Json, WriteIntent } from '../../writes/request/write-intent.ts';
import { runWrites } from '../../writes/run/run-writes.ts';
import { type RunContext, type RunItem, unwritten, type WriteItem } from '../../writes/run/write-item.ts';
import { type WriteOrder, writeSteps } from '../../writes/run/write-order.ts';
import { uidOf } from '../../writes/send/send-write.ts';
import { sealedTarget } from '../../writes/session/plan-items.ts';
import { entryOf, isMember } from '../members/membership.ts';
import { endedMembers, revertedMembers, type WrittenMember } from '../members/recorded-members.ts';
import { keyOf, markedManifest, type WantedMember } from '../members/wanted-members.ts';
import { appliedFields } from '../projection/field-set.ts';
import { type SetName, setManager } from '../record/set-names.ts';
import type { FieldSet, SetMember, SetRecord, SetSpec } from '../record/set-record.ts';
import { adoptionWarning, type Check, sameFields } from './check-members.ts';
import type { HeldRecord } from './record-writes.ts';
import { futureUid, memberContext, type SetWork } from './set-work.ts';
import { withoutStrays } from './stray-members.ts';

/** A document of the set, as it was checked. */
export interface SubmittedMember {
  readonly wanted: WantedMember;
  readonly check: Check;
  readonly entry: SetMember | undefined;
  /** The uid of the live object; null if there is none, or none of the set's. */
  readonly uid: string | null;
  /** Is it an object that was not the set's before? */
  readonly isAdopted: boolean;
  /** The fields that the dry run gave to the manager of the set. */
  readonly fields: FieldSet | null;
}

/** The member of a document. @param check of its apply, by a dry run */
export function submittedMember(
  set: SetName,
  record: SetRecord | null,
  wanted: WantedMember,
  check: Check,
): SubmittedMember {
  const { live, after } = check.plan.plan;
  const entry = entryOf(record, wanted.key);
  const isOurs = live !== null && isMember(set, record, entry, live);
  return {
    wanted,
    check,
    entry,
    uid: isOurs ? uidOf(live) : null,
    isAdopted: live !== null && !isOurs,
    fields: fieldsIn(set, wanted, after, record?.uid ?? futureUid),
  };
}

function fieldsIn(set: SetName, { manifest }: WantedMember, object: Json | null, recordUid: string): FieldSet | null {
  return object === null ? null : appliedFields({ object, manifest, manager: setManager(set), recordUid });
}

/** The entry of a submitted member before it is written. An object that is gone or another one is no member. */
export function begunMember({ wanted: { target }, entry, uid }: SubmittedMember): SetMember {
  const { group, version, kind, plural } = target.resource;
  return {
    group,
    version,
    kind,
    resource: plural,
    namespace: target.namespace ?? '',
    name: target.name ?? '',
    uid,
    fields: uid === null ? null : (entry?.fields ?? null),
    leaves: false,
  };
}

interface Begun {
  /** Before the apply. */
  readonly record: SetRecord | null;
  readonly begun: SetSpec;
  readonly held: HeldRecord;
  /** The item of the record's first write. */
  readonly first: WriteItem;
  readonly submitted: readonly SubmittedMember[];
  readonly removals: readonly Check[];
}

/** @returns the items of the members, of what leaves, and of the record */
export async function writeMembers(work: SetWork, state: Begun): Promise<readonly WriteItem[]> {
  const { session, set } = work;
  const { held, submitted, removals } = state;
  const { order, onError } = session.options;
  const context = memberContext(work, held.uid);
  const items = [
    ...submitted.filter((member) => !isLeftAlone(member)).map((member) => applyItem(context, work, state, member)),
    ...removals.filter(({ state: found }) => found !== 'gone').map((check) => removalItem(context, work, check)),
  ];
  const intents = items.map(({ intent }) => intent);
  const outcomes = await runWrites(context, items, stepsOf(intents, order), onError);
  const wanted = new Map(submitted.map((member) => [member.wanted.key, member]));
  const writtenBy = (ended: readonly WriteItem[]): ReadonlyMap<string, WrittenMember> =>
    new Map(
      ended.map((outcome) => {
        const key = keyOf(outcome.intent.target);
        const member = wanted.get(key);
        const fields = member === undefined ? null : fieldsIn(set, member.wanted, outcome.after, held.uid);
        return [key, { outcome, fields: fields ?? member?.fields ?? null }];
      }),
    );
  const own = await endRecord(work, state, writtenBy(outcomes));
  const isTaken = own.errors[0]?.code === 'STALE_OBJECT';
  const written = writtenBy(isTaken ? await withoutStrays(context, work.records, held, outcomes) : outcomes);
  const shown = [
    ...submitted.map((member) => ofSubmitted(member, written)),
    ...removals.map((check) => ofRemoval(check, written)),
  ];
  return [...shown, own];
}

/** Is the member so already, so that it is not written? */
function isLeftAlone({ check, entry, uid, fields }: SubmittedMember): boolean {
  return check.state === 'same' && uid !== null && entry?.uid === uid && sameFields(entry.fields, fields);
}

function applyItem(
  context: RunContext,
  { session, set }: SetWork,
  { record, held }: Begun,
  { wanted, check }: SubmittedMember,
): RunItem {
  const { item, plan } = check;
  const { action } = item.intent;
  const force = action.verb === 'apply' && action.force;
  const manifest =
    record === null ? markedManifest(wanted.manifest, set, held) : action.verb === 'apply' ? action.manifest : {};
  const { uid, resourceVersion } = wanted.preconditions;
  const intent: WriteIntent = {
    target: wanted.target,
    action: { verb: 'apply', manifest, force },
    // Only the object that was checked.
    preconditions: { uid: uid ?? uidOf(plan.plan.live), resourceVersion },
  };
  return {
    intent,
    condition: item.condition,
    planned: session.plan === null ? null : sealedTarget(context, { ...plan, intent }),
  };
}

function removalItem(context: RunContext, { session }: SetWork, { item, plan }: Check): RunItem {
  const intent = { ...item.intent, preconditions: { uid: uidOf(plan.plan.live), resourceVersion: null } };
  return {
    intent,
    condition: item.condition,
    planned: session.plan === null ? null : sealedTarget(context, { ...plan, intent }),
  };
}

/** The applies in their order, then the deletions in the reverse order. */
function stepsOf(intents: readonly WriteIntent[], order: WriteOrder): readonly (readonly number[])[] {
  const count = intents.findIndex(({ action }) => action.verb !== 'apply');
  const applies = count === -1 ? intents : intents.slice(0, count);
  const removals = intents.slice(applies.length).toReversed();
  const last = intents.length - 1;
  return [
    ...writeSteps(applies, order),
    ...writeSteps(removals, order).map((step) => step.map((index) => last - index)),
  ];
}

function ofSubmitted(
  { wanted, check, isAdopted }: SubmittedMember,
  written: ReadonlyMap<string, WrittenMember>,
): WriteItem {
  const outcome = written.get(wanted.key)?.outcome;
  if (outcome === undefined) return unwritten(check.intent);
  if (!isAdopted || outcome.errors.length > 0) return outcome;
  return { ...outcome, warnings: [...outcome.warnings, adoptionWarning(check.plan.plan)] };
}

function ofRemoval({ intent, shown }: Check, written: ReadonlyMap<string, WrittenMember>): WriteItem {
  return written.get(keyOf(intent.target))?.outcome ?? shown;
}

/** Step 5. */
async function endRecord(
  { session, records }: SetWork,
  { record, begun, held, first }: Begun,
  written: ReadonlyMap<string, WrittenMember>,
): Promise<WriteItem> {
  const failed = [...written.values()].some(({ outcome }) => outcome.errors.length > 0);
  const isUndone = failed && session.options.onError === 'REVERT';
  const members = isUndone ? revertedMembers(record, begun.members, written) : endedMembers(begun.members, written);
  if (isUndone && record === null && members.length === 0)
    return { ...(await records.remove(held)), result: 'REVERTED' };
  const isAsBefore = record?.phase === 'Applied' && members.length === record.members.length;
  const isWhole = (isUndone ? isAsBefore : !failed) && members.every(({ uid }) => uid !== null);
  const generation = isUndone && record !== null ? record.generation : begun.generation;
  const item = await records.end(held, begun, {
    ...begun,
    generation,
    members,
    phase: isWhole ? 'Applied' : 'Applying',
  });
  if (item.errors.length > 0) return { ...item, result: first.result, written: first.written };
  return { ...item, result: isUndone ? 'REVERTED' : first.result };
}
