/** Reads the change log for stores that follow it. */
import type { FollowedChange } from '../types/followed-log.ts';
import type { Lease } from '../types/lease.ts';
import type { Row } from '../types/statement.ts';

/** The body after the change of an entry `c`, as it is stored. changes.ts says where it is. */
const bodyAfter = `CASE WHEN c.type IN ('ADDED', 'MODIFIED') THEN coalesce(
  (SELECT n.before FROM change n WHERE n.object = c.object AND n.seq > c.seq ORDER BY n.seq LIMIT 1),
  (SELECT coalesce(b.text, b.body) FROM body b WHERE b.id = c.object)) END`;

const changesAfter = `
  SELECT c.seq, c.type, k.key, c.cluster, c.object, c.namespace, c.name, c.uid, c.rv, c.at, c.managers, ${bodyAfter}
  FROM change c JOIN kind k ON k.id = c.kind
  WHERE c.seq > +? AND tick() = 0 ORDER BY c.seq LIMIT +?`;

/**
 * Changes of objects after a sequence number, of all kinds, in their order. They end before a RESET. Check `readLogFloor` in the same lease.
 */
export async function readFollowedChanges(
  lease: Lease,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly FollowedChange[]> {
  const rows = await lease.all({ sql: changesAfter, params: [after, limit] });
  const end = rows.findIndex(([, type]) => type === 'RESET');
  return (end === -1 ? rows : rows.slice(0, end)).map(changeIn);
}

function changeIn([
  seq,
  type,
  key,
  cluster,
  object,
  namespace,
  name,
  uid,
  rv,
  at,
  managers,
  body,
]: Row): FollowedChange {
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
    managers: typeof managers === 'string' ? managers : null,
    body: typeof body === 'string' || body instanceof Uint8Array ? body : null,
  };
}
