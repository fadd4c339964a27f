/** Values, rows and compiled statements of SQLite. */

/** A bound parameter or a column value. Integers beyond 2^53 are bound as bigint and read as text. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A compiled statement. Only `query` and `store` read its members. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Rows come as arrays, in the order of the statement's columns. */
export type Row = readonly SqlValue[];

/** Characters of a row's texts: the measure of the bytes read. */
export function textLength(row: Row): number {
  let length = 0;
  for (const value of row) if (typeof value === 'string') length += value.length;
  return length;
}
