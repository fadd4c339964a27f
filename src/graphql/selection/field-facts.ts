/**
 * The facts about a field that stand beside its resolver, in one record:
 *
 *   need    which places of an object's body the resolver reads, so that the store projects just those (projection.ts)
 *   plain   what the resolver shows, as data, so that a page can be written as text without it (src/graphql/prepared)
 *   cost    what the field is worth, and how often what is selected below it comes (src/graphql/selection/cost.ts)
 *
 * Invariant: `plain` and the resolver show the same (test/prepared.property.test.ts).
 */
import type { GraphQLField, GraphQLInputObjectType } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { FieldType } from '../../catalog/tree/field-tree.ts';

export type Need =
  /** Nothing of the body. */
  | { readonly kind: 'none' }
  /** All of it. */
  | { readonly kind: 'whole' }
  /** The places at these paths below the enclosing object; with `deep`, only what is selected below the (single) path. */
  | { readonly kind: 'paths'; readonly paths: readonly (readonly string[])[]; readonly deep: boolean };

export const nothing: Need = { kind: 'none' };
export const wholeBody: Need = { kind: 'whole' };
export const at = (...path: string[]): Need => ({ kind: 'paths', paths: [path], deep: false });
export const below = (...path: string[]): Need => ({ kind: 'paths', paths: [path], deep: true });

export type PlainField =
  /** What is shown under `type` of the enclosing object's member. */
  | { readonly is: 'member'; readonly name: string; readonly type: FieldType }
  /** Whether the enclosing object's member is true. */
  | { readonly is: 'flag'; readonly name: string }
  | {
      readonly is: 'identity';
      readonly of: 'id' | 'cluster' | 'namespace' | 'name' | 'uid' | 'resourceVersion';
    }
  | { readonly is: 'apiVersion' | 'kind' | 'withheld' | 'metadata' | 'condition' }
  /** The value of the map's entry under the argument `key`. */
  | { readonly is: 'entry'; readonly of: 'labels' | 'annotations' }
  /** A kind's list. */
  | { readonly is: 'list'; readonly kind: CatalogKind; readonly filter: GraphQLInputObjectType };

export interface FieldCost {
  /** Values that the field is worth, without what is selected below it. */
  readonly own: number;
  /**
   * How often what is selected below it may come: a number of its arguments, or `page` for a connection, where `nodes` and `edges` come
   * once for each object of the page.
   */
  readonly repeats: 'once' | 'page' | ((args: Readonly<Record<string, unknown>>) => number);
}

export interface FieldFacts {
  readonly need: Need;
  /** Null for a field that needs code: the executor resolves it. */
  readonly plain: PlainField | null;
  readonly cost: FieldCost;
}

const usual: FieldFacts = { need: nothing, plain: null, cost: { own: 1, repeats: 'once' } };

/** The value for a field's `extensions`. A fact that is not given is the usual one: it reads nothing, needs code, is worth one value. */
export function facts({
  need = usual.need,
  plain = usual.plain,
  cost = {},
}: {
  readonly need?: Need;
  readonly plain?: PlainField | null;
  readonly cost?: Partial<FieldCost>;
}): { readonly portolan: FieldFacts } {
  return { portolan: { need, plain, cost: { ...usual.cost, ...cost } } };
}

export function factsOf(field: GraphQLField<unknown, unknown>): FieldFacts {
  return (field.extensions['portolan'] as FieldFacts | undefined) ?? usual;
}
