/**
 * What a field's resolver does, as data, for fields that need no code: answers made of such fields alone are written by the store's
 * readers (answer-plan.ts). A field that does not say it is resolved by the executor.
 *
 * Invariant: a field's note and its resolver show the same (test/prepared.property.test.ts).
 */
import type { GraphQLField, GraphQLInputObjectType } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { FieldType } from '../../catalog/tree/field-tree.ts';
import type { Need } from './needs.ts';

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

/** The value for a field's `extensions`: its need, and what it does. */
export function plainly(need: Need, plain: PlainField): { portolan: Need; plain: PlainField } {
  return { portolan: need, plain };
}

export function plainOf(field: GraphQLField<unknown, unknown>): PlainField | null {
  return (field.extensions['plain'] as PlainField | undefined) ?? null;
}
