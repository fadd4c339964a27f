/**
 * The filter fields of a kind that go through its relations, and the inputs behind them.
 *
 *   pods(filter: { node: { is: { spec: { unschedulable: { eq: true } } } } })    Node_OneFilter: exists, is
 *   nodes(filter: { pods: { none: {…} } })                                       Pod_ListFilter: exists, some, none, every, count
 */
import { GraphQLBoolean, GraphQLInputObjectType } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { hopOf } from '../../query/plan/hop.ts';
import type { InputFields } from '../filter/leaf-filter-types.ts';
import { role } from '../filter/shape-filters.ts';
import type { KindShells, ShellsOf } from './kind-shells.ts';

/** The filter inputs for relations that lead to a kind, or to `object of any kind`. @param count conditions on an integer. */
export function relatedFilters(
  {
    names,
    resource: { kind },
  }: { readonly names: { readonly type: string }; readonly resource: { readonly kind: string } },
  filter: GraphQLInputObjectType,
  count: GraphQLInputObjectType,
): Pick<KindShells, 'filterOne' | 'filterList'> {
  const exists = (description: string) => ({ type: GraphQLBoolean, description });
  return {
    filterOne: new GraphQLInputObjectType({
      name: `${names.type}_OneFilter`,
      description: `Conditions on a related ${kind}.`,
      fields: () => ({ exists: exists('Does the related object exist?'), is: { type: filter } }),
    }),
    filterList: new GraphQLInputObjectType({
      name: `${names.type}_ListFilter`,
      description: `Conditions on related ${kind} objects.`,
      fields: () => ({
        exists: exists('Is there at least one?'),
        some: { type: filter },
        none: { type: filter },
        every: { type: filter },
        count: { type: count, description: 'How many there are.' },
      }),
    }),
  };
}

/** Conditions on objects of any kind at the end of a relation. */
export interface AnyFilters extends Pick<KindShells, 'filterOne' | 'filterList'> {
  readonly filter: GraphQLInputObjectType;
}

/** @param filter the conditions that every kind can answer */
export function anyFilters(filter: GraphQLInputObjectType, count: GraphQLInputObjectType): AnyFilters {
  const any = { names: { type: 'KubernetesObject' }, resource: { kind: 'object of any kind' } };
  return { filter, ...relatedFilters(any, filter, count) };
}

/** The fields of a kind's filter that go through its relations. */
export function relationFilters(kind: CatalogKind, shellsOf: ShellsOf, any: AnyFilters): InputFields {
  const fields: InputFields = {};
  for (const relation of kind.relations) {
    if (relation.to === null && relation.way.by === 'reference') {
      const hop = hopOf(kind, relation, null);
      fields[relation.name] = {
        type: relation.many ? any.filterList : any.filterOne,
        ...role({ role: 'related', hop, kind: null, filter: any.filter }),
      };
    }
    const shells = relation.to === null ? undefined : shellsOf(relation.to);
    if (shells === undefined) continue;
    const { kind: to, filter, filterOne, filterList } = shells;
    fields[relation.name] = {
      type: relation.many ? filterList : filterOne,
      ...role({ role: 'related', hop: hopOf(kind, relation, to), kind: to, filter }),
    };
  }
  return fields;
}
