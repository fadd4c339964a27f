/**
 * The state of a member of a set, as one caller sees it. GraphQL and the API server for kubectl say it in the same words.
 *
 *   Hidden     the caller may not get the object: nothing of it is told but what the record says
 *   Unknown    Portolan does not read its kind, or not yet
 *   Pending    it has not been applied yet
 *   Present    the object with the uid of the record is there
 *   Leaving    it is there, but no longer submitted
 *   Missing    it is gone
 *   Replaced   another object has its name. It is no member
 */
import { resourceKey } from '../../catalog/resources/resource.ts';
import type { Identity } from '../../query/plan/filter.ts';
import type { SetMember } from '../record/set-record.ts';

export type MemberState = 'Hidden' | 'Unknown' | 'Pending' | 'Present' | 'Leaving' | 'Missing' | 'Replaced';

/** The identity of a member in the tables. */
export function memberIdentity({ group, resource, namespace, name }: SetMember, cluster: string): Identity {
  return { cluster, key: resourceKey({ group, plural: resource }), namespace, name };
}

/** @param found the object of the member's name; null if there is none; else why it is not known */
export function memberState(
  { uid, leaves }: Pick<SetMember, 'uid' | 'leaves'>,
  found: { readonly uid: string | null } | 'Hidden' | 'Unknown' | null,
): MemberState {
  if (found === 'Hidden' || found === 'Unknown') return found;
  if (uid === null) return 'Pending';
  if (found === null) return 'Missing';
  if (found.uid !== uid) return 'Replaced';
  return leaves ? 'Leaving' : 'Present';
}
