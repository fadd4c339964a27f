/**
 * The members of a set as a caller may see them in the tables. The record names its members to everybody who may get the record. The state
 * of an object is shown only to callers who may get it.
 */
import { type ErrorCode, PortolanError } from '../../base/errors.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Projection } from '../../query/plan/plan.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { batchedObjects } from '../../reads/lists/objects-by-identity.ts';
import { type MemberState, memberIdentity, memberState } from '../members/member-state.ts';
import { projectMember } from '../projection/project.ts';
import { readSetRecord, type SetMember, type SetRecord } from '../record/set-record.ts';

/** A member of a record in the tables. */
export interface MemberSource {
  readonly operation: Operation;
  readonly cluster: string;
  readonly member: SetMember;
  readonly isPast: boolean;
}

/** The record of an object of that kind, whose `metadata` and `spec` were read. @throws PortolanError INVALID */
function recordIn({ row, body }: ObjectSource): SetRecord {
  const { name, namespace, uid, resourceVersion } = row;
  const { metadata } = body;
  const known = typeof metadata === 'object' && metadata !== null ? metadata : {};
  return readSetRecord({ spec: body['spec'], metadata: { ...known, name, namespace, uid, resourceVersion } });
}

/** Makes each value once: a document may select it many times. */
function once<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** In the order of the record. @throws PortolanError INVALID */
export const membersIn = once((source: ObjectSource): readonly MemberSource[] => {
  const { operation, row, isPast } = source;
  return recordIn(source).members.map((member) => ({ operation, cluster: row.cluster, member, isPast }));
});

/** No field of the body. */
const nothing: Projection = {};

/** @throws PortolanError what a read of the tables throws */
export const stateOf = once(
  async (source: MemberSource): Promise<MemberState> => (await find(source, 'states', nothing)).state,
);

/**
 * The live member; null unless it is present.
 * @param place what the objects of one field have in common
 */
export async function liveMember(
  source: MemberSource,
  place: string,
  projection: Projection,
): Promise<ObjectSource | null> {
  return (await find(source, place, projection)).object;
}

/** The part of the member that the set shows (projection/project.ts), without values of redacted paths. Null unless it is present. */
export const manifestOf = once(async (source: MemberSource): Promise<Readonly<Record<string, unknown>> | null> => {
  const live = await liveMember(source, 'manifests', 'whole');
  return live === null ? null : projectMember(live.whole(), source.member.fields);
});

async function find(
  { operation, cluster, member, isPast }: MemberSource,
  place: string,
  projection: Projection,
): Promise<{ readonly state: MemberState; readonly object: ObjectSource | null }> {
  const identity = memberIdentity(member, cluster);
  const isServed = operation.generation.kind(identity.key)?.clusters.includes(cluster) === true;
  // The tables have the members of now.
  if (isPast || !isServed) return { state: 'Unknown', object: null };
  const objects = batchedObjects(operation, `set members: ${place}`, projection);
  const found = await objects.load(identity).catch(unknownObject);
  if (found instanceof PortolanError) return { state: found.code === 'FORBIDDEN' ? 'Hidden' : 'Unknown', object: null };
  const state = memberState(member, found === null ? null : found.row);
  return { state, object: state === 'Present' || state === 'Leaving' ? found : null };
}

const unreadable: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'CACHE_NOT_READY', 'RESOURCE_REFUSED']);

/** The error of an object that cannot be read for this caller or now. @throws any other error */
function unknownObject(error: unknown): PortolanError {
  if (error instanceof PortolanError && unreadable.has(error.code)) return error;
  throw error;
}
