/**
 * How many rows the counts and aggregates of one operation may look at. They share its lease, so they share this: what does not fit
 * is not begun, instead of costing the whole operation its time.
 */

/**
 * What it costs to look at a row, in units of an index entry, as measured by `npm run bench -- aggregate`: when one index says all,
 * when columns of tables are read, when the body is read, and for each path through lists of the body besides.
 */
export const rowCost = { index: 1, columns: 4, body: 20, list: 40 } as const;

export interface Scan {
  /** Rows to look at, at most. */
  readonly estimate: number;
  /** Of one row, in the units of rowCost. */
  readonly cost: number;
}

/** Why there is no answer: it would look at so many rows, of which so many were allowed. */
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

  /** @param bodies rows whose bodies may be looked at in all. */
  constructor(bodies: number) {
    this.#left = bodies * rowCost.body;
  }

  /** Rows of this cost that may still be looked at. */
  left(cost: number): number {
    return Math.floor(this.#left / cost);
  }

  /** Takes what these scans cost; or nothing when they do not fit, and says so. */
  take(...scans: readonly Scan[]): OverBudget | null {
    const rows = scans.reduce((sum, { estimate }) => sum + estimate, 0);
    const units = scans.reduce((sum, { estimate, cost }) => sum + estimate * cost, 0);
    if (units > this.#left) return new OverBudget(rows, this.left(units / rows));
    this.#left -= units;
    return null;
  }
}
