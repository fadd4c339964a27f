/**
 * The rows of an answer: the nodes of its first connection. A column is a path to scalars. Values of a list share a cell. Entries
 * `{ name, value }`, as `columns` has them, are columns of their own.
 *
 *   { pods: { nodes: [{ metadata: { name: "a" }, columns: [{ name: "Ready", value: "1/1" }] }] } }
 *   -> metadata.name | columns.Ready
 *      a             | 1/1
 */
export interface Rows {
  readonly columns: readonly string[];
  /** A text for each column; empty without a value. */
  readonly rows: readonly (readonly string[])[];
}

type Json = Readonly<Record<string, unknown>>;

/** Null if the data has no connection with nodes. */
export function rowsOf(data: unknown): Rows | null {
  const nodes = firstNodes(data);
  if (nodes === null) return null;
  const cells = nodes.map(cellsOf);
  const all = [...new Set(cells.flatMap((row) => [...row.keys()]))];
  // An id is long and tells a person nothing.
  const told = all.filter((path) => !/(?:^|\.)(?:id|__typename)$/.test(path));
  const columns = told.length === 0 ? all : told;
  return { columns, rows: cells.map((row) => columns.map((path) => row.get(path)?.join(', ') ?? '')) };
}

/** The connection that is nearest to the root. */
function firstNodes(data: unknown): readonly unknown[] | null {
  let level = [data].filter(isObject);
  while (level.length > 0) {
    for (const { nodes, edges } of level) {
      const found = Array.isArray(nodes) ? nodes : Array.isArray(edges) ? edges : [];
      if (found.some(isObject)) return found;
    }
    level = level.flatMap((each) => Object.values(each)).filter(isObject);
  }
  return null;
}

function cellsOf(node: unknown): ReadonlyMap<string, readonly string[]> {
  const cells = new Map<string, string[]>();
  const walk = (value: unknown, path: string): void => {
    if (value == null) return;
    if (isObject(value)) {
      for (const [key, each] of Object.entries(value)) walk(each, path === '' ? key : `${path}.${key}`);
    } else if (Array.isArray(value)) {
      for (const each of value) {
        if (isColumn(each)) walk(each.value ?? '', `${path}.${each.name}`);
        else walk(each, path);
      }
    } else cells.set(path, [...(cells.get(path) ?? []), String(value)]);
  };
  walk(node, '');
  return cells;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isColumn(value: unknown): value is { readonly name: string; readonly value: unknown } {
  return isObject(value) && Object.keys(value).length === 2 && typeof value['name'] === 'string' && 'value' in value;
}
