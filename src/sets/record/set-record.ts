/**
 * A set of objects, and its record: the object in the cluster that says which objects are members.
 *
 *   ShadowRecord shop/web     spec.phase: Applied
 *     members[0]  deployments.apps web    uid 7c…   fields: the names of the fields that were applied
 *     members[1]  services web            uid 91…
 *     members[2]  configmaps old          uid 22…   leaves: it is no longer submitted, and is to be deleted
 *
 * The uid decides whether an object is a member. A label or a name never does.
 *
 *   Applying   members are being written. A member without a uid may have been made: then it has an ownerReference to the record
 *   Applied    each member has its uid
 *   Deleting   the set is being deleted. The finalizer keeps the record until all members are deleted
 *
 * Owns: the types of the record and their reading. Never: a value of a field of a member.
 */
import { type ErrorCode, PortolanError } from '../../base/errors.ts';
import { isRecord, isText, records, strings, text } from '../../base/json.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { memberOf } from '../../catalog/values/displayed-value.ts';

type Json = Readonly<Record<string, unknown>>;

export const recordResource = {
  group: 'portolan.dev',
  version: 'v1alpha1',
  plural: 'shadowrecords',
  kind: 'ShadowRecord',
  namespaced: true,
} as const;

/** The resourceKey of the records. */
export const recordsKey = resourceKey(recordResource);

/** Keeps the record of a set that is being deleted. */
export const membersFinalizer = 'portolan.dev/members';

/** Members that are submitted, and members of a record, including members that leave. */
export const mostMembers = { submitted: 1000, recorded: 2000 } as const;

/** Bytes of the spec of a record. etcd takes objects of 1.5 MiB; the rest is left for their metadata. */
export const mostRecordBytes = 1024 * 1024;

const phases = ['Applying', 'Applied', 'Deleting'] as const;
type SetPhase = (typeof phases)[number];

/** A set of fields as metadata.managedFields has it (fieldsV1): names and no values. */
export type FieldSet = Json;

export interface SetMember {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Null until the member was applied. */
  readonly uid: string | null;
  /** The fields of the last apply; null until then. Without the label and the ownerReference of the set. */
  readonly fields: FieldSet | null;
  /** Is it no longer submitted, and to be deleted? */
  readonly leaves: boolean;
}

/** The content of the record about the set. */
export interface SetSpec {
  /** Counts what was submitted. */
  readonly generation: number;
  readonly phase: SetPhase;
  /** In the submitted order. Members that leave stand after them. */
  readonly members: readonly SetMember[];
  /** The annotation of kubectl's client-side apply, without withheld values; null where kubectl did not submit the set so. */
  readonly lastApplied: string | null;
}

export interface SetRecord extends SetSpec {
  readonly name: string;
  readonly namespace: string;
  /** The uid of the set. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly finalizers: readonly string[];
  /** RFC 3339; null until the record is deleted. */
  readonly deletionTimestamp: string | null;
}

/**
 * Reads a ShadowRecord.
 * @param object as an API server or the tables have it
 * @throws PortolanError INVALID that names the member of the object that cannot be read. Anybody with the right may write a record.
 */
export function readSetRecord(object: unknown): SetRecord {
  const metadata = recordAt(object, 'metadata', 'the record');
  const name = textAt(metadata, 'name', 'metadata');
  const namespace = textAt(metadata, 'namespace', 'metadata');
  const broken = (problem: string): PortolanError => unreadable(`${namespace}/${name}`, problem);
  try {
    const spec = recordAt(object, 'spec', 'the record');
    const members = memberOf(spec, 'members') ?? [];
    if (!Array.isArray(members)) throw new Unreadable('spec.members is no list');
    if (members.length > mostMembers.recorded) {
      throw new Unreadable(`spec.members has ${members.length} members; at most ${mostMembers.recorded} are read`);
    }
    return {
      name,
      namespace,
      uid: textAt(metadata, 'uid', 'metadata'),
      resourceVersion: textAt(metadata, 'resourceVersion', 'metadata'),
      labels: mapAt(metadata, 'labels'),
      annotations: mapAt(metadata, 'annotations'),
      finalizers: strings(memberOf(metadata, 'finalizers')),
      deletionTimestamp: text(memberOf(metadata, 'deletionTimestamp')) ?? null,
      generation: generationIn(spec),
      phase: phaseIn(spec),
      members: distinct(members.map((member, index) => readMember(member, `spec.members[${index}]`, namespace))),
      lastApplied: text(memberOf(spec, 'lastApplied')) ?? null,
    };
  } catch (error) {
    throw error instanceof Unreadable ? broken(error.message) : error;
  }
}

