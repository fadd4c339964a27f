/**
 * Chooses the rows of a kind that an aggregate scans, and estimates their number. It takes the access path with the fewest rows
 * (src/query/sql/access-path.ts). Without an access path, it takes all rows of the kind.
 */

import type { Lease } from '../../store/types/lease.ts';
import { sql } from '../../store/types/sql.ts';
import type { Filter } from '../plan/filter.ts';
import { accessPaths, countOf, narrowest, survey, surveyBound } from '../sql/access-path.ts';
import { visibleTotal } from '../sql/counts.ts';
import type { AggregatedRows } from '../sql/sql-aggregate.ts';
import type { KindView } from '../sql/view.ts';
import { notePlan } from './plan-note.ts';
import { scopedFilter } from './scoped-filter.ts';

export interface FoundRows {
  readonly rows: AggregatedRows;
  /** Upper bound of the rows to scan; exact up to surveyBound rows. */
  readonly estimate: number;
}

/** The rows to scan for this filter. Notes the plan for the lease's observer. */
export async function findRows(lease: Lease, kind: KindView, filter: Filter): Promise<FoundRows> {
  const id = BigInt(kind.kindId);
  const [row = []] = await lease.all(
    sql`SELECT ${visibleTotal(kind)}, NOT EXISTS (SELECT 1 FROM stale_rowset WHERE kind = ${id})`,
  );
  const total = Number(row[0]);
  const rows = { kind, filter, path: null, allCount: kind.isWhole && row[1] === 1, set: null };
  const paths = accessPaths(kind, scopedFilter(kind, filter));
  const surveyed = paths.length === 0 ? null : await survey(lease, kind, paths);
  const best = surveyed === null ? null : narrowest(paths, surveyed);
  const surveyedPaths = paths.map(({ on }, index) => ({ on, rows: surveyed?.rows[index] ?? 0 }));
  notePlan(lease, { kind, filter, orderBy: [], route: best === null ? 'scan' : 'path', surveyedPaths });
  if (best === null) return { rows, estimate: total };
  const found = { ...rows, path: best.path };
  if (best.rows > surveyBound) return { rows: found, estimate: total };
  // The caller gets the estimate where it exceeds the budget, so it must not depend on rows that the caller may not see.
  const [own] = kind.isWhole ? [] : await lease.all(sql`SELECT ${countOf(kind, best.path, surveyBound + 1)}`);
  return { rows: found, estimate: own === undefined ? best.rows : Math.min(total, Number(own[0])) };
}

/** Replaces an inexact estimate by a count of at most `enough` rows. With more rows, the estimate stays as it is. */
export async function countRows(lease: Lease, found: FoundRows, enough: number): Promise<FoundRows> {
  const { kind, path } = found.rows;
  if (path === null || found.estimate <= surveyBound) return found;
  const [row] = await lease.all(sql`SELECT ${countOf(kind, path, Math.min(enough + 1, found.estimate))}`);
  const counted = Number(row?.[0]);
  return { ...found, estimate: counted > enough ? found.estimate : counted };
}
