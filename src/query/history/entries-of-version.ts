/**
 * Where the change log has a state of an object, by its resourceVersion.
 *
 *   entries of web: ADDED to 7, MODIFIED to 9, DELETED     ->   version 7: after the first entry     9: after the second one, or before the third
 *
 * Entries before the newest RESET of their kind and cluster are left out, as in change-pages.ts.
 */
import type { Lease } from '../../store/types/lease.ts';
import { all, raw, sql } from '../../store/types/sql.ts';
import type { Identity } from '../plan/filter.ts';
import { scopeSql } from '../sql/counts.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';
import { lastReset } from './change-pages.ts';

/** An entry of the log beside the state. */
interface EntryOfVersion {
  readonly seq: number;
  readonly uid: string | null;
  /** Is the state the one after the change? Otherwise it is the one before. */
  readonly isAfter: boolean;
}

/** Of an object that the caller may get. Null if no entry has the state. */
export async function entryOfVersion(
  lease: Lease,
  view: View,
  { key, cluster, namespace, name }: Identity,
  resourceVersion: string,
): Promise<EntryOfVersion | null> {
  const kind = view.get(key, 'get');
  if (kind === undefined || kind.visible.rows === 'none') return null;
  const isAfter = sql`(c.type <> 'DELETED' AND c.rv = ${resourceVersion})`;
  const conditions = [
    sql`c.kind = ${BigInt(kind.kindId)} AND c.type <> 'RESET' AND +c.cluster = ${cluster}`,
    sql`+c.namespace = ${namespace ?? ''} AND +c.name = ${name}`,
    // A text is JSON that SQLite refuses.
    sql`(${isAfter} OR CASE typeof(c.before) WHEN 'blob' THEN c.before ->> '$.metadata.resourceVersion' END = ${resourceVersion})`,
    scopeSql(kind.visible, raw('c')),
    tickAt('c.seq', 256),
    sql`c.seq > ${lastReset}`,
  ];
  const [row] = await lease.all(
    sql`SELECT c.seq, c.uid, ${isAfter} FROM change AS c INDEXED BY change_kind WHERE ${all(conditions)} ORDER BY c.seq DESC LIMIT 1`,
  );
  if (row === undefined) return null;
  const [seq, uid, after] = row;
  return { seq: Number(seq), uid: uid === null ? null : String(uid), isAfter: Number(after) === 1 };
}
