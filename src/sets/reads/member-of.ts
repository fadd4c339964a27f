/**
 * The sets of which an object is a member: the records that have its uid and that the caller may get.
 *
 *   50 objects of an answer -> one statement: records of their namespaces with one of 50 uids -> one read of these records
 */

import { record as recordOf, records, text } from '../../base/json.ts';
import { servedUid } from '../../catalog/resources/synthetic-identity.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Operation } from '../../operation/operation.ts';
import { comparison, conjunction } from '../../query/plan/comparison.ts';
import type { Identity } from '../../query/plan/filter.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { matchingObjects } from '../../query/read/match-ids.ts';
import type { View } from '../../query/sql/view.ts';
import { ObjectSource } from '../../reads/lists/object-source.ts';
import type { Lease } from '../../store/types/lease.ts';
import { recordsKey } from '../record/set-record.ts';

interface Wanted {
  readonly cluster: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Records that have one of the uids of one read. More are left out. */
const mostRecords = 1000;
const uidPath = parsePath('spec.members[].uid');
const members: Projection = { spec: { members: true } };

/** @param place what the objects of one field have in common @param projection of the records */
export function setsOf(
  { operation, row, isPast }: ObjectSource,
  place: string,
  projection: Projection,
): Promise<readonly ObjectSource[]> {
  const { cluster, namespace } = row;
  const uid = servedUid(row.uid);
  // A cluster-scoped object is no member. The tables have the sets of now.
  if (namespace === null || uid === null || isPast) return Promise.resolve([]);
  const read = (lease: Lease, view: View, keys: readonly Wanted[]) =>
    readSets(operation, lease, view, keys, projection);
  const keyOf = ({ uid: own, ...rest }: Wanted): string => JSON.stringify([own, rest.cluster, rest.namespace]);
  return operation.batched(`sets of ${place}`, read, keyOf).load({ cluster, namespace, uid });
}

async function readSets(
  operation: Operation,
  lease: Lease,
  view: View,
  wanted: readonly Wanted[],
  projection: Projection,
): Promise<readonly (readonly ObjectSource[])[]> {
  const kind = operation.generation.kind(recordsKey);
  if (kind === undefined) return wanted.map(() => []);
  const filter = conjunction([
    { kind: 'clusters', in: distinct(wanted.map(({ cluster }) => cluster)) },
    { kind: 'namespaces', in: distinct(wanted.map(({ namespace }) => namespace)) },
    comparison(uidPath, 'String', 'in', distinct(wanted.map(({ uid }) => uid)), false),
  ]);
  const found = await matchingObjects(lease, view, kind, filter, { limit: mostRecords, access: 'get' });
  const identities = found.map(({ identity }) => identity);
  const rows = await fetchObjects(lease, view, identities, members);
  const shown = await fetchObjects(lease, view, identities, projection);
  const byUid = new Map<string, ObjectSource[]>();
  for (const [index, row] of rows.entries()) {
    const object = shown[index] ?? null;
    if (row === null || object === null) continue;
    const source = new ObjectSource(operation, kind, object);
    for (const uid of uidsIn(row.body)) {
      const key = placeOf({ ...object, uid });
      byUid.set(key, [...(byUid.get(key) ?? []), source]);
    }
  }
  return wanted.map((each) => byUid.get(placeOf(each)) ?? []);
}

function uidsIn(body: unknown): ReadonlySet<string> {
  const spec = recordOf(recordOf(body)?.['spec']);
  return new Set(records(spec?.['members']).flatMap((member) => text(member['uid']) ?? []));
}

/** Members are of the namespace of the record. */
function placeOf({
  cluster,
  namespace,
  uid,
}: Pick<Identity, 'cluster' | 'namespace'> & { readonly uid: string }): string {
  return JSON.stringify([cluster, namespace, uid]);
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
