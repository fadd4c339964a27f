/**
 * The statements of a prepared answer by name. The store runs them as one list, in one snapshot:
 *
 *   readiness, state, rights (if a statement reads them) | clusters of each list | counts
 */
import type { Row, Statement } from '../../store/types/statement.ts';

const named = ['readiness', 'state', 'rights'] as const;

interface AnswerStatements {
  readonly readiness: Statement;
  readonly state: Statement;
  /** Null where no statement reads the rights. */
  readonly rights: Statement | null;
  /** One for each list. */
  readonly clusters: readonly Statement[];
}

export function statementsOf({ readiness, state, rights, clusters }: AnswerStatements): readonly Statement[] {
  return [readiness, state, ...(rights === null ? [] : [rights]), ...clusters];
}

export function rowsOf(rows: readonly (readonly Row[])[], name: (typeof named)[number]): readonly Row[] {
  return rows[named.indexOf(name)] ?? [];
}

/** The rows of the clusters, and of the counts after them. @param rights the statement of the rights */
export function clusterRowsOf(
  rows: readonly (readonly Row[])[],
  rights: Statement | null,
): readonly (readonly Row[])[] {
  return rows.slice(rights === null ? named.length - 1 : named.length);
}
