import type { Row } from '../types/statement.ts';

/** Characters of a row's texts: what reading it is counted as. */
export function textLength(row: Row): number {
  let length = 0;
  for (const value of row) if (typeof value === 'string') length += value.length;
  return length;
}
