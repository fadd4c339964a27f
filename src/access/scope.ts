/**
 * Scopes: which rows of each kind a caller may see. Plain data.
 *
 * src/query/sql/counts.ts and view.ts add the scope to the statements that select rows. src/live/fold.ts calls `isVisible` for each
 * changed object. A statement and `isVisible` both have the cluster, the kind and the namespace of a row. A new form of scope that needs
 * no more than these is added in this file, counts.ts and view.ts.
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
