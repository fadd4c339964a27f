/**
 * What one caller may see: for each kind a scope, which says which of its rows are visible. Plain data.
 *
 * The View (src/query/sql/view.ts) puts the scope into every statement, and the change feed asks `isVisible` for every change. No
 * other code looks at a scope, so a new form of a scope is added here and in src/query/sql/counts.ts.
 */

/** Which rows of one kind are visible: all of them, or none. */
export type Scope = { readonly rows: 'all' } | { readonly rows: 'none' };

export const allRows: Scope = Object.freeze({ rows: 'all' });
export const noRows: Scope = Object.freeze({ rows: 'none' });

/** The scopes of one caller. Immutable: the rights of another moment are another object. */
export interface Scopes {
  /** Equal for callers that see the same. What is cached for one caller is served to others by this id. */
  readonly id: string;
  /** @param key resourceKey */
  of(key: string): Scope;
}

/** Sees every row of every kind. */
export const unrestricted: Scopes = Object.freeze({ id: 'all', of: () => allRows });

/** Is a row of this scope visible? The counterpart of `isVisibleSql` (src/query/sql/counts.ts). */
export function isVisible(scope: Scope): boolean {
  return scope.rows === 'all';
}
