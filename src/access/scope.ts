/**
 * Scopes: which rows of each kind a caller may see. Plain data.
 *
 *   all    every row
 *   none   no row
 *   some   in each named cluster: every row, the rows of some namespaces, and single objects by name
 *
 * src/query/sql/counts.ts makes the condition for the statements that select rows. src/live/fold.ts calls `isVisible` for each changed
 * object. Both have the identity of a row and nothing else.
 */

export type Scope =
  | { readonly rows: 'all' }
  | { readonly rows: 'none' }
  /** A cluster that is not named has no visible row. */
  | { readonly rows: 'some'; readonly clusters: ReadonlyMap<string, ClusterScope> };

/** The visible rows of one kind in one cluster. */
export type ClusterScope = 'all' | PartScope;

export interface PartScope {
  /** The namespaces of which every row is visible. */
  readonly namespaces: ReadonlySet<string>;
  /** Names of single objects by namespace. Names under '' are visible in each namespace, and without one. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
}

export const allRows: Scope = Object.freeze({ rows: 'all' });
export const noRows: Scope = Object.freeze({ rows: 'none' });

/** The scopes of one caller. Immutable: changed rights give a new object. */
export interface Scopes {
  /** Equal ids mean equal scopes. Cached answers are shared between callers with the same id. */
  readonly id: string;
  /** @param key resourceKey */
  of(key: string): Scope;
}

/** Every row of every kind is visible. */
export const unrestricted: Scopes = Object.freeze({ id: 'all', of: () => allRows });

/** The parts of a row's identity that decide whether it is visible. */
export interface RowIdentity {
  readonly cluster: string;
  /** resourceKey of the kind. */
  readonly key: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
}

/** Is a row visible in these scopes? The counterpart of `scopeSql` (src/query/sql/counts.ts). */
export function isVisible(scopes: Scopes, { cluster, key, namespace, name }: RowIdentity): boolean {
  const scope = scopes.of(key);
  if (scope.rows !== 'some') return scope.rows === 'all';
  const part = scope.clusters.get(cluster);
  if (part === undefined || part === 'all') return part === 'all';
  const home = namespace ?? '';
  return (
    (home !== '' && part.namespaces.has(home)) || ['', home].some((each) => part.names.get(each)?.has(name) === true)
  );
}

/** A text that equal scopes share. */
export function scopeText(scope: Scope): string {
  if (scope.rows !== 'some') return scope.rows;
  const clusters = [...scope.clusters].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(clusters.map(([cluster, part]) => [cluster, part === 'all' ? part : partText(part)]));
}

function partText({ namespaces, names }: PartScope): unknown {
  const named = [...names].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [[...namespaces].toSorted(), named.map(([namespace, some]) => [namespace, [...some].toSorted()])];
}
