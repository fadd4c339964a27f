/**
 * A column that `kubectl get` shows of a built-in kind: what it is called, the places that it reads, and its cell.
 *
 * The API server computes these columns in code that OpenAPI does not describe (pkg/printers/internalversion of Kubernetes). Here a
 * column is data and one pure function. The function gets the values at the places of `from`, in their order. A value may be absent or of
 * any type, because an aggregated API server may serve a kind of this name. A cell is computed from the present values, and never throws.
 *
 *   column('Ready', 'string', 'status.readyReplicas spec.replicas', (ready, desired) => `${count(ready)}/${count(desired)}`)
 *   {spec: {replicas: 3}}   ->   "0/3"
 *
 * `from` tells too which cells depend on withheld values. These cells are empty.
 */
import { memberOf } from './cell-values.ts';

/** The type of the values of a column. A `date` is a time, where kubectl shows an age. */
type CellType = 'string' | 'integer' | 'boolean' | 'date';

export interface BuiltInColumn {
  readonly name: string;
  readonly type: CellType;
  readonly format?: 'name';
  /** 0: always shown. 1: only with `-o wide`. */
  readonly priority: 0 | 1;
  /** Paths of fields. */
  readonly from: readonly string[];
  /** A kind without this path does not have the column: servers before the field do not show it. */
  readonly since?: string;
  readonly cell: (...values: readonly unknown[]) => unknown;
}

/** @param from paths of fields, separated by spaces. */
export function column(
  name: string,
  type: CellType,
  from: string,
  cell: (...values: readonly unknown[]) => unknown,
): BuiltInColumn {
  return { name, type, priority: 0, from: from.split(' '), cell };
}

/** The columns, only with `-o wide`. */
export function wide(...columns: readonly BuiltInColumn[]): readonly BuiltInColumn[] {
  return columns.map((each) => ({ ...each, priority: 1 }));
}

/** The column of servers whose kind has the path. */
export function since(path: string, given: BuiltInColumn): BuiltInColumn {
  return { ...given, since: path };
}

/** Reads the cell of one column in bodies. */
export function cellReader({ from, cell }: BuiltInColumn): (body: unknown) => unknown {
  const places = from.map((path) => path.split('.'));
  return (body) => cell(...places.map((names) => names.reduce(memberOf, body)));
}

/** Does the column read a value at or below one of these paths? */
export function readsBelow({ from }: BuiltInColumn, paths: readonly string[]): boolean {
  return from.some((place) => paths.some((path) => place === path || place.startsWith(`${path}.`)));
}
