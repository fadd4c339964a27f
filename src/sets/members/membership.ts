/**
 * Is a live object a member of a set?
 *
 *   its uid is in the record, and the object itself says that the set has written it      member
 *   the record has its name without a uid, and the object has an ownerReference to the
 *   record: an apply that did not end has made it                                         member
 *   it has the ownerReference, and fields of the set's manager: an apply has made it after
 *   another one had taken it out of the record                                            member, if it is submitted
 *   else                                                                                  no member; `adopt` may take it
 *
 * A record alone proves nothing: anybody with the right may write uids of foreign objects into one, and somebody else would delete them.
 * An ownerReference to the record or fields of the set's manager can be written only by who may write the object.
 */
import { records } from '../../base/json.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { type WriteError, writeError } from '../../writes/outcome/write-error.ts';
import type { Condition } from '../../writes/plan/plan-one.ts';
import { type Json, nameOfTarget, type WriteTarget } from '../../writes/request/write-intent.ts';
import { uidOf } from '../../writes/send/send-write.ts';
import { applySetId, applySetLabels, type SetName, setManager } from '../record/set-names.ts';
import { memberKey, recordsThatOwn, type SetMember, type SetRecord } from '../record/set-record.ts';

/** The entry that the record has for an object; undefined without one. */
export function entryOf(record: SetRecord | null, key: string): SetMember | undefined {
  return record?.members.find((member) => memberKey(member) === key);
}

/** @param entry of the object in the record */
export function isMember(set: SetName, record: SetRecord | null, entry: SetMember | undefined, live: Json): boolean {
  if (record === null) return false;
  const metadata = metadataOf(live);
  const isOwned = recordsThatOwn(metadata).includes(record.uid);
  const ours = isManaged(metadata, setManager(set));
  if (entry === undefined) return isOwned && ours;
  if (entry.uid === null) return isOwned;
  return entry.uid === uidOf(live) ? isOwned || ours : isOwned && ours;
}

function isManaged(metadata: Json, manager: string): boolean {
  return records(memberOf(metadata, 'managedFields')).some((entry) => entry['manager'] === manager);
}

function metadataOf(live: Json): Json {
  return recordOf(live['metadata']) ?? {};
}

interface Adoption {
  readonly set: SetName;
  readonly record: SetRecord | null;
  readonly entry: SetMember | undefined;
  readonly target: WriteTarget;
  readonly adopt: boolean;
  /** The sets of the namespace by the uids of their members. Null: they could not be read. */
  readonly others: ReadonlyMap<string, string> | null;
}

/** May the live object become or stay a member? */
export function memberCondition({ set, record, entry, target, adopt, others }: Adoption): Condition {
  const refusal = (live: Json): WriteError | null => {
    const name = nameOfTarget(target);
    if (memberOf(metadataOf(live), 'deletionTimestamp') !== undefined) {
      return writeError('STALE_OBJECT', `The ${name} is being deleted: apply the set again when it is gone.`);
    }
    if (isMember(set, record, entry, live)) return null;
    if (!adopt) {
      return writeError('ALREADY_EXISTS', `The ${name} exists and is no member of the set: \`adopt: true\` takes it.`);
    }
    return refusalOfAdoption(set, record, live, name, others);
  };
  return { refusal, dependsOnStatus: false };
}

function refusalOfAdoption(
  set: SetName,
  record: SetRecord | null,
  live: Json,
  name: string,
  others: ReadonlyMap<string, string> | null,
): WriteError | null {
  const metadata = metadataOf(live);
  const partOf = memberOf(recordOf(metadata['labels']) ?? {}, applySetLabels.partOf);
  const isLabelled = typeof partOf === 'string' && partOf !== applySetId(set);
  const isOwned = recordsThatOwn(metadata).some((uid) => uid !== record?.uid);
  const other = others?.get(uidOf(live) ?? '');
  if (isLabelled || isOwned || (other !== undefined && other !== set.name)) {
    return writeError('ALREADY_EXISTS', `The ${name} is a member of another set. Take it out of that set first.`);
  }
  if (others !== null) return null;
  return {
    ...writeError(
      'DENIED',
      `To adopt the ${name}, you need the right to list shadowrecords: it may be in another set.`,
    ),
    by: 'RBAC',
  };
}

/** Why a member is not deleted: there is nothing to do. Not an error of the mutation. */
export function removalCondition(set: SetName, record: SetRecord, entry: SetMember): Condition {
  const refusal = (live: Json): WriteError | null => {
    if (!isMember(set, record, entry, live)) {
      return writeError('SKIPPED', `The ${entry.kind} ${entry.name} is another object now, and no member: it is left.`);
    }
    if (memberOf(metadataOf(live), 'deletionTimestamp') === undefined) return null;
    return writeError('SKIPPED', `The ${entry.kind} ${entry.name} is being deleted already.`);
  };
  return { refusal, dependsOnStatus: false };
}
