/**
 * Scopes: which rows of each kind a caller may see. Plain data.
 *
 *   all    every row
 *   none   no row
 *   some   in each named cluster: every row, the rows of some namespaces, and single objects by name
 *
 * src/query/sql/counts.ts makes the condition for the statements that select rows. src/live/log/fold.ts calls `isVisible` for each changed
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

/**
 * The access of a caller to the rows of a kind. `list`: rows in lists, counts and to-many relations. `get`: single objects by identity,
 * and objects of to-one relations. `watch`: those of which the caller receives every change.
 */
export type Access = 'list' | 'get' | 'watch';

/** The rows of a namespace, or one object by its name. */
export interface WantedRows {
  readonly cluster: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** Empty for all objects of the namespace. */
  readonly name: string;
}

/** The scopes of one caller. Immutable: changed rights give a new object. */
export interface Scopes {
  /** Equal ids mean equal scopes. Cached answers are shared between callers with the same id. */
  readonly id: string;
  /** Clusters whose rows are hidden because the rights there are not known, each with the reason. */
  readonly unknown?: ReadonlyMap<string, string>;
  /**
   * Notes rows that an operation names, so that rights to them can be asked for. Absent where all rights are known.
   * @param clusters null for all
   */
  want?(key: string, access: Access, clusters: readonly string[] | null, rows: Omit<WantedRows, 'cluster'>): void;
  /** The same object for each call. @param key resourceKey @param access default `list` */
  of(key: string, access?: Access): Scope;
}

/** No row of any kind is visible. */
export const noScopes: Scopes = Object.freeze({ id: 'none', of: () => noRows });

/** Every row of every kind is visible. */
export const unrestricted: Scopes = Object.freeze({ id: 'all', of: () => allRows });

/** The scopes in several cells, as one id: what each cell shows is in the scopes of the cell. Null if those of a cell are not known. */
export function scopesOfCells(cells: readonly (Scopes | null)[]): Scopes | null {
  const known = cells.filter((scopes) => scopes !== null);
  if (known.length < cells.length) return null;
  return {
    id: JSON.stringify(known.map(({ id }) => id)),
    of: () => {
      throw new Error('invariant broken: the scopes of a cell say which of its rows are visible');
    },
  };
}

/** The parts of a row's identity that decide whether it is visible. */
export interface RowIdentity {
  readonly cluster: string;
  /** resourceKey of the kind. */
  readonly key: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
}

/** The visible rows of a cluster; null for none. */
export function partIn(scope: Scope, cluster: string): ClusterScope | null {
  if (scope.rows !== 'some') return scope.rows === 'all' ? 'all' : null;
  return scope.clusters.get(cluster) ?? null;
}

/** The part of a scope in these clusters; null for all clusters. */
export function scopeIn(scope: Scope, clusters: readonly string[] | null): Scope {
  if (clusters === null || scope.rows !== 'some') return scope;
  const parts = new Map([...scope.clusters].filter(([cluster]) => clusters.includes(cluster)));
  if (parts.size === scope.clusters.size) return scope;
  return parts.size === 0 ? noRows : { rows: 'some', clusters: parts };
}

/** Scopes with another scope for each kind. Kinds that share a scope share the changed one too. @param id of the changed scopes */
export function changedScopes(scopes: Scopes, id: string, change: (scope: Scope) => Scope): Scopes {
  const known = new Map<Scope, Scope>();
  return {
    ...scopes,
    id,
    of(key, access) {
      const scope = scopes.of(key, access);
      const found = known.get(scope) ?? change(scope);
      known.set(scope, found);
      return found;
    },
  };
}

/** Is a row of the kind visible in this scope? The counterpart of `scopeSql` (src/query/sql/counts.ts). */
export function isVisible(scope: Scope, { cluster, namespace, name }: Omit<RowIdentity, 'key'>): boolean {
  const part = partIn(scope, cluster);
  if (part === null || part === 'all') return part === 'all';
  const home = namespace ?? '';
  return (
    (home !== '' && part.namespaces.has(home)) || ['', home].some((each) => part.names.get(each)?.has(name) === true)
  );
}

/**
 * Is every row visible in `scope` that has the cluster of a row of `of`, and its namespace too?
 * @param sameNamespace rows of other namespaces do not matter. Otherwise those of all namespaces do, and those without one.
 */
export function homesWithin(of: Scope, scope: Scope, sameNamespace: boolean): boolean {
  if (scope.rows === 'all' || of.rows === 'none') return true;
  if (scope.rows === 'none' || of.rows === 'all') return false;
  return [...of.clusters].every(([cluster, part]) => {
    const seen = scope.clusters.get(cluster);
    if (seen === undefined || seen === 'all') return seen === 'all';
    if (!sameNamespace || part === 'all') return false;
    return (
      part.namespaces.isSubsetOf(seen.namespaces) && [...part.names.keys()].every((each) => seen.namespaces.has(each))
    );
  });
}

const texts = new WeakMap<Scope, string>();

/** A text that equal scopes share, and no others. Kept for each scope. */
export function scopeText(scope: Scope): string {
  if (scope.rows !== 'some') return scope.rows;
  const known = texts.get(scope);
  if (known !== undefined) return known;
  const clusters = [...scope.clusters].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(clusters.map(([cluster, part]) => [cluster, part === 'all' ? part : partText(part)]));
  texts.set(scope, text);
  return text;
}

/** Do the scopes have the same rows? */
export function isSameScope(a: Scope, b: Scope | undefined): boolean {
  return b !== undefined && (a === b || scopeText(a) === scopeText(b));
}

function partText({ namespaces, names }: PartScope): unknown {
  const named = [...names].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [[...namespaces].toSorted(), named.map(([namespace, some]) => [namespace, [...some].toSorted()])];
}
