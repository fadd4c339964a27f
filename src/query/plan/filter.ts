/**
 * Filters as data: frozen trees, one meaning, two interpreters (src/query/sql/sql-filter.ts for SQLite, src/query/evaluate/matches.ts for
 * JavaScript) that must agree on every object; docs/values.md is the law between them.
 *
 * Logic is two-valued: a comparison with an absent leaf is false, and `ne`, `notIn` are the negations of `eq`, `in`, so they match
 * an absent leaf, as label selectors do.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';

/** Operators on the text of a value; they look at strings only, so their comparisons have the type String whatever the leaf is. */
export const textOperators = ['startsWith', 'endsWith', 'contains', 'matches'] as const;
export type TextOperator = (typeof textOperators)[number];

export type CompareOperator = 'eq' | 'in' | 'lt' | 'lte' | 'gt' | 'gte' | TextOperator;

export function isTextOperator(operator: string): operator is TextOperator {
  return (textOperators as readonly string[]).includes(operator);
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** Names one object for good: what an object id stands for. */
export interface Identity {
  readonly cluster: string;
  /** resourceKey of the kind. */
  readonly key: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
}

export type Filter =
  | { readonly kind: 'and'; readonly of: readonly Filter[] }
  | { readonly kind: 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  /** Paths are relative to the object, or to the element inside `list`. An empty path is the element itself. They have no `each` step. */
  | {
      readonly kind: 'compare';
      readonly path: Path;
      readonly type: LeafType;
      readonly operator: CompareOperator;
      /** JSON values as the caller gave them; one, or several for `in`. Already checked against the type, patterns by checkPattern. */
      readonly values: readonly unknown[];
      readonly ignoreCase: boolean;
    }
  /** Is there a value, null counting as none? */
  | { readonly kind: 'exists'; readonly path: Path }
  /** Some element of the list at `path` matches. `every` and `none` are written with `not`. An absent list has no elements. */
  | { readonly kind: 'some'; readonly path: Path; readonly of: Filter }
  | { readonly kind: 'labels'; readonly requirements: readonly LabelRequirement[] }
  /** All terms (src/catalog/paths/search-text.ts) occur in the object's search text, which has what stands at `paths`. */
  | { readonly kind: 'search'; readonly terms: readonly string[]; readonly paths: readonly Path[] }
  | { readonly kind: 'namespaces'; readonly in: readonly string[] }
  | { readonly kind: 'clusters'; readonly in: readonly string[] }
  | { readonly kind: 'ids'; readonly in: readonly Identity[] };

/** Matches everything. */
export const everything: Filter = Object.freeze({ kind: 'and', of: Object.freeze([]) });

/** The conditions that all hold for every match. */
export function conjuncts(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.of.flatMap(conjuncts) : [filter];
}

/** The clusters that a filter restricts itself to; null when it names none. */
export function clustersIn(filter: Filter): readonly string[] | null {
  for (const part of conjuncts(filter)) if (part.kind === 'clusters') return part.in;
  return null;
}
