/** The value of a printer column for one object. */

import { leafValueAt, valuesAt } from '../../catalog/paths/value-at.ts';
import type { PrinterColumn } from '../../catalog/resources/catalog.ts';
import { requireShallow } from '../../catalog/tree/nesting.ts';
import { isThroughLists, type Path, parsePath } from '../../catalog/tree/path.ts';

const parsed = new WeakMap<PrinterColumn, Path>();

/** The value at the column's path, or null. Several values are joined as kubectl joins them. */
export function cellOf(column: PrinterColumn, body: unknown): unknown {
  if (column.path === null) return null;
  let path = parsed.get(column);
  if (path === undefined) {
    path = parsePath(column.path);
    parsed.set(column, path);
  }
  // The type matters for a fold only, and all folds of columns are sums of integers.
  if (!isThroughLists(path)) return leafValueAt(body, path, 'Int64') ?? null;
  const values = valuesAt(body, path);
  return values.length === 0
    ? null
    : values.map((value) => (typeof value === 'string' ? value : textOf(value))).join(',');
}

function textOf(value: unknown): string {
  requireShallow(value);
  return JSON.stringify(value);
}
