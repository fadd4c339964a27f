/** What SQLite takes and gives: values, rows, compiled statements. */

/** What SQLite takes and gives here: integers beyond 2^53 travel as bigint in, as text out. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A compiled statement. Only `query` and `store` look inside. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Rows come as arrays, in the order of the statement's columns. */
export type Row = readonly SqlValue[];

/** Characters of a row's texts: what reading it is counted as. */
export function textLength(row: Row): number {
  let length = 0;
  for (const value of row) if (typeof value === 'string') length += value.length;
  return length;
}
