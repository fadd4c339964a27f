/**
 * The marks on the objects of a set: the labels of kubectl's ApplySet (KEP-3659), the ownerReference, and the field manager.
 *
 *   record   label applyset.kubernetes.io/id: applyset-…-v1        annotations tooling, contains-group-kinds
 *   member   label applyset.kubernetes.io/part-of: applyset-…-v1   ownerReference to the record
 *
 * So kubectl and other tools find the members, and the garbage collector deletes them if somebody deletes the record. Portolan itself
 * decides membership by the uids of the record alone.
 */
import { createHash } from 'node:crypto';
import { PortolanError } from '../../base/errors.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { recordResource, type SetMember, type SetRecord } from './set-record.ts';

type Json = Readonly<Record<string, unknown>>;

/** Which set. */
export interface SetName {
  readonly namespace: string;
  readonly name: string;
}

export const applySetLabels = {
  id: 'applyset.kubernetes.io/id',
  partOf: 'applyset.kubernetes.io/part-of',
  isParentType: 'applyset.kubernetes.io/is-parent-type',
} as const;

const annotations = {
  tooling: 'applyset.kubernetes.io/tooling',
  groupKinds: 'applyset.kubernetes.io/contains-group-kinds',
} as const;

/** An API server takes managers of at most 128 characters. */
const longestManager = 128;
/** As of every object of the cluster. */
const longestName = 253;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The id of the set as kubectl computes it. It depends on the name and the namespace alone. */
export function applySetId({ namespace, name }: SetName): string {
  const parent = `${name}.${namespace}.${recordResource.kind}.${recordResource.group}`;
  return `applyset-${createHash('sha256').update(parent).digest('base64url')}-v1`;
}

/** The manager to which the API server counts the fields of members. The end of a long one tells it from others. */
export function setManager({ namespace, name }: SetName): string {
  const whole = `shadow:${namespace}/${name}`;
  if (whole.length <= longestManager) return whole;
  const end = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${whole.slice(0, longestManager - end.length - 1)}-${end}`;
}

/** Why no set can have the name; null if one can. */
export function nameProblem(name: string): string | null {
  if (!name.split('.').every((part) => dnsLabel.test(part))) {
    return `${JSON.stringify(name)} is no name of a set: use lower-case letters, digits, "-" and ".".`;
  }
  return name.length <= longestName ? null : `The name of a set has at most ${longestName} characters.`;
}

/** @throws PortolanError BAD_USER_INPUT for a name or a namespace that no record can have. */
export function checkSetName(set: SetName): void {
  const { namespace, name } = set;
  if (namespace.length > 63 || !dnsLabel.test(namespace)) {
    throw new PortolanError('BAD_USER_INPUT', `${JSON.stringify(namespace)} is no name of a namespace.`);
  }
  const problem = nameProblem(name);
  if (problem !== null) throw new PortolanError('BAD_USER_INPUT', problem);
}

/** The labels and annotations of the record of a set with these members. @param version of Portolan */
export function recordMarks(
  set: SetName,
  members: readonly Pick<SetMember, 'group' | 'kind'>[],
  version: string,
): { readonly labels: Json; readonly annotations: Json } {
  const groupKinds = new Set(members.map(({ group, kind }) => (group === '' ? kind : `${kind}.${group}`)));
  return {
    labels: { [applySetLabels.id]: applySetId(set) },
    annotations: {
      [annotations.tooling]: `portolan/${version}`,
      [annotations.groupKinds]: [...groupKinds].toSorted().join(','),
    },
  };
}

/** The ownerReference of a member. Without blockOwnerDeletion, which would need a right on the finalizers of records. */
export function ownerReferenceTo({ name, uid }: Pick<SetRecord, 'name' | 'uid'>): Json {
  return { apiVersion: apiVersionOf(recordResource), kind: recordResource.kind, name, uid };
}
