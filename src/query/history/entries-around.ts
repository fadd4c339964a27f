/**
 * Where the change log has the states of objects around a time. Each object has its newest entry up to the time, and its first later one.
 *
 *   time 10:05   entries of web at 10:01, 10:03, 10:09   ->   upTo: the entry of 10:03, later: the entry of 10:09
 *
 * Entries before the newest RESET of their kind and cluster are left out, as in change-pages.ts.
 */
import type { Lease } from '../../store/types/lease.ts';
import { all, isIn, raw, sql } from '../../store/types/sql.ts';
import { scopeSql } from '../sql/counts.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';
import { lastReset } from './change-pages.ts';

/** The objects of these names in one namespace. */
interface WantedEntries {
  /** A resourceKey. */
  readonly key: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The entries of one object. Objects of one name with other uids are others. */
export interface EntriesAround {
  readonly name: string;
  readonly uid: string | null;
  /** Sequence number of the newest entry at the time or before; null without one. */
  readonly upTo: number | null;
  /** Sequence number of the first later entry; null without one. */
  readonly later: number | null;
  /** The number of later entries. */
  readonly laterCount: number;
}

/** Of the objects that the caller may get. */
export async function entriesAround(
  lease: Lease,
  view: View,
  { key, cluster, namespace, names, at }: WantedEntries,
): Promise<readonly EntriesAround[]> {
  const kind = view.get(key, 'get');
  if (kind === undefined || kind.visible.rows === 'none') return [];
  const isLater = sql`c.at > ${BigInt(at)}`;
  const conditions = [
    sql`c.kind = ${BigInt(kind.kindId)} AND c.type <> 'RESET' AND +c.cluster = ${cluster} AND +c.namespace = ${namespace}`,
    isIn(raw('+c.name'), names),
    scopeSql(kind.visible, raw('c')),
    tickAt('c.seq', 256),
    sql`c.seq > ${lastReset}`,
  ];
  const rows = await lease.all(
    sql`SELECT c.name, c.uid, max(c.seq) FILTER (WHERE NOT ${isLater}), min(c.seq) FILTER (WHERE ${isLater}),
        count(*) FILTER (WHERE ${isLater})
      FROM change AS c INDEXED BY change_kind WHERE ${all(conditions)} GROUP BY c.name, c.uid`,
  );
  const numberIn = (value: unknown): number | null => (value === null ? null : Number(value));
  return rows.map(([name, uid, upTo, later, laterCount]) => ({
    name: String(name),
    uid: uid === null ? null : String(uid),
    upTo: numberIn(upTo),
    later: numberIn(later),
    laterCount: Number(laterCount),
  }));
}
