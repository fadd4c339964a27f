/**
 * Statements with SQLite's query plans. The text never contains values: parameters are `?`.
 */
import type { Lease } from '../../store/types/lease.ts';
import type { Row, Statement } from '../../store/types/statement.ts';

export interface ExplainedStatement {
  readonly sql: string;
  /** Output of SQLite's EXPLAIN QUERY PLAN, one line for each step. */
  readonly plan: readonly string[];
  /** Null when the statement failed. */
  readonly rows: number | null;
  readonly milliseconds: number;
}

/**
 * The lease's methods, with each statement explained before it runs.
 * @param now milliseconds of a monotonic clock.
 * @param note receives each statement when it has ended.
 */
export function explaining(
  lease: Lease,
  now: () => number,
  note: (statement: ExplainedStatement) => void,
): Pick<Lease, 'all' | 'fill'> {
  const explained = async (statement: Statement, run: () => Promise<readonly Row[]>): Promise<readonly Row[]> => {
    const steps = await lease.all({ sql: `EXPLAIN QUERY PLAN ${statement.sql}`, params: statement.params });
    const plan = steps.map((step) => String(step[3]));
    const sql = statement.sql.replaceAll(/\s+/g, ' ').trim();
    const began = now();
    let rows: readonly Row[] | null = null;
    try {
      rows = await run();
      return rows;
    } finally {
      note({ sql, plan, rows: rows?.length ?? null, milliseconds: Math.round((now() - began) * 100) / 100 });
    }
  };
  return {
    all: (statement) => explained(statement, () => lease.all(statement)),
    async fill(statements, limit) {
      const found: Row[] = [];
      for (const statement of statements) {
        if (found.length >= limit) break;
        found.push(...(await explained(statement, () => lease.fill([statement], limit - found.length))));
      }
      return found;
    },
  };
}
