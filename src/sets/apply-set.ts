/**
 * Applies a set of objects as one.
 *
 *   1  read the record -> check the documents
 *   2  dry run of every apply, and of every deletion of what leaves, as the caller. One refusal: nothing is written
 *   3  write the record: Applying, all members, those that leave at the end. Held by the version of 1
 *   4  apply the members in their order -> delete what leaves, in the reverse order
 *   5  write the record: Applied, with uids and fields. What has left is not in it
 *
 * A timeline of a gateway that is killed:
 *   apply A   record: Applying, web (no uid), old (leaves) -> web made, with an ownerReference to the record -> killed
 *   apply B   record read: Applying -> web is a member by its ownerReference -> applied again: nothing changes -> old deleted -> Applied
 *
 * Invariants: before a member is made, the record has its name. Only what the record has, and what says itself that the set has written it,
 * is deleted. A member that failed stays in the record, and the phase stays Applying.
 *
 * Two applies of one set at once: the apply that writes the record later is refused. One that begins while another is in step 4 cannot be
 * told from one that finishes it. So the first is refused in step 5. It takes away objects that the record does not name then
 * (steps/stray-members.ts).
 */
import { PortolanError } from '../base/errors.ts';
import { must } from '../base/must.ts';
import type { Operation } from '../operation/operation.ts';
import { type WriteError, writeError } from '../writes/outcome/write-error.ts';
import { unwritten, type WriteItem } from '../writes/run/write-item.ts';
import type { WriteOptions } from '../writes/run/write-options.ts';
import { readLive } from '../writes/send/send-write.ts';
import { type SessionItem, sealedTarget } from '../writes/session/plan-items.ts';
import { planReport, type WriteReport, writtenReport } from '../writes/session/session-report.ts';
import { chargeObjects, type Follower, withWriteSession } from '../writes/session/write-session.ts';
import { clusterOf, type ManifestDocument, manifestTargets } from '../writes/targets/wanted-targets.ts';
import { entryOf, isMember, memberCondition, removalCondition } from './members/membership.ts';
import { targetOfMember } from './members/recorded-members.ts';
import { keyOf, markedManifest, type WantedMember, wantedMembers } from './members/wanted-members.ts';
import type { RecordKeeper } from './record/record-keeper.ts';
import { recordSpec } from './record/record-spec.ts';
import { checkSetName } from './record/set-names.ts';
import {
  memberKey,
  mostMembers,
  mostRecordBytes,
  type SetMember,
  type SetRecord,
  type SetSpec,
} from './record/set-record.ts';
import {
  adoptionWarning,
  type Check,
  checkItems,
  othersRefused,
  plannedAt,
  refusedItems,
  sameFields,
} from './steps/check-members.ts';
import { SetFollower } from './steps/set-follower.ts';
import { futureUid, memberContext, refusalOfOther, type SetWork, setsUnserved, setWork } from './steps/set-work.ts';
import { begunMember, type SubmittedMember, submittedMember, writeMembers } from './steps/write-members.ts';

/** A set as a caller names it. */
export interface GivenSet {
  /** Null where there is one cluster only. */
  readonly cluster: string | null;
  readonly namespace: string;
  readonly name: string;
}

interface WantedSet {
  readonly set: GivenSet;
  readonly documents: readonly ManifestDocument[];
  /** For each document with one object, why it cannot be applied; absent for none. */
  readonly errors?: readonly (WriteError | null)[];
  /** Delete the members that are not submitted any more? */
  readonly prune: boolean;
  /** Take objects that exist and are no members? */
  readonly adopt: boolean;
  /** Take fields from other managers? */
  readonly force: boolean;
  readonly operationName: string | null;
  readonly options: WriteOptions;
  /** Writes the record. Absent: the caller does. */
  readonly keeper?: RecordKeeper;
  /** Absent: nobody. */
  readonly follower?: Follower | undefined;
}

