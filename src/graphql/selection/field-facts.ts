/**
 * The facts about a field, kept in one record in the field's `extensions`:
 *
 *   need      the paths of an object's body that the resolver reads; the store projects only these (projection.ts)
 *   plain     the resolver's result described as data; a page can be written as text without the resolver (src/graphql/prepared)
 *   cost      the field's own cost, and how often its selection repeats (cost.ts)
 *   required  the API server's schema requires a value; shown by @semanticNonNull
 *
 *   PodStatus.phase   need: at('phase'), plain: { is: 'member', name: 'phase', type: { kind: 'leaf', type: 'String' }, items: 'nonNull' }, cost: 1 value
 *
 * Invariant: `plain` describes exactly the resolver's result (test/answers/prepared.property.test.ts).
 */
import type { GraphQLField, GraphQLInputObjectType } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { HealthName } from '../../catalog/tree/path.ts';
import type { DisplayedField } from '../../catalog/values/displayed-value.ts';
import { defaultPageSize } from '../../query/plan/check-page.ts';
import type { Hop } from '../../query/plan/hop.ts';

type Need =
  /** The resolver does not read the body. */
  | { readonly kind: 'none' }
  /** It reads the whole body. */
  | { readonly kind: 'whole' }
  /** It reads these paths of the enclosing object. `deep`: only the fields selected below the (single) path. */
  | { readonly kind: 'paths'; readonly paths: readonly (readonly string[])[]; readonly deep: boolean };

const nothing: Need = { kind: 'none' };
export const wholeBody: Need = { kind: 'whole' };
export const at = (...path: string[]): Need => ({ kind: 'paths', paths: [path], deep: false });
export const below = (...path: string[]): Need => ({ kind: 'paths', paths: [path], deep: true });

export type PlainField =
  /** The enclosing object's member, as a displayed value of `type`. */
  | ({ readonly is: 'member' } & DisplayedField)
  /** Whether the enclosing object's member is true. */
  | { readonly is: 'flag'; readonly name: string }
  | {
      readonly is: 'identity';
      readonly of: 'id' | 'cluster' | 'namespace' | 'name' | 'uid' | 'resourceVersion';
    }
  | { readonly is: 'apiVersion' | 'kind' | 'redacted' | 'metadata' | 'condition' | 'health' }
  | { readonly is: 'healthPart'; readonly of: HealthName }
  /** The value of the map's entry under the argument `key`. */
  | { readonly is: 'entry'; readonly of: 'labels' | 'annotations' }
  /** A kind's list. */
  | { readonly is: 'list'; readonly kind: CatalogKind; readonly filter: GraphQLInputObjectType }
  | RelatedFact;

/** The objects that a relation of the enclosing object leads to. */
export interface RelatedFact {
  readonly is: 'related';
  readonly hop: Hop;
  readonly to: CatalogKind;
  /** Null for a relation to one object. */
  readonly filter: GraphQLInputObjectType | null;
}

interface FieldCost {
  /** Values that the field counts for, without its selection. */
  readonly own: number | ((args: Readonly<Record<string, unknown>>) => number);
  /**
   * How often its selection may repeat in the answer: a number from its arguments, or `page` for a connection. The `nodes` and `edges`
   * of a connection repeat once for each object of the page.
   */
  readonly repeats: 'once' | 'page' | ((args: Readonly<Record<string, unknown>>) => number);
  /** For `page`: the objects of a page without `first` and `last`. */
  readonly pageSize: number;
}

interface FieldFacts {
  readonly need: Need;
  /** Null for a field that only its resolver can answer. */
  readonly plain: PlainField | null;
  readonly cost: FieldCost;
  /** The API server's schema requires a value. The field is nullable nevertheless, because stored objects may be older than it. */
  readonly required: boolean;
}

const defaults: FieldFacts = {
  need: nothing,
  plain: null,
  cost: { own: 1, repeats: 'once', pageSize: defaultPageSize },
  required: false,
};

/** The value of a field's `extensions`. Defaults: it reads no body, needs its resolver, and counts for one value. */
export function facts({
  need = defaults.need,
  plain = defaults.plain,
  cost = {},
  required = defaults.required,
}: {
  readonly need?: Need;
  readonly plain?: PlainField | null;
  readonly cost?: Partial<FieldCost>;
  readonly required?: boolean;
}): { readonly portolan: FieldFacts } {
  return { portolan: { need, plain, cost: { ...defaults.cost, ...cost }, required } };
}

/** The facts about a field; the defaults if it was made without `facts`. */
export function factsOf(field: GraphQLField<unknown, unknown>): FieldFacts {
  return (field.extensions['portolan'] as FieldFacts | undefined) ?? defaults;
}
