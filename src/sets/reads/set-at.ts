/**
 * A set as it was at a time: a manifest of each member. It has the values of then, at the fields that the set had submitted.
 *
 *   record at 10:05   deployments web (uid 7c, fields F)   ->   state of the object 7c at 10:05   ->   projected on F: the manifest
 *
 * The tables lack some submitted values, such as the data of Secrets. A member with such values is read from the API server as the caller,
 * if nothing of it has changed since. Otherwise its document has an error.
 *
 * The record is read first, and then all its members. Each of these reads has the rights that the API server grants. The caller is charged
 * for the members once, before they are read.
 *
 * Never: shows a value. The documents are for an apply as the caller.
 */
import { codeOf, messageOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { type PathStep, parsePath } from '../../catalog/tree/path.ts';
import { isObject, memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import type { Operation } from '../../operation/operation.ts';
import { withSettledRights } from '../../operation/require-visible.ts';
import { type PastObject, pastObjects } from '../../reads/history/past-objects.ts';
import { readObject } from '../../upstream/read-object.ts';
import { type WriteError, writeError } from '../../writes/outcome/write-error.ts';
import { inParallel } from '../../writes/run/run-writes.ts';
import type { ManifestDocument } from '../../writes/targets/wanted-targets.ts';
import { memberIdentity } from '../members/member-state.ts';
import { projectMember } from '../projection/project.ts';
import type { SetName } from '../record/set-names.ts';
import { type FieldSet, readSetRecord, recordsKey, type SetMember, type SetRecord } from '../record/set-record.ts';

type Json = Readonly<Record<string, unknown>>;

/** Values that the operation is charged for the state of a member. */
const memberCost = 50;

interface PastSet {
  readonly documents: readonly ManifestDocument[];
  /** For each document, why its values are not known. */
  readonly errors: readonly (WriteError | null)[];
}

/**
 * @param at milliseconds since the epoch
 * @throws PortolanError BAD_USER_INPUT for a time at which there was no set, or whose history is not recorded; QUERY_TOO_COSTLY; as
 * `pastObjects`
 */
export async function setAt(
  operation: Operation,
  set: SetName & { readonly cluster: string },
  at: number,
): Promise<PastSet> {
  const record = await withSettledRights(operation, () => recordAt(operation, set, at));
  const members = record.members.filter(({ uid, leaves }) => uid !== null && !leaves);
  operation.cost.charge(members.length * memberCost);
  const states = await withSettledRights(operation, () => statesAt(operation, set, members, at));
  const found = new Array<MemberAt>(members.length);
  await inParallel([...members.keys()], async (index) => {
    const member = must(members[index], 'a member of the record');
    found[index] = await memberAt(operation, set.cluster, member, states.get(member.uid ?? '') ?? null);
  });
  return {
    documents: found.map(({ manifest }) => ({ ...set, json: manifest, yaml: null })),
    errors: found.map(({ error }) => error),
  };
}

interface StateAt {
  readonly past: PastObject;
  readonly kind: CatalogKind;
}

/**
 * The states of the members by uid. @throws PortolanError FORBIDDEN after all kinds were read, so that one try asks for the rights on each
 */
async function statesAt(
  operation: Operation,
  set: SetName & { readonly cluster: string },
  members: readonly SetMember[],
  at: number,
): Promise<ReadonlyMap<string, StateAt>> {
  const states = new Map<string, StateAt>();
  let refusal: unknown = null;
  for (const [key, some] of Map.groupBy(members, (member) => memberIdentity(member, set.cluster).key)) {
    const kind = servedKind(operation, key, set.cluster);
    if (kind === null) continue;
    const names = [...new Set(some.map(({ name }) => name))];
    try {
      for (const past of await pastObjects(operation, kind, { ...set, names, at })) {
        if (past.uid !== null) states.set(past.uid, { past, kind });
      }
    } catch (error) {
      if (codeOf(error) !== 'FORBIDDEN') throw error;
      refusal ??= error;
    }
  }
  if (refusal !== null) throw refusal;
  return states;
}

function servedKind({ generation }: Operation, key: string, cluster: string): CatalogKind | null {
  const kind = generation.kind(key);
  return kind?.clusters.includes(cluster) === true ? kind : null;
}

async function recordAt(
  operation: Operation,
  { cluster, namespace, name }: SetName & { readonly cluster: string },
  at: number,
): Promise<SetRecord> {
  const kind = servedKind(operation, recordsKey, cluster);
  const found = kind === null ? [] : await pastObjects(operation, kind, { cluster, namespace, names: [name], at });
  const record = found.find(({ state }) => state === 'there');
  if (record === undefined) {
    const time = new Date(at).toISOString();
    throw new PortolanError('BAD_USER_INPUT', `There was no set ${name} in the namespace ${namespace} at ${time}.`);
  }
  const { uid, body } = record;
  const metadata = { resourceVersion: '0', ...recordOf(body['metadata']), name, namespace, uid };
  return readSetRecord({ spec: body['spec'], metadata });
}

interface MemberAt {
  readonly manifest: Json;
  readonly error: WriteError | null;
}

async function memberAt(
  operation: Operation,
  cluster: string,
  member: SetMember,
  found: StateAt | null,
): Promise<MemberAt> {
  const head = { apiVersion: apiVersionOf(member), kind: member.kind };
  const withheld = (why: string): MemberAt => ({
    manifest: { ...head, metadata: { namespace: member.namespace, name: member.name } },
    error: writeError('DATA_WITHHELD', `The ${member.kind} ${member.name} cannot be as it was: ${why}`),
  });
  if (found === null) return withheld('Portolan has no state of it from then.');
  const { past, kind } = found;
  if (isHeld(kind, member)) return { manifest: projectMember({ ...past.body, ...head }, member.fields), error: null };
  const notHeld = 'Portolan does not hold all values that the set has submitted, and the object has changed since.';
  if (past.unchangedAt === null) return withheld(notHeld);
  const { group, version, resource: plural } = member;
  try {
    const client = await operation.writeClient(cluster);
    const live = recordOf(
      await readObject(client, { group, version, plural, namespaced: true }, member, operation.signal),
    );
    const { uid, resourceVersion } = recordOf(live?.['metadata']) ?? {};
    if (live === null || uid !== member.uid || resourceVersion !== past.unchangedAt) return withheld(notHeld);
    return { manifest: projectMember({ ...live, ...head }, member.fields), error: null };
  } catch (error) {
    if (operation.signal?.aborted === true) throw error;
    return withheld(messageOf(error));
  }
}

/** Do the tables have each value that was submitted, in the version of the set? */
function isHeld({ redacted, resource }: CatalogKind, { version, fields }: SetMember): boolean {
  if (resource.version !== version) return false;
  return !redacted.some((path) => isSubmitted(fields ?? {}, parsePath(path).steps));
}

/** Is a value at the path, or in it, one of the fields? */
function isSubmitted(fields: FieldSet, [step, ...rest]: readonly PathStep[]): boolean {
  if (step === undefined || Object.keys(fields).length === 0) return true;
  const name = step.kind === 'field' ? step.name : step.kind === 'key' ? step.key : null;
  if (name !== null) {
    const below = memberOf(fields, `f:${name}`);
    return isObject(below) && isSubmitted(below, rest);
  }
  const elements = Object.entries(fields).filter(([each]) => /^[kvi]:/.test(each));
  return elements.some(([, below]) => isSubmitted(must(recordOf(below), 'a field set'), rest));
}
