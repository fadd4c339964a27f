/**
 * Scopes: which rows of each kind a caller may see. Plain data.
 *
 * The View (src/query/sql/view.ts) adds the scope to every statement. The change feed calls `isVisible` for every change. Other
 * code does not read scopes, so a new form of scope is added here and in src/query/sql/counts.ts.
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

/** Is a row visible in this scope? The counterpart of `isVisibleSql` (src/query/sql/counts.ts). */
export function isVisible(scope: Scope): boolean {
  return scope.rows === 'all';
}
