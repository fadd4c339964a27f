/** The columns of `kubectl get` with their values for one object. */

import { cellReader, readsBelow } from '../../catalog/columns/built-in-column.ts';
import { builtInColumns } from '../../catalog/columns/built-in-columns.ts';
import { jsonPathReader, printedText } from '../../catalog/paths/kubectl-json-path.ts';
import { valueAt } from '../../catalog/paths/value-at.ts';
import type { CatalogKind, PrinterColumn } from '../../catalog/resources/catalog.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';

/** A printer column with its value for one object. */
export interface Cell {
  readonly name: string;
  readonly type: string;
  readonly format: string | null;
  readonly priority: number;
  /** Of the column's type, or null. An integer beyond 2^53 is its digits. */
  readonly value: unknown;
}

type CellReader = (body: unknown) => unknown;

type ShownKind = Pick<CatalogKind, 'key' | 'redacted' | 'printerColumns'>;

const readers = new WeakMap<ShownKind, readonly CellReader[]>();

/** The cells of an object of the kind. A built-in kind has those of the API server, with times in place of ages. */
export function cellsOf(kind: ShownKind, body: unknown): readonly Cell[] {
  let known = readers.get(kind);
  if (known === undefined) {
    known = kind.printerColumns.map((column) => readerOf(kind, column));
    readers.set(kind, known);
  }
  const read = known;
  return kind.printerColumns.map(({ name, type, format = null, priority }, index) => ({
    name,
    type,
    format,
    priority,
    value: read[index]?.(body) ?? null,
  }));
}

function readerOf(kind: ShownKind, column: PrinterColumn): CellReader {
  if (column.computed === true) return computedReader(kind, column.name);
  return column.jsonPath === undefined ? pathReader(column) : crdReader(column, column.jsonPath);
}

/** A cell of withheld values is empty: what is not stored does not count as absent. */
function computedReader({ key, redacted }: ShownKind, name: string): CellReader {
  const column = builtInColumns(key)?.find((each) => each.name === name);
  return column === undefined || readsBelow(column, redacted) ? () => null : cellReader(column);
}

/** A CRD's column has the first value, of its type. */
function crdReader({ type }: PrinterColumn, jsonPath: string): CellReader {
  const reader = jsonPathReader(jsonPath);
  if (reader === null) return () => null;
  return (body) => {
    const [value] = reader(body);
    return value === undefined ? null : typed(type, value);
  };
}

/** Portolan's own columns show one value: the name, the time of creation, or a field of an abstract kind. */
function pathReader(column: PrinterColumn): CellReader {
  if (column.path === null) return () => null;
  const path = parsePath(column.path);
  return (body) => {
    const value = valueAt(body, path);
    return isRawJson(value) ? value.rawJSON : value;
  };
}

/** The value if it is of the column's type, null otherwise. A text shows values of all types. */
function typed(type: string, value: unknown): unknown {
  switch (type) {
    case 'string':
      return printedText(value);
    case 'integer':
      if (isRawJson(value)) return value.rawJSON;
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      if (isRawJson(value)) return Number(value.rawJSON);
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? value : null;
    default:
      return null;
  }
}
