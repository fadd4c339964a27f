/** Reads the rows of a store for stores that follow it. src/log/read/log-reader.ts makes messages of them. */

import type {
  CollectionName,
  FollowedChange,
  FollowedCluster,
  FollowedObject,
  FollowedReset,
  ResetReason,
  RunningFill,
  StoredBody,
} from '../types/followed-log.ts';
import type { Lease } from '../types/lease.ts';
import type { IngestStatus } from '../types/progress.ts';
import type { Row } from '../types/statement.ts';
import { textOrNull } from './changes.ts';

/**
 * The body after the change of an entry `c`, as it is stored: changes.ts says where it is. Objects that are not published have none, because
 * their bodies may have what is redacted now.
 * @param of the value that is wanted of a body
 */
const bodyAfter = (of: (body: string) => string): string => `CASE WHEN c.type IN ('ADDED', 'MODIFIED') THEN coalesce(
  (SELECT ${of('n.before')} FROM change n WHERE n.object = c.object AND n.seq > c.seq ORDER BY n.seq LIMIT 1),
  (SELECT ${of('coalesce(b.text, b.body)')} FROM body b JOIN object o ON o.id = b.id
   WHERE b.id = c.object AND EXISTS (SELECT 1 FROM resource r
     WHERE r.rowset = o.rowset AND r.cluster = o.cluster AND r.kind = o.kind AND r.synced = 1))) END`;

const sizesAfter = `SELECT c.seq, ${bodyAfter((body) => `octet_length(${body})`)}
  FROM change c WHERE c.seq > +? AND ((c.seq & 63) <> 0 OR tick() = 0) ORDER BY c.seq LIMIT +?`;
const entriesAfter = `
  SELECT c.seq, c.type, k.key, c.cluster, c.object, c.namespace, c.name, c.uid, c.rv, c.at, c.managers, ${bodyAfter((body) => body)}
  FROM change c CROSS JOIN kind k ON k.id = c.kind WHERE c.seq > +? AND c.seq <= +? AND tick() = 0 ORDER BY c.seq`;

/** Most rows of one read, and the bytes of bodies after which it ends. One body may exceed them. */
export interface ReadBounds {
  readonly limit: number;
  readonly maxBytes: number;
}

/** The number of rows that a read has, from the bytes of each. */
function rowsWithin(sizes: readonly (readonly unknown[])[], { maxBytes }: ReadBounds): number {
  let bytes = 0;
  const end = sizes.findIndex(([, size]) => {
    bytes += Number(size ?? 0);
    return bytes > maxBytes;
  });
  return end === -1 ? sizes.length : Math.max(1, end);
}

/** An entry of the log whose place in the sequence is not known yet. */
export type UnplacedEntry = Omit<FollowedChange, 'after'> | Omit<FollowedReset, 'after'>;

/** Entries of all kinds after a sequence number, in their order. Check `readLogFloor` in the same lease. `isWhole`: the last ones are among them. */
export async function readFollowedEntries(
  lease: Lease,
  after: number,
  bounds: ReadBounds,
): Promise<{ readonly entries: readonly UnplacedEntry[]; readonly isWhole: boolean }> {
  const sizes = await lease.all({ sql: sizesAfter, params: [after, bounds.limit] });
  if (sizes.length === 0) return { entries: [], isWhole: true };
  const count = rowsWithin(sizes, bounds);
  const rows = await lease.all({ sql: entriesAfter, params: [after, Number(sizes[count - 1]?.[0])] });
  const entries = rows.map((row) => (row[1] === 'RESET' ? resetIn(row) : changeIn(row)));
  return { entries, isWhole: count === sizes.length && count < bounds.limit };
}

function changeIn([seq, type, key, cluster, object, namespace, name, uid, rv, at, managers, body]: Row): Omit<
  FollowedChange,
  'after'
> {
  return {
    seq: Number(seq),
    type: String(type) as FollowedChange['type'],
    key: String(key),
    cluster: String(cluster),
    objectId: Number(object),
    namespace: String(namespace),
    name: String(name),
    uid: String(uid),
    resourceVersion: String(rv),
    at: Number(at),
    managers: textOrNull(managers),
    body: body === null || body === undefined ? null : (body as StoredBody),
  };
}

function resetIn([seq, , key, cluster, , , , , rv, at, managers]: Row): Omit<FollowedReset, 'after'> {
  const [reason, collection] = JSON.parse(String(managers)) as [ResetReason, string];
  return {
    type: 'RESET',
    seq: Number(seq),
    key: String(key),
    cluster: String(cluster),
    collection,
    reason,
    resourceVersion: String(rv),
    at: Number(at),
  };
}

