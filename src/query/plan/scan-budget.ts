/**
 * The scan budget: how many rows the counts and aggregates of one operation may scan. They share the operation's lease, so they
 * share one budget. A scan over budget does not start; otherwise it could use up the time of the whole operation.
 *
 * Example: `new ScanBudget(100)` allows 100 rows with bodies. After a scan of 60 such rows, 40 remain, or 800 index entries.
 */

/**
 * The cost of scanning one row, in units of an index entry, measured by `npm run bench -- aggregate`.
 *   - `index`: one index has all columns.
 *   - `columns`: columns of tables are read.
 *   - `body`: the body is read.
 *   - `list`: added for each path through lists of the body.
 */
export const rowCost = { index: 1, columns: 4, body: 20, list: 40 } as const;

interface Scan {
  /** Upper bound of the rows that are scanned. */
  readonly estimate: number;
  /** Cost of one row, in units of rowCost. */
  readonly cost: number;
}

/** The result of a scan over budget: the rows it would scan, and the rows that were still allowed. */
export class OverBudget {
  readonly rows: number;
  readonly allowed: number;

  constructor(rows: number, allowed: number) {
    this.rows = rows;
    this.allowed = allowed;
  }
}

export class ScanBudget {
  #left: number;

  /** @param bodies the number of rows whose bodies the operation may read. */
  constructor(bodies: number) {
    this.#left = bodies * rowCost.body;
  }

  /** The number of rows of this cost that may still be scanned. */
  left(cost: number): number {
    return Math.floor(this.#left / cost);
  }

  /** Takes the cost of these scans from the budget and returns null. Over budget, takes nothing and returns why. */
  take(...scans: readonly Scan[]): OverBudget | null {
    const rows = scans.reduce((sum, { estimate }) => sum + estimate, 0);
    const units = scans.reduce((sum, { estimate, cost }) => sum + estimate * cost, 0);
    if (units > this.#left) return new OverBudget(rows, this.left(units / rows));
    this.#left -= units;
    return null;
  }
}