/** A part of a record that cannot be read. It becomes a PortolanError with the name of the record. */
class Unreadable extends Error {}

function unreadable(record: string, problem: string): PortolanError {
  const code: ErrorCode = 'INVALID';
  return new PortolanError(
    code,
    `The ShadowRecord ${record} cannot be read: ${problem}. Correct it, or delete it: its members are deleted with it.`,
  );
}

function generationIn(spec: Json): number {
  const generation = memberOf(spec, 'generation');
  if (Number.isSafeInteger(generation) && Number(generation) >= 0) return Number(generation);
  throw new Unreadable('spec.generation is no number from 0');
}

function phaseIn(spec: Json): SetPhase {
  const phase = phases.find((each) => each === memberOf(spec, 'phase'));
  if (phase !== undefined) return phase;
  throw new Unreadable(`spec.phase is none of ${phases.join(', ')}`);
}

function readMember(member: unknown, place: string, namespace: string): SetMember {
  if (!isRecord(member)) throw new Unreadable(`${place} is no object`);
  const group = memberOf(member, 'group') ?? '';
  if (typeof group !== 'string') throw new Unreadable(`${place}.group is no text`);
  const fields = memberOf(member, 'fields') ?? null;
  if (fields !== null && !isRecord(fields)) throw new Unreadable(`${place}.fields is no object`);
  const own = textAt(member, 'namespace', place);
  if (own !== namespace) throw new Unreadable(`${place}.namespace is not the namespace of the record`);
  const uid = memberOf(member, 'uid') ?? null;
  if (uid !== null && !isText(uid)) throw new Unreadable(`${place}.uid is no text`);
  return {
    group,
    version: textAt(member, 'version', place),
    kind: textAt(member, 'kind', place),
    resource: textAt(member, 'resource', place),
    namespace: own,
    name: textAt(member, 'name', place),
    uid,
    fields,
    leaves: memberOf(member, 'leaves') === true,
  };
}

/** The members, if none of them is there twice. */
function distinct(members: readonly SetMember[]): readonly SetMember[] {
  const seen = new Set<string>();
  for (const member of members) {
    const key = memberKey(member);
    if (seen.has(key)) throw new Unreadable(`${member.kind} ${member.name} is a member twice`);
    seen.add(key);
  }
  return members;
}

/** A text that tells the objects of one namespace apart: `group/plural/name`. Versions of one resource are the same object. */
export function memberKey({ group, resource, name }: Pick<SetMember, 'group' | 'resource' | 'name'>): string {
  return `${group}/${resource}/${name}`;
}

function recordAt(value: unknown, name: string, place: string): Json {
  const inner = isRecord(value) ? memberOf(value, name) : undefined;
  if (isRecord(inner)) return inner;
  throw new PortolanError('INVALID', `${place} has no ${name}: it is no ShadowRecord.`);
}

function textAt(object: Json, name: string, place: string): string {
  const value = memberOf(object, name);
  if (isText(value)) return value;
  const problem = `${place}.${name} is no text`;
  if (place === 'metadata') throw new PortolanError('INVALID', `${problem}: it is no ShadowRecord of an API server.`);
  throw new Unreadable(problem);
}

function mapAt(object: Json, name: string): Json {
  const value = memberOf(object, name);
  return isRecord(value) ? value : {};
}

/** The uids of the ShadowRecords that own the object by its ownerReferences. */
export function recordsThatOwn(metadata: Json): readonly string[] {
  return records(memberOf(metadata, 'ownerReferences')).flatMap((reference) => {
    const apiVersion = text(reference['apiVersion']) ?? '';
    const isRecordOfSet =
      apiVersion.startsWith(`${recordResource.group}/`) && reference['kind'] === recordResource.kind;
    return isRecordOfSet ? (text(reference['uid']) ?? []) : [];
  });
}