/** The sequence number of the last RESET after which each collection has other objects; only of those after `after`. */
export async function readLastResets(
  lease: Lease,
  after: number,
): Promise<readonly (CollectionName & { readonly seq: number })[]> {
  const rows = await lease.all({
    sql: `SELECT max(c.seq), k.key, c.cluster, c.managers ->> 1 FROM change c INDEXED BY change_reset JOIN kind k ON k.id = c.kind
      WHERE c.type = 'RESET' AND c.seq > ? AND c.managers ->> 0 <> 'derived' AND tick() = 0 GROUP BY c.kind, c.cluster, c.managers ->> 1`,
    params: [after],
  });
  return rows.map(([seq, key, cluster, collection]) => ({
    seq: Number(seq),
    key: String(key),
    cluster: String(cluster),
    collection: String(collection),
  }));
}

/** A collection of the store. */
export interface FollowedCollection extends CollectionName {
  /** Null until it is synced. */
  readonly rowset: number | null;
  readonly resourceVersion: string | null;
  /** IngestStatus as JSON. */
  readonly status: string;
}

/** All collections, or one. */
export async function readFollowedCollections(
  lease: Lease,
  only?: CollectionName,
): Promise<readonly FollowedCollection[]> {
  const rows = await lease.all({
    sql: `SELECT r.cluster, k.key, r.namespace, CASE r.synced WHEN 1 THEN r.rowset END, r.last_rv, r.status
      FROM resource r JOIN kind k ON k.id = r.kind
      WHERE tick() = 0 ${only === undefined ? '' : 'AND r.cluster = ? AND k.key = ? AND r.namespace = ?'}`,
    params: only === undefined ? [] : [only.cluster, only.key, only.collection],
  });
  return rows.map(([cluster, key, namespace, rowset, rv, status]) => ({
    cluster: String(cluster),
    key: String(key),
    collection: String(namespace),
    rowset: typeof rowset === 'number' ? rowset : null,
    resourceVersion: textOrNull(rv),
    status: String(status),
  }));
}

export const statusIn = ({ status }: FollowedCollection): IngestStatus => JSON.parse(status) as IngestStatus;

/** A cluster of the store, with its identity. */
export type IdentifiedCluster = Omit<FollowedCluster, 'type' | 'gone'>;

export async function readIdentifiedClusters(lease: Lease): Promise<readonly IdentifiedCluster[]> {
  const rows = await lease.all({ sql: 'SELECT name, uid, server, version, error FROM cluster', params: [] });
  return rows.map(([name, uid, server, version, error]) => ({
    name: String(name),
    uid: textOrNull(uid),
    server: textOrNull(server),
    version: textOrNull(version),
    error: textOrNull(error),
  }));
}

/** The objects of a rowset after a name, in the order of namespace and name. `isWhole`: the last ones are among them. */
export async function readFollowedObjects(
  lease: Lease,
  { rowset, upTo }: { readonly rowset: number; readonly upTo: RunningFill['upTo'] },
  bounds: ReadBounds,
): Promise<{ readonly objects: readonly FollowedObject[]; readonly isWhole: boolean }> {
  const after = upTo === null ? '' : 'AND (o.namespace, o.name) > (?, ?)';
  const read = (columns: string, limit: number): Promise<readonly Row[]> =>
    lease.all({
      sql: `SELECT ${columns} FROM object o CROSS JOIN body b ON b.id = o.id
        WHERE o.rowset = ? ${after} AND tick() = 0 ORDER BY o.namespace, o.name LIMIT +?`,
      params: [rowset, ...(upTo === null ? [] : [upTo.namespace, upTo.name]), limit],
    });
  const sizes = await read('o.id, octet_length(coalesce(b.text, b.body))', bounds.limit);
  const count = rowsWithin(sizes, bounds);
  const rows =
    count === 0 ? [] : await read('o.id, o.seq, o.namespace, o.name, o.uid, o.rv, coalesce(b.text, b.body)', count);
  const objects = rows.map(([id, seq, namespace, name, uid, rv, body]) => ({
    objectId: Number(id),
    seq: Number(seq),
    namespace: String(namespace),
    name: String(name),
    uid: String(uid),
    resourceVersion: String(rv),
    body: body as StoredBody,
  }));
  return { objects, isWhole: count === sizes.length && count < bounds.limit };
}
