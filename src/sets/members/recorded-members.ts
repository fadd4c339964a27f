/**
 * The members as the record has them: before the members are written, after it, and after an apply was undone.
 *
 *   record before   web (uid 1), old (uid 2)              submitted: web, new
 *   begun           web (uid 1), new, old (uid 2, leaves)
 *   ended           web (uid 1), new (uid 3)
 *   reverted        web (uid 1), old                      old was created again: its uid is found by its ownerReference
 */
import type { WriteItem } from '../../writes/run/write-item.ts';
import type { FieldSet, SetMember, SetRecord } from '../record/set-record.ts';
import { memberKey } from '../record/set-record.ts';

/** How the write of a member ended. */
export interface WrittenMember {
  readonly outcome: WriteItem;
  readonly fields: FieldSet | null;
}

/**
 * The members after the writes. A member that failed stays as it was.
 * @param written by key
 */
export function endedMembers(
  begun: readonly SetMember[],
  written: ReadonlyMap<string, WrittenMember>,
): readonly SetMember[] {
  return begun.flatMap((member) => {
    const found = written.get(memberKey(member));
    if (found === undefined) return [member];
    const { outcome, fields } = found;
    if (outcome.result === 'DELETED') return [];
    if (outcome.errors.length > 0 || outcome.result === 'NONE' || outcome.written === null) return [member];
    return [{ ...member, uid: outcome.written.uid ?? member.uid, fields: fields ?? member.fields }];
  });
}

/** The members after what was written was undone. */
export function revertedMembers(
  before: SetRecord | null,
  begun: readonly SetMember[],
  written: ReadonlyMap<string, WrittenMember>,
): readonly SetMember[] {
  const known = (before?.members ?? []).map((member) => {
    const outcome = written.get(memberKey(member))?.outcome;
    const isNew = outcome?.result === 'REVERTED' && outcome.intent.action.verb === 'delete';
    return isNew ? { ...member, uid: null } : member;
  });
  const keys = new Set(known.map(memberKey));
  const left = endedMembers(begun, written).filter((member) => {
    if (keys.has(memberKey(member))) return false;
    const outcome = written.get(memberKey(member))?.outcome;
    const isUnknown = outcome?.errors.some(({ code }) => code === 'UNKNOWN') === true;
    return isUnknown || outcome?.result === 'CREATED' || outcome?.result === 'CHANGED';
  });
  return [...known, ...left];
}

/** The member as the target of a write. */
export function targetOfMember(cluster: string, { group, version, kind, resource, namespace, name }: SetMember) {
  const own = { group, version, plural: resource, kind, namespaced: true };
  return { cluster, resource: own, namespace, name, place: null };
}
