/**
 * Deletes a set of objects as one.
 *
 *   1  read the record -> dry run of every deletion, as the caller. If one is refused, nothing is deleted
 *   2  mark the record: the finalizer, phase Deleting, deletionTimestamp
 *   3  delete the members by uid, in the reverse order
 *   4  drop the finalizer: the record is gone
 *
 * With ORPHAN, step 3 takes the label and the ownerReference off the members, and they stay with their field managers.
 *
 * A gateway that is killed after step 2 leaves a record that says so. The next `deleteSet` goes on, and `applySet` refuses. A member that
 * cannot be deleted keeps the record.
 */
import { PortolanError } from '../base/errors.ts';
import type { Operation } from '../operation/operation.ts';
import { type WriteError, writeError } from '../writes/outcome/write-error.ts';
import { requireRepeatable } from '../writes/request/request-id.ts';
import type { Propagation, WriteIntent } from '../writes/request/write-intent.ts';
import { inParallel, runWrites } from '../writes/run/run-writes.ts';
import { type RunContext, unwritten, type WriteItem } from '../writes/run/write-item.ts';
import type { WriteOptions } from '../writes/run/write-options.ts';
import { writeSteps } from '../writes/run/write-order.ts';
import { readLive, uidOf, versionOf } from '../writes/send/send-write.ts';
import { type SessionItem, sealedTarget } from '../writes/session/plan-items.ts';
import { planReport, type WriteReport, writtenReport } from '../writes/session/session-report.ts';
import { chargeObjects, type Follower, withWriteSession } from '../writes/session/write-session.ts';
import { clusterOf, mostObjects } from '../writes/targets/wanted-targets.ts';
import { checkSetOptions, type GivenSet } from './apply-set.ts';
import { removalCondition } from './members/membership.ts';
import { targetOfMember } from './members/recorded-members.ts';
import { unmarked } from './members/wanted-members.ts';
import type { RecordKeeper } from './record/record-keeper.ts';
import { checkSetName } from './record/set-names.ts';
import type { SetMember, SetRecord } from './record/set-record.ts';
import { type Check, checkItems, othersRefused, plannedAt, refusedItems } from './steps/check-members.ts';
import { releaseObject } from './steps/release-object.ts';
import { SetFollower } from './steps/set-follower.ts';
import { memberContext, refusalOfOther, type SetWork, setsUnserved, setWork } from './steps/set-work.ts';

interface UnwantedSet {
  readonly set: GivenSet;
  /** For the objects that the members own. ORPHAN: the members themselves stay. */
  readonly propagation: Propagation;
  readonly operationName: string | null;
  readonly options: WriteOptions;
  /** Writes the record. Absent: the caller does. */
  readonly keeper?: RecordKeeper;
  /** Absent: nobody. */
  readonly follower?: Follower | undefined;
}

/**
 * The items are those of the members in the order of the record, then the record.
 * @throws PortolanError as `carryOut` (src/writes/mutation.ts); BAD_USER_INPUT for a name that no set can have
 */
export async function deleteSet(operation: Operation, wanted: UnwantedSet): Promise<WriteReport> {
  const { set: given, propagation, operationName, options, keeper = null } = wanted;
  checkSetOptions(options);
  checkSetName(given);
  if (options.onError === 'REVERT') {
    throw new PortolanError('BAD_USER_INPUT', 'The deletion of a set cannot be undone: leave out `onError: REVERT`.');
  }
  const set = { ...given, cluster: clusterOf(operation, given.cluster) };
  const args = [set, propagation];
  const follower = wanted.follower === undefined ? undefined : new SetFollower(wanted.follower);
  const start = { verb: 'deleteSet', operationName, args, options, follower };
  return withWriteSession(operation, start, async (session) => {
    if (options.requestId !== null) {
      requireRepeatable('delete', [{ uid: null, resourceVersion: null }], session.plan !== null);
    }
    operation.renewSnapshot();
    const report = await deletion(setWork(session, set, keeper), propagation);
    return follower?.end(report) ?? report;
  });
}

