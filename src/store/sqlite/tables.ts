/**
 * The names of the tables, for whoever writes SQL that reads them. Pure: no I/O, no SQLite. What each table holds stands in
 * src/store/sqlite/schema.ts.
 */
export const tables = {
  meta: 'meta',
  state: 'state',
  cluster: 'cluster',
  kind: 'kind',
  slot: 'slot',
  resource: 'resource',
  description: 'description',
  object: 'object',
  body: 'body',
  edge: 'edge',
  change: 'change',
} as const;

/** Columns of a promoted table that hold paths; which path stands where is in `slot`. */
export const slotColumns: readonly string[] = Object.freeze(Array.from({ length: 16 }, (_, index) => `c${index}`));

/** The promoted table of a kind. */
export function promotedTableName(kindId: number): string {
  return `p${kindId}`;
}

/**
 * Rows count when their rowset is the published one of a synced resource. A kind's published rowsets, one for each cluster that
 * serves it; takes the kind's id as its one parameter.
 */
export const publishedRowsets = 'SELECT rowset FROM resource WHERE kind = +? AND synced = 1';
