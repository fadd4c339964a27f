/** The parts that the steps of one set's mutation share: its session, its record, and the requests for its members. */

import { apiVersionOf } from '../../catalog/resources/resource.ts';
import type { ValueChange } from '../../writes/diff/field-changes.ts';
import { isOpenObject } from '../../writes/diff/withheld-values.ts';
import type { WriteError } from '../../writes/outcome/write-error.ts';
import { writeError } from '../../writes/outcome/write-error.ts';
import type { RunContext } from '../../writes/run/write-item.ts';
import type { WriteSession } from '../../writes/session/write-session.ts';
import { isError } from '../../writes/targets/served-resources.ts';
import type { RecordKeeper } from '../record/record-keeper.ts';
import { type SetName, setManager } from '../record/set-names.ts';
import { recordResource, type SetRecord } from '../record/set-record.ts';
import { RecordWrites } from './record-writes.ts';

interface ClusterSet extends SetName {
  readonly cluster: string;
}

export interface SetWork {
  readonly session: WriteSession;
  readonly set: ClusterSet;
  readonly keeper: RecordKeeper | null;
  readonly records: RecordWrites;
}

/** In dry runs, the ownerReference of a member whose record does not exist yet has this uid. */
export const futureUid = '00000000-0000-0000-0000-000000000000';

/** @param keeper writes the record; null: the caller does */
export function setWork(session: WriteSession, set: ClusterSet, keeper: RecordKeeper | null): SetWork {
  const records = new RecordWrites(session.context, set, session.access.version, keeper);
  return { session, set, keeper, records };
}

/** Why the record is another one than the keeper has looked at; null if it is the same. */
export function refusalOfOther({ keeper }: SetWork, record: SetRecord | null): WriteError | null {
  if (keeper === null) return null;
  const { expected } = keeper;
  if (expected === null) {
    return record === null ? null : writeError('ALREADY_EXISTS', `A set ${record.name} exists in ${record.namespace}.`);
  }
  const isIt = record?.uid === expected.uid && record.resourceVersion === expected.resourceVersion;
  return isIt ? null : writeError('STALE_OBJECT', 'Somebody else has written the set meanwhile: send it again.');
}

/**
 * The context of the requests for members.
 * @param recordUid the uid of the record. A plan does not depend on it, because it may be made before the record is
 */
export function memberContext({ session: { context }, set }: SetWork, recordUid: string): RunContext {
  return {
    ...context,
    fieldManager: setManager(set),
    tag: (planned, changes) =>
      context.tag(
        planned,
        changes.map((change) => withUid(change, recordUid)),
      ),
  };
}

function withUid({ steps, before, after }: ValueChange, uid: string): ValueChange {
  const replaced = (value: unknown): unknown => {
    if (value === uid) return futureUid;
    if (Array.isArray(value)) return value.map(replaced);
    if (!isOpenObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaced(inner)]));
  };
  const named = steps.map((step) =>
    step.kind === 'element' && step.key?.value === uid ? { ...step, key: { ...step.key, value: futureUid } } : step,
  );
  return { steps: named, before: replaced(before), after: replaced(after) };
}

/** Why the cluster has no sets; null if it has. */
export async function setsUnserved({ session: { served }, set: { cluster } }: SetWork): Promise<WriteError | null> {
  const found = await served.ofManifest(cluster, apiVersionOf(recordResource), recordResource.kind);
  if (!isError(found)) return null;
  if (found.code !== 'NOT_FOUND') return found;
  return writeError(
    'NOT_FOUND',
    `The cluster ${cluster} has no ShadowRecords, which sets need: install them with \`portolan shadow install\`.`,
  );
}
