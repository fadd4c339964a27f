/**
 * The names of the tables, for whoever writes SQL that reads them. Pure: no I/O, no SQLite. What each table holds stands in
 * src/store/sqlite/schema.ts.
 */
/** Columns of a promoted table that hold paths; which path stands where is in `slot`. */
export const slotColumns: readonly string[] = Object.freeze(Array.from({ length: 16 }, (_, index) => `c${index}`));

/** The promoted table of a kind. */
export function promotedTableName(kindId: number): string {
  return `p${kindId}`;
}
