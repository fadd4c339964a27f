/**
 * Filters as data: frozen trees with two interpreters, src/query/sql/sql-filter.ts for SQLite and src/query/evaluate/matches.ts
 * for JavaScript. The two must agree on every object. docs/values.md specifies the semantics.
 *
 * Logic is two-valued: a comparison with an absent leaf is false. `ne` and `notIn` are the negations of `eq` and `in`. So they
 * match an absent leaf, as in label selectors.
 *
 * Example: `spec.nodeName: {ne: "a"}` is { not, of: { compare, path: spec.nodeName, operator: eq, values: ["a"] } }.
 */

import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { isRolledUp, type Path } from '../../catalog/tree/path.ts';
import type { ValueOperator } from '../../catalog/values/compare-values.ts';
import type { LabelRequirement } from '../../catalog/values/label-requirement.ts';
import { anyKind, type Hop, type HopEnd } from './hop.ts';

/** Operators on the text of a value. They apply to strings only, so their comparisons have the type String for every leaf. */
export const textOperators = ['startsWith', 'endsWith', 'contains', 'matches'] as const;
type TextOperator = (typeof textOperators)[number];

/** Operators on the order of values. */
export const rangeOperators = ['lt', 'lte', 'gt', 'gte'] as const;

export type CompareOperator = 'eq' | 'in' | (typeof rangeOperators)[number] | TextOperator;

export function isRangeOperator(operator: string): boolean {
  return (rangeOperators as readonly string[]).includes(operator);
}

export function isTextOperator(operator: string): operator is TextOperator {
  return (textOperators as readonly string[]).includes(operator);
}

export type { LabelRequirement };

/** The name of one object across all clusters and versions. An object id (object-id.ts) encodes it. */
export interface Identity {
  readonly cluster: string;
  /** resourceKey of the kind. */
  readonly key: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
}

/** A path to a leaf, with the leaf's type. */
export interface LeafPath {
  readonly path: Path;
  readonly type: LeafType;
}

