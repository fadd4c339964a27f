/**
 * Scopes: which rows of each kind a caller may see. Plain data.
 *
 * The View (src/query/sql/view.ts, counts.ts) adds the scope to every statement. The change feed calls `isVisible` for every
 * change. Both have the cluster, the kind and the namespace of the row. So a new form of scope is added in those three files.
 */

/** The visible rows of one kind: all or none. */
export type Scope = { readonly rows: 'all' } | { readonly rows: 'none' };

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
}

/** Is a row visible in these scopes? The counterpart of `isVisibleSql` (src/query/sql/counts.ts). */
export function isVisible(scopes: Scopes, { key }: RowIdentity): boolean {
  return scopes.of(key).rows === 'all';
}
