/**
 * The health of a set: the worst of its members, each with all that it owns.
 *
 *   Missing, Replaced   Failed, with the reason Missing or Replaced        Pending   InProgress, with the reason Pending
 *   Hidden, Unknown     left out: the caller may not get the object        Leaving   left out: it is no longer submitted
 *
 * A set without a member that counts is Current.
 */
import { isWorse } from '../../catalog/health/health-status.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { loadRolledUpHealth, type RolledUpHealth } from '../../reads/related/rolled-up-health.ts';
import { liveMember, type MemberSource, membersIn, stateOf } from './set-members.ts';

type Selected = Parameters<typeof loadRolledUpHealth>[2];

/** Values that the rolled-up health of one member counts for. */
export const memberCost = 10;

/**
 * @param charged members that the operation has already asked for
 * @throws PortolanError INVALID for a record that cannot be read; QUERY_TOO_COSTLY for many members; as `loadRolledUpHealth`
 */
export async function setHealth(source: ObjectSource, selected: Selected, charged: number): Promise<RolledUpHealth> {
  const members = membersIn(source);
  source.operation.cost.charge(Math.max(0, members.length - charged) * memberCost);
  const all = await Promise.all(members.map((member) => memberHealth(member, selected)));
  const known = all.flatMap((health) => (health === null ? [] : [health]));
  return known.reduce<RolledUpHealth>((worst, each) => (isWorse(each.status, worst.status) ? each : worst), current);
}

const current: RolledUpHealth = { status: 'Current', reason: null, message: null, source: 'DEFAULT' };

/** Null for a member that does not count. */
async function memberHealth(member: MemberSource, selected: Selected): Promise<RolledUpHealth | null> {
  if (member.member.leaves) return null;
  const state = await stateOf(member);
  const { kind, name } = member.member;
  const of = (status: 'Failed' | 'InProgress', reason: string, words: string): RolledUpHealth => ({
    status,
    reason,
    message: `${kind} ${name} ${words}`,
    source: 'REFERENCE',
  });
  switch (state) {
    case 'Missing':
      return of('Failed', 'Missing', 'does not exist.');
    case 'Replaced':
      return of('Failed', 'Replaced', 'is another object now.');
    case 'Pending':
      return of('InProgress', 'Pending', 'has not been applied yet.');
    case 'Hidden':
    case 'Leaving':
    case 'Unknown':
      return null;
    case 'Present': {
      const object = await liveMember(member, 'health', selected.culprit);
      if (object === null) return null;
      const health = await loadRolledUpHealth(object, 'OWNED', selected);
      return { ...health, culprit: health.culprit ?? object };
    }
  }
}