export type Filter =
  | { readonly kind: 'and'; readonly of: readonly Filter[] }
  | { readonly kind: 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  /** The path is relative to the object, or to the element inside `some`. It may be empty; it has no `each` step. */
  | {
      readonly kind: 'compare';
      readonly path: Path;
      readonly type: LeafType;
      readonly operator: CompareOperator;
      /** JSON values: several for `in`, otherwise one. Already checked against the type, or by checkPattern. */
      readonly values: readonly unknown[];
      readonly ignoreCase: boolean;
      /** `type` is that of a cast. */
      readonly cast?: ValueCast;
      /** The values as the caller wrote them, if they are relative to now. The cursors of a list are bound to these. */
      readonly relative?: readonly unknown[];
    }
  /** `left operator times x right`, by value (compareValues). Both paths lead to one leaf of the object. */
  | {
      readonly kind: 'compareFields';
      readonly left: LeafPath;
      readonly operator: ValueOperator;
      readonly right: LeafPath;
      /** A decimal number as text; null for 1. */
      readonly times: string | null;
    }
  /** There is a value, and it is not null. A path with a fold has the type of the folded value. */
  | { readonly kind: 'exists'; readonly path: Path; readonly type?: LeafType }
  /** At least one element of the list at `path` matches. `every` and `none` use `not`. An absent list has no elements. */
  | { readonly kind: 'some'; readonly path: Path; readonly of: Filter }
  | { readonly kind: 'labels'; readonly requirements: readonly LabelRequirement[] }
  /** All terms (src/catalog/paths/search-text.ts) occur in the object's search text, made from the values at `paths`. */
  | { readonly kind: 'search'; readonly terms: readonly string[]; readonly paths: readonly Path[] }
  | { readonly kind: 'namespaces'; readonly in: readonly string[] }
  | { readonly kind: 'clusters'; readonly in: readonly string[] }
  | { readonly kind: 'ids'; readonly in: readonly Identity[] }
  /** At least one object that the hop leads to matches. `every` and `none` use `not`. Only for objects of the kind `hop.from`. */
  | { readonly kind: 'related'; readonly hop: Hop; readonly of: Filter }
  /** At least one object names it, at a place that is not weak. `of`: the kinds that the filter is for; `weak`: placeTexts. */
  | { readonly kind: 'used'; readonly of: readonly HopEnd[]; readonly weak: readonly string[] }
  /** The number of objects that the hop leads to. Only for objects of the kind `hop.from`. */
  | {
      readonly kind: 'relatedCount';
      readonly hop: Hop;
      readonly operator: Exclude<CompareOperator, TextOperator>;
      readonly values: readonly unknown[];
    }
  /** The object is of one of these kinds (resourceKeys). */
  | { readonly kind: 'kinds'; readonly in: readonly string[] };

/** Matches everything. */
export const everything: Filter = Object.freeze({ kind: 'and', of: Object.freeze([]) });
/** Matches nothing. */
export const nothing: Filter = Object.freeze({ kind: 'or', of: Object.freeze([]) });

/** The top-level conjuncts: conditions that hold for every match. */
export function conjuncts(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.of.flatMap(conjuncts) : [filter];
}

/** The clusters and namespaces that the filter names. Names under a `not` do not count. */
export function namesIn(filter: Filter): {
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
} {
  switch (filter.kind) {
    case 'clusters':
      return { clusters: filter.in, namespaces: [] };
    case 'namespaces':
      return { clusters: [], namespaces: filter.in };
    case 'and':
    case 'or': {
      const parts = filter.of.map(namesIn);
      return {
        clusters: [...new Set(parts.flatMap(({ clusters }) => clusters))],
        namespaces: [...new Set(parts.flatMap(({ namespaces }) => namespaces))],
      };
    }
    default:
      return { clusters: [], namespaces: [] };
  }
}

/** The clusters of the filter's first top-level `clusters` condition; null without one. */
export function clustersIn(filter: Filter): readonly string[] | null {
  for (const part of conjuncts(filter)) if (part.kind === 'clusters') return part.in;
  return null;
}

/** The namespaces of the filter's first top-level `namespaces` condition; null without one. */
export function namespacesIn(filter: Filter): readonly string[] | null {
  for (const part of conjuncts(filter)) if (part.kind === 'namespaces') return part.in;
  return null;
}

/** The hops of all conditions through relations. */
export function hopsIn(filter: Filter): readonly Hop[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.flatMap(hopsIn);
    case 'not':
      return hopsIn(filter.of);
    case 'related':
      return [filter.hop, ...hopsIn(filter.of)];
    case 'relatedCount':
      return [filter.hop];
    default:
      return [];
  }
}

/** The kinds whose objects the filter asks whether others name them, also behind relations. */
export function usesIn(filter: Filter): readonly HopEnd[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.flatMap(usesIn);
    case 'not':
    case 'related':
      return usesIn(filter.of);
    default:
      return filter.kind === 'used' ? filter.of : [];
  }
}

/** Does the filter depend on objects of any kind? */
export function dependsOnAnyKind(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.some(dependsOnAnyKind);
    case 'not':
      return dependsOnAnyKind(filter.of);
    case 'related':
      return filter.hop.to.key === anyKind || dependsOnAnyKind(filter.of);
    case 'relatedCount':
      return filter.hop.to.key === anyKind;
    default:
      return filter.kind === 'used' || isAboutRollUp(filter);
  }
}

/** Does the filter read the rolled-up health of objects of this kind? */
export function readsRollUp(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.some(readsRollUp);
    case 'not':
      return readsRollUp(filter.of);
    default:
      return isAboutRollUp(filter);
  }
}

/** Is this one condition about the rolled-up health of the object? */
function isAboutRollUp(filter: Filter): boolean {
  switch (filter.kind) {
    case 'compare':
    case 'exists':
      return isRolledUp(filter.path);
    case 'compareFields':
      return isRolledUp(filter.left.path) || isRolledUp(filter.right.path);
    default:
      return false;
  }
}

/** Does one object alone not tell whether it matches? */
export function readsRelated(filter: Filter): boolean {
  return hopsIn(filter).length > 0 || dependsOnAnyKind(filter);
}

/** The names of namespaces that a filter can mean: objects without a namespace have the empty one in the store. */
export function withNamespace(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== '');
}
