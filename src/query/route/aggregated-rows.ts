/**
 * Which rows of a kind an aggregate goes through, and how many they are: the way with the fewest rows that the filter offers, as for
 * lists (access-path.ts), or all rows of the kind.
 */

import type { Lease } from '../../store/types/lease.ts';
import { sql } from '../../store/types/sql.ts';
import type { Filter } from '../plan/filter.ts';
import { accessPaths, narrowest, survey, surveyBound } from '../sql/access-path.ts';
import type { AggregatedRows } from '../sql/sql-aggregate.ts';
import type { KindView } from '../sql/view.ts';
import { notePlan } from './plan-note.ts';

export interface FoundRows {
  readonly rows: AggregatedRows;
  /** Rows to look at, at most; exact where there are few. */
  readonly estimate: number;
}

export async function findRows(lease: Lease, kind: KindView, filter: Filter): Promise<FoundRows> {
  const id = BigInt(kind.kindId);
  const [row = []] = await lease.all(
    sql`SELECT coalesce(sum(objects), 0), NOT EXISTS (SELECT 1 FROM stale_rowset WHERE kind = ${id})
      FROM resource WHERE kind = ${id} AND synced = 1`,
  );
  const total = Number(row[0]);
  const rows = { kind, filter, path: null, allCount: kind.isWhole && row[1] === 1, set: null };
  const paths = accessPaths(kind, filter);
  const surveyed = paths.length === 0 ? null : await survey(lease, kind, paths);
  const best = surveyed === null ? null : narrowest(paths, surveyed);
  const ways = paths.map(({ on }, index) => ({ on, rows: surveyed?.rows[index] ?? 0 }));
  notePlan(lease, { kind, filter, orderBy: [], route: best === null ? 'scan' : 'path', ways });
  if (best === null) return { rows, estimate: total };
  return { rows: { ...rows, path: best.path }, estimate: best.rows > surveyBound ? total : best.rows };
}

/** The same with the rows counted, where the estimate is not exact; counting stops behind `enough`. */
export async function countRows(lease: Lease, found: FoundRows, enough: number): Promise<FoundRows> {
  const { path } = found.rows;
  if (path === null || found.estimate <= surveyBound) return found;
  const tables = path.tables();
  const where = path.where(tables);
  const limit = BigInt(Math.min(enough + 1, found.estimate));
  const [row] = await lease.all(
    sql`SELECT count(*) FROM (SELECT 1 FROM ${path.counted ?? path.from(tables)} WHERE ${where} LIMIT ${limit})`,
  );
  const counted = Number(row?.[0]);
  return { ...found, estimate: counted > enough ? found.estimate : counted };
}