/**
 * The items are those of the documents, then what leaves the set, then the record.
 * @throws PortolanError as `carryOut` (src/writes/mutation.ts); BAD_USER_INPUT for a name that no set can have
 */
export async function applySet(operation: Operation, wanted: WantedSet): Promise<WriteReport> {
  const { set: given, documents, prune, adopt, force, operationName, options } = wanted;
  checkSetOptions(options);
  checkSetName(given);
  const set = { ...given, cluster: clusterOf(operation, given.cluster) };
  const elsewhere = documents.findIndex(({ cluster }) => cluster !== null && cluster !== set.cluster);
  if (elsewhere !== -1) {
    throw new PortolanError('BAD_USER_INPUT', `The set is in the cluster ${set.cluster}: docs[${elsewhere}] is not.`);
  }
  const args = [set, documents, prune, adopt, force];
  const { keeper = null } = wanted;
  const follower = wanted.follower === undefined ? undefined : new SetFollower(wanted.follower);
  const start = { verb: 'applySet', operationName, args, options, follower };
  return withWriteSession(operation, start, async (session) => {
    const own = documents.map((document) => ({
      ...document,
      cluster: set.cluster,
      namespace: document.namespace ?? set.namespace,
    }));
    const targets = await manifestTargets(operation, session.access, session.served, own);
    const found = targets.map((target, index) => ({ ...target, error: wanted.errors?.[index] ?? target.error }));
    // No snapshot is held while API servers answer.
    operation.renewSnapshot();
    chargeObjects(operation, found.length);
    const work = setWork(session, set, keeper);
    const report = await new Apply(work, wanted, wantedMembers(set, found, session.access.setKinds)).report();
    return follower?.end(report) ?? report;
  });
}

/** @throws PortolanError BAD_USER_INPUT for options that do not fit sets. */
export function checkSetOptions({ fieldManager }: WriteOptions): void {
  if (fieldManager === null) return;
  throw new PortolanError('BAD_USER_INPUT', 'A set has a field manager of its own: leave out `fieldManager`.');
}

class Apply {
  readonly #work: SetWork;
  readonly #wanted: WantedSet;
  readonly #members: readonly WantedMember[];

  constructor(work: SetWork, wanted: WantedSet, members: readonly WantedMember[]) {
    this.#work = work;
    this.#wanted = wanted;
    this.#members = members;
  }