async function deletion(work: SetWork, propagation: Propagation): Promise<WriteReport> {
  const { session, records, set } = work;
  const { dryRun, order, onError } = session.options;
  const refused = (error: WriteError, items: readonly WriteItem[] = []): Promise<WriteReport> | WriteReport => {
    const all = [...items, records.refused('delete', error)];
    return dryRun ? planReport(session, all, { at: 0, targets: [] }) : writtenReport(session, all);
  };
  const unserved = await setsUnserved(work);
  if (unserved !== null) return refused(unserved);
  const read = await records.read();
  if (read.error !== null) return refused(read.error);
  const { record } = read;
  const other = record === null ? null : refusalOfOther(work, record);
  if (other !== null) return refused(other);
  if (record === null) {
    return refused(writeError('NOT_FOUND', `There is no set ${set.name} in the namespace ${set.namespace}.`));
  }
  chargeObjects(session.operation, Math.min(record.members.length, mostObjects));
  session.follower.begun(record.members.length + 1);
  const context = memberContext(work, record.uid);
  const removal = (member: SetMember) => removalOf(context, work, record, member, propagation);
  const items = await Promise.all(record.members.map(removal));
  const checks = await checkItems(context, items, { dryRun, isCarriedOut: session.plan !== null });
  if (dryRun) {
    const own = await records.plan(record, null);
    const targets = checks.map(({ plan }) => sealedTarget(context, plan));
    return planReport(session, [...checks.map(({ shown }) => shown), own], { at: 0, targets });
  }
  if (checks.some(({ state }) => state === 'refused')) return refused(othersRefused, refusedItems(checks));
  const { item, held } = await records.mark(record);
  if (held === null) {
    return writtenReport(session, [...checks.map(({ intent }) => unwritten(intent, othersRefused)), item]);
  }
  const left = checks.filter(({ state }) => state === 'ready' || state === 'same').toReversed();
  const outcomes =
    propagation === 'ORPHAN'
      ? await detached(context, record, left)
      : await runWrites(
          context,
          left.map((check) => itemOf(context, work, check)),
          writeSteps(
            left.map(({ intent }) => intent),
            order,
          ),
          onError,
        );
  const byCheck = new Map(left.map((check, index) => [check, outcomes[index]]));
  const shown = checks.map((check) => byCheck.get(check) ?? check.shown);
  const failed = outcomes.some(({ errors }) => errors.length > 0);
  const { uid, resourceVersion } = held;
  const own = failed
    ? { ...records.refused('delete', keptError), written: { uid, resourceVersion } }
    : await records.drop(held);
  return writtenReport(session, [...shown, own]);
}

const keptError = writeError('SKIPPED', 'A member is left, so the set is kept: send `deleteSet` again to go on.');

function itemOf(context: RunContext, { session }: SetWork, { item, plan }: Check) {
  const intent = { ...item.intent, preconditions: { uid: uidOf(plan.plan.live), resourceVersion: null } };
  const planned = session.plan === null ? null : sealedTarget(context, { ...plan, intent });
  return { intent, condition: item.condition, planned };
}

async function removalOf(
  context: RunContext,
  { session, set }: SetWork,
  record: SetRecord,
  member: SetMember,
  propagation: Propagation,
): Promise<SessionItem> {
  const target = targetOfMember(set.cluster, member);
  const condition = removalCondition(set, record, member);
  const preconditions = { uid: member.uid, resourceVersion: null };
  const deletes: WriteIntent = { target, action: { verb: 'delete', propagation }, preconditions };
  if (propagation !== 'ORPHAN') {
    return { intent: deletes, condition, planned: plannedAt(session.plan?.targets, deletes), error: null };
  }
  const read = await readLive(context, target);
  const live = read.error === null ? read.object : null;
  const patch = live === null ? {} : unmarked(live, record);
  const intent: WriteIntent = {
    target,
    action: { verb: 'patch', format: 'MERGE', patch, subresource: null },
    preconditions: { uid: member.uid, resourceVersion: live === null ? null : versionOf(live) },
  };
  return { intent, condition, planned: plannedAt(session.plan?.targets, intent), error: read.error };
}

/** Takes the marks of the set off the members. */
async function detached(
  context: RunContext,
  record: SetRecord,
  checks: readonly Check[],
): Promise<readonly WriteItem[]> {
  const outcomes = new Array<WriteItem>(checks.length);
  await inParallel([...checks.keys()], async (index) => {
    const { intent, condition } = (checks[index] as Check).item;
    outcomes[index] = await releaseObject(
      context,
      record,
      intent,
      (live) => condition?.refusal(live)?.code !== 'SKIPPED',
    );
  });
  return outcomes;
}
