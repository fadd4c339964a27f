/** Finds the members of an abstract kind that no cluster serves. */
import type { AbstractKind, Member } from '../../catalog/abstract/abstract-kind.ts';
import type { ResourceHandle } from '../../store/types/progress.ts';

/** Most members that are named; the others are counted. */
const most = 10;

/** Are the objects of this collection those of the member? */
export function isMemberOf({ cluster }: AbstractKind, { resource }: Member, handle: ResourceHandle): boolean {
  return handle.key === resource && (cluster === undefined || handle.cluster === cluster);
}

/** A sentence about the members without a collection; none if all have one. */
export function unservedMembers(kind: AbstractKind, handles: readonly ResourceHandle[]): readonly string[] {
  const names = kind.members
    .filter((member) => !handles.some((handle) => isMemberOf(kind, member, handle)))
    .map(({ resource }) => resource);
  if (names.length === 0) return [];
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  const who =
    kind.cluster === undefined ? 'no cluster that could be read serves' : `the cluster ${kind.cluster} does not serve`;
  return [`${who} these members, or this gateway leaves them out: ${names.slice(0, most).join(', ')}${more}`];
}