  async report(): Promise<WriteReport> {
    const { records, session, set } = this.#work;
    const unserved = await setsUnserved(this.#work);
    if (unserved !== null) return this.#refused(unserved);
    const read = await records.read();
    if (read.error !== null) return this.#refused(read.error);
    const { record } = read;
    const other = refusalOfOther(this.#work, record);
    if (other !== null) return this.#refused(other);
    const isDressOnly = record !== null && this.#work.keeper?.kept === 'all';
    // Without a deletionTimestamp, nothing shows the caller that a deletion has begun. To accept an apply would hide it.
    const isHidden = record !== null && record.phase === 'Deleting' && record.deletionTimestamp === null;
    const isDying = record !== null && record.deletionTimestamp !== null;
    if (isHidden || (isDying && !isDressOnly)) return this.#refused(dyingError);
    const { dryRun } = this.#wanted.options;
    if (isDressOnly) {
      session.follower.begun(1);
      const own = await records.dress(record, dryRun);
      return dryRun ? planReport(session, [own], { at: 0, targets: [] }) : writtenReport(session, [own]);
    }
    if (record === null && this.#work.keeper !== null) {
      const refusal = await records.probe();
      if (refusal !== null) return this.#refused(refusal);
    }
    const context = memberContext(this.#work, record?.uid ?? futureUid);
    const items = [...(await this.#applies(record)), ...this.#removals(record)];
    session.follower.begun(items.length + 1);
    const checks = await checkItems(context, items, { dryRun, isCarriedOut: session.plan !== null });
    const submitted = this.#members.map((wanted, index) =>
      submittedMember(set, record, wanted, must(checks[index], 'a check of each member')),
    );
    const removals = checks.slice(submitted.length);
    const begun = this.#begun(record, submitted, removals);
    const isSame =
      record !== null &&
      record.phase === 'Applied' &&
      sameFields(record.members, begun.members) &&
      submitted.every(isWritten);
    const unrecorded = isSame ? null : unrecordable(record, begun, submitted);
    const isRefused = unrecorded !== null || checks.some(({ state }) => state === 'refused');
    if (dryRun) {
      const own =
        unrecorded !== null
          ? records.refused('apply', unrecorded)
          : isSame
            ? await records.dress(record, true)
            : await records.plan(record, begun);
      const outcomes = [...submitted.map(shownMember), ...removals.map(({ shown }) => shown), own];
      return planReport(session, outcomes, { at: 0, targets: checks.map(({ plan }) => sealedTarget(context, plan)) });
    }
    if (isRefused) {
      return writtenReport(session, [...refusedItems(checks), records.refused('apply', unrecorded ?? othersRefused)]);
    }
    if (isSame) {
      const own = await records.dress(record, false);
      return writtenReport(session, [...checks.map(({ intent }) => unwritten(intent)), own]);
    }
    const { item, held } = await records.begin(record, begun);
    if (held === null) {
      return writtenReport(session, [...checks.map(({ intent }) => unwritten(intent, othersRefused)), item]);
    }
    return writtenReport(
      session,
      await writeMembers(this.#work, { record, begun, held, first: item, submitted, removals }),
    );
  }

  /** Nothing can be written, and no member was looked at. */
  async #refused(error: WriteError): Promise<WriteReport> {
    const outcomes = this.#members.map(({ target, manifest, preconditions, error: own }) => {
      const action = { verb: 'apply', manifest, force: false } as const;
      return unwritten({ target, action, preconditions }, own ?? othersRefused);
    });
    const all = [...outcomes, this.#work.records.refused('apply', error)];
    const { session } = this.#work;
    return this.#wanted.options.dryRun ? planReport(session, all, { at: 0, targets: [] }) : writtenReport(session, all);
  }

  /** The applies as they are checked. */
  async #applies(record: SetRecord | null): Promise<readonly SessionItem[]> {
    const { session, set, records } = this.#work;
    const { adopt, force } = this.#wanted;
    const others = adopt ? await records.owners() : null;
    return Promise.all(
      this.#members.map(async ({ key, target, manifest, preconditions, error }) => {
        const entry = entryOf(record, key);
        const isForced = force || (adopt && error === null && (await this.#isForeign(record, entry, target)));
        const marked =
          error === null ? markedManifest(manifest, set, record ?? { name: set.name, uid: futureUid }) : manifest;
        const intent = { target, action: { verb: 'apply', manifest: marked, force: isForced } as const, preconditions };
        const condition = memberCondition({ set, record, entry, target, adopt, others });
        return { intent, condition, planned: plannedAt(session.plan?.targets, intent), error };
      }),
    );
  }

  /** May the object be none of the set's yet? Adoption takes fields by force. */
  async #isForeign(
    record: SetRecord | null,
    entry: SetMember | undefined,
    target: WantedMember['target'],
  ): Promise<boolean> {
    if (entry === undefined) return true;
    const read = await readLive(this.#work.session.context, target);
    return read.error === null && read.object !== null && !isMember(this.#work.set, record, entry, read.object);
  }

  get #kept(): Exclude<RecordKeeper['kept'], 'all'> {
    const kept = this.#work.keeper?.kept ?? [];
    return kept === 'all' ? [] : kept;
  }

  /** The deletions of what leaves. */
  #removals(record: SetRecord | null): readonly SessionItem[] {
    const { session, set } = this.#work;
    if (record === null || !this.#wanted.prune) return [];
    const submitted = new Set([...this.#members.map(({ key }) => key), ...this.#kept.map(({ key }) => key)]);
    return record.members
      .filter((member) => !submitted.has(memberKey(member)))
      .map((member) => {
        const target = targetOfMember(set.cluster, member);
        const action = { verb: 'delete', propagation: 'BACKGROUND' } as const;
        const intent = { target, action, preconditions: { uid: member.uid, resourceVersion: null } };
        const planned = plannedAt(session.plan?.targets, intent);
        return { intent, condition: removalCondition(set, record, member), planned, error: null };
      });
  }

  /** The record before the members are written. */
  #begun(record: SetRecord | null, submitted: readonly SubmittedMember[], removals: readonly Check[]): SetSpec {
    const { prune } = this.#wanted;
    const metadata = this.#work.keeper?.metadata ?? null;
    const taken = new Set(submitted.map(({ wanted }) => wanted.key));
    for (const { state, intent } of removals) if (state === 'gone') taken.add(keyOf(intent.target));
    const members: SetMember[] = submitted.map(begunMember);
    for (const { key, place } of this.#kept) {
      const member = entryOf(record, key);
      if (member === undefined || taken.has(key)) continue;
      taken.add(key);
      members.splice(place, 0, member);
    }
    const others = (record?.members ?? []).filter((member) => !taken.has(memberKey(member)));
    const kept = prune ? [] : others.filter(({ leaves }) => !leaves);
    const leaving = others.filter(({ leaves }) => prune || leaves).map((member) => ({ ...member, leaves: true }));
    return {
      generation: (record?.generation ?? 0) + 1,
      phase: 'Applying',
      members: [...members, ...kept, ...leaving],
      lastApplied: metadata === null ? (record?.lastApplied ?? null) : metadata.lastApplied,
    };
  }
}

/** Is the member so already, with the same fields? */
function isWritten({ check, entry, fields }: SubmittedMember): boolean {
  return check.state === 'same' && entry?.uid != null && sameFields(entry.fields, fields);
}

/** The item of a member as a plan shows it. */
function shownMember({ check: { shown, plan }, isAdopted }: SubmittedMember): WriteItem {
  if (!isAdopted || shown.errors.length > 0) return shown;
  return { ...shown, warnings: [...shown.warnings, adoptionWarning(plan.plan)] };
}

const dyingError = writeError(
  'STALE_OBJECT',
  'The set is being deleted. Finish that with `deleteSet`, and apply it then.',
);

/**
 * Why the record cannot hold these members; null if it can. Its last write, after the members, has the fields of all. If it is too large,
 * etcd refuses it, and the apply could never end. A record that is too large already may be written if it does not grow.
 */
function unrecordable(
  record: SetRecord | null,
  begun: SetSpec,
  submitted: readonly SubmittedMember[],
): WriteError | null {
  if (begun.members.length > mostMembers.recorded) {
    return writeError(
      'TOO_LARGE',
      `The set would have more than ${mostMembers.recorded} members with those that leave. Let these leave first.`,
    );
  }
  const fields = new Map(submitted.map((member) => [member.wanted.key, member.fields]));
  const members = begun.members.map((member) => ({
    ...member,
    fields: fields.get(memberKey(member)) ?? member.fields,
  }));
  const ended = { ...begun, members };
  const bytes = Buffer.byteLength(JSON.stringify(recordSpec(ended)));
  if (bytes <= mostRecordBytes) return null;
  if (record !== null && lastingBytes(ended) <= lastingBytes(record)) return null;
  return writeError(
    'TOO_LARGE',
    `The record of the set would have ${bytes} bytes with the names of the fields of all members, also of those that leave; at most ${mostRecordBytes} are kept. Make several sets of these objects.`,
  );
}

/** The bytes of a record without what tells the steps of an apply: its count, its phase, and which members leave. */
function lastingBytes({ members, lastApplied }: SetSpec): number {
  const all = members.map((member) => ({ ...member, leaves: false }));
  const spec = recordSpec({ generation: 0, phase: 'Applied', members: all, lastApplied });
  return Buffer.byteLength(JSON.stringify(spec));
}
