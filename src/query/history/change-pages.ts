/**
 * Pages of the change log, newest first: the sequence numbers of an object's changes, and of the changes of several kinds.
 *
 * Of each kind, at most one page of entries is looked up along an index, and the newest of all kinds are the page:
 *
 *   pods [90, 88, 80, …]   deployments [85, 12]   ->   the first three of all: 90, 88, 85
 *
 * Entries before the newest RESET of their kind and cluster are left out: what happened around a RESET is not in the log.
 */
import { type Scope, scopeText } from '../../access/scope.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import { scopeSql } from '../sql/counts.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';

interface WantedChanges {
  /** resourceKeys. */
  readonly keys: readonly string[];
  /** Null for all. */
  readonly namespaces: readonly string[] | null;
  /** Null for all. */
  readonly clusters: readonly string[] | null;
  /** Only objects with these uids; absent for all. */
  readonly uids?: readonly string[];
  /** Milliseconds since the epoch: not before `since`, and not after `until`. */
  readonly since: number;
  readonly until: number;
  /** Only entries with a lower sequence number; null for no bound. */
  readonly before: number | null;
  readonly limit: number;
}

/** The entries of several kinds that the caller may see, as sequence numbers, newest first. */
export async function changesOfKinds(lease: Lease, view: View, wanted: WantedChanges): Promise<readonly number[]> {
  const { keys, namespaces, clusters, uids, since, until, limit } = wanted;
  const kinds = keys.flatMap((key) => view.get(key) ?? []).filter(({ visible }) => visible.rows !== 'none');
  if (kinds.length === 0 || limit === 0) return [];
  const [bounds] = await lease.all(
    sql`SELECT (${lastBefore(since, lease.revision)}), (${lastBefore(until + 1, lease.revision)})`,
  );
  const [after = 0, last = 0] = (bounds ?? []).map(Number);
  const upTo = Math.min(last, wanted.before === null ? last : wanted.before - 1);
  const found: number[] = [];
  for (const group of Map.groupBy(kinds, ({ visible }) => scopeText(visible)).values()) {
    const conditions = [
      sql`c.seq > ${BigInt(after)} AND c.seq <= ${BigInt(upTo)} AND c.at BETWEEN ${BigInt(since)} AND ${BigInt(until)}`,
      scopeSql(group[0]?.visible as Scope, raw('c')),
      ...(namespaces === null ? [] : [isIn(raw('+c.namespace'), namespaces)]),
      ...(clusters === null ? [] : [isIn(raw('+c.cluster'), clusters)]),
      ...(uids === undefined ? [] : [isIn(raw('c.uid'), uids)]),
    ];
    const kindIds = JSON.stringify(group.map(({ kindId }) => kindId));
    const rows = await lease.all(newestOfEach(kindIds, all(conditions), limit));
    for (const [seqs] of rows) found.push(...(JSON.parse(String(seqs)) as readonly number[]));
  }
  return found.toSorted((a, b) => b - a).slice(0, limit);
}

/** For each kind, the newest entries that fulfil the condition on `c`, as a JSON list. */
function newestOfEach(kindIds: string, condition: Fragment, limit: number): Fragment {
  return sql`SELECT (SELECT json_group_array(seq) FROM (
      SELECT c.seq FROM change AS c INDEXED BY change_kind
      WHERE c.kind = k.value AND ${condition} AND c.type <> 'RESET' AND ${tickAt('c.seq', 256)} AND c.seq > ${lastReset}
      ORDER BY c.seq DESC LIMIT ${BigInt(limit)})) FROM json_each(${kindIds}) AS k`;
}

/** The sequence number of the newest RESET of the kind and cluster of `c`. */
export const lastReset = raw(`coalesce((SELECT max(r.seq) FROM change AS r INDEXED BY change_reset
        WHERE r.type = 'RESET' AND r.kind = c.kind AND r.cluster = c.cluster), 0)`);

/**
 * The greatest sequence number up to which all entries were committed before `time`. A binary search, because later entries have later
 * times. Each step looks at the first entry above the middle.
 */
function lastBefore(time: number, revision: number): Fragment {
  const first = (column: 'seq' | 'at'): Fragment =>
    raw(
      `(SELECT n.${column} FROM change AS n WHERE n.seq > (low + high) / 2 AND n.seq <= high ORDER BY n.seq LIMIT 1)`,
    );
  const isBefore = sql`${first('at')} < ${BigInt(time)}`;
  return sql`WITH RECURSIVE search (low, high) AS (
      SELECT 0, ${BigInt(revision)}
      UNION ALL
      SELECT CASE WHEN ${isBefore} THEN ${first('seq')} ELSE low END, CASE WHEN ${isBefore} THEN high ELSE (low + high) / 2 END
      FROM search WHERE low < high)
    SELECT max(low) FROM search`;
}

/** The recorded changes of one object. */
interface ObjectChanges {
  /** Sequence numbers, newest first. */
  readonly seqs: readonly number[];
  /** Is the addition of the object among all its recorded changes? */
  readonly isComplete: boolean;
}

/**
 * The newest entries of each of these objects, in the order of the ids. The ids are of objects that the caller sees.
 * @param before as in WantedChanges
 */
export async function changesOfObjects(
  lease: Lease,
  ids: readonly number[],
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly ObjectChanges[]> {
  const end = BigInt(before ?? lease.revision + 1);
  const rows = await lease.all(
    sql`SELECT (SELECT json_group_array(seq) FROM (
        SELECT c.seq FROM change AS c INDEXED BY change_object
        WHERE c.object = w.value AND c.seq < ${end} AND ${tickAt('c.seq', 256)} ORDER BY c.seq DESC LIMIT ${BigInt(limit)})),
      (SELECT c.type FROM change AS c INDEXED BY change_object WHERE c.object = w.value ORDER BY c.seq LIMIT 1)
      FROM json_each(${JSON.stringify(ids)}) AS w ORDER BY w.key`,
  );
  return rows.map(([seqs, first]) => ({
    seqs: JSON.parse(String(seqs)) as readonly number[],
    isComplete: first === 'ADDED',
  }));
}
