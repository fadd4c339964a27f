/**
 * The statements of a prepared answer by name. The store runs them as one list, in one snapshot:
 *
 *   readiness, state, rights | clusters of each list | counts
 */
import type { Row, Statement } from '../../store/types/statement.ts';

const named = ['readiness', 'state', 'rights'] as const;

/** Selects nothing, in the place of a statement that is not needed. */
const nothing: Statement = { sql: 'SELECT 0 WHERE 0', params: [] };

/** A null statement is not needed. */
export function statementsOf({
  clusters,
  ...others
}: Record<(typeof named)[number], Statement | null> & {
  readonly clusters: readonly Statement[];
}): readonly Statement[] {
  return [...named.map((name) => others[name] ?? nothing), ...clusters];
}

export function rowsOf(rows: readonly (readonly Row[])[], name: (typeof named)[number]): readonly Row[] {
  return rows[named.indexOf(name)] ?? [];
}

/** The rows of the clusters, and of the counts after them. */
export function clusterRowsOf(rows: readonly (readonly Row[])[]): readonly (readonly Row[])[] {
  return rows.slice(named.length);
}
