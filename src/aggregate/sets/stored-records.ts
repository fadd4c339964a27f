/** The records of sets in the tables. They are read as the door: who may see a set is decided by the rights on ShadowResource. */
import { unrestricted } from '../../access/scope.ts';
import { codeOf, messageOf, PortolanError } from '../../base/errors.ts';
import { textOr } from '../../base/json.ts';
import { must } from '../../base/must.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import { fetchObjects, objectsOfKind } from '../../query/read/fetch.ts';
import { readObjectCounts } from '../../query/read/object-counts.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { type KindView, readView, type View } from '../../query/sql/view.ts';
import { readSetRecord, recordResource, recordsKey, type SetRecord } from '../../sets/record/set-record.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { SetPlace } from './member-states.ts';
import type { SetCache, StoredRecord } from './set-cache.ts';

type RecordPlace = Pick<SetPlace, 'cluster' | 'cache'>;

/** Every object of the snapshot. A caller sees a part of it only after a further check. */
export function ownView(lease: Lease): Promise<View> {
  return readView(lease, unrestricted);
}

/** Which records of the cluster. */
export interface RecordRange {
  /** Null for all. */
  readonly namespace: string | null;
  /** Only records after this one; null for all. */
  readonly after: { readonly namespace: string; readonly name: string } | null;
}

/**
 * The records of a range, in the order of their namespaces and names.
 * @param most records; null for all
 * @throws PortolanError CACHE_NOT_READY while the records are not synced, and where the cluster has no such kind.
 */
export async function recordsIn(
  lease: Lease,
  { cluster, cache }: RecordPlace,
  range: RecordRange,
  most: number | null,
): Promise<readonly StoredRecord[]> {
  const view = await ownView(lease);
  const kind = await recordKind(lease, view, cluster);
  const rows = await objectsOfKind(lease, kind, { cluster, ...range }, {}, most);
  return (await storedRecords(lease, view, cache, rows)).filter((record) => record !== null);
}

/**
 * The number of records. The store keeps it, so none is read.
 * @param namespace null for all
 */
export async function countRecords(lease: Lease, { cluster }: RecordPlace, namespace: string | null): Promise<number> {
  const by = { namespace: false, health: false };
  const namespaces = namespace === null ? null : [namespace];
  const counts = await readObjectCounts(lease, await ownView(lease), [recordsKey], by, namespaces);
  return counts.find((count) => count.cluster === cluster)?.objects ?? 0;
}

/** The records of these sets, in the same order; null for one that is not there. @throws as `recordsIn` */
export async function recordsOf(
  lease: Lease,
  { cluster, cache }: RecordPlace,
  sets: readonly { readonly namespace: string; readonly name: string }[],
): Promise<readonly (StoredRecord | null)[]> {
  const view = await ownView(lease);
  const identities = sets.map(({ namespace, name }) => ({ cluster, key: recordsKey, namespace, name }));
  const [rows] = await Promise.all([fetchObjects(lease, view, identities, {}), recordKind(lease, view, cluster)]);
  return storedRecords(lease, view, cache, rows);
}

/** The records of these rows, which have no bodies, in the same order. */
async function storedRecords(
  lease: Lease,
  view: View,
  cache: SetCache,
  rows: readonly (ObjectRow | null)[],
): Promise<readonly (StoredRecord | null)[]> {
  const kept = rows.map((row) => (row === null ? null : cache.record(lease, row)));
  const wanted = rows.filter((row, index) => row !== null && kept[index] === undefined).filter((row) => row !== null);
  const whole = (await fetchObjects(lease, view, wanted, 'whole')).values();
  return kept.map((record) => {
    if (record !== undefined) return record;
    const row = must(whole.next().value, 'a record of this snapshot');
    const stored = storedRecord(row);
    cache.keepRecord(lease, row, stored);
    return stored;
  });
}

async function recordKind(lease: Lease, view: View, cluster: string): Promise<KindView> {
  const kind = view.get(recordsKey, 'get');
  if (kind === undefined) {
    throw new PortolanError(
      'CACHE_NOT_READY',
      `Portolan has read no ${recordResource.plural} of the cluster yet: install their CustomResourceDefinition, and wait for the first list.`,
    );
  }
  await requireReady([lease], [recordsKey], [cluster]);
  return kind;
}

function storedRecord(row: ObjectRow): StoredRecord {
  const body = recordOf(row.body) ?? {};
  const metadata = recordOf(memberOf(body, 'metadata')) ?? {};
  const createdAt = textOr(memberOf(metadata, 'creationTimestamp'));
  const base = {
    uid: row.uid ?? '',
    resourceVersion: row.resourceVersion,
    name: row.name,
    namespace: row.namespace ?? '',
  };
  try {
    return { record: readSetRecord({ ...body, metadata: { ...metadata, ...base } }), createdAt, problem: null };
  } catch (error) {
    if (codeOf(error) !== 'INVALID') throw error;
    return { record: brokenRecord(base), createdAt, problem: messageOf(error) };
  }
}

function brokenRecord(base: Pick<SetRecord, 'uid' | 'resourceVersion' | 'name' | 'namespace'>): SetRecord {
  return {
    ...base,
    labels: {},
    annotations: {},
    finalizers: [],
    deletionTimestamp: null,
    generation: 0,
    phase: 'Applied',
    members: [],
    lastApplied: null,
  };
}
