/**
 * The static part of the schema, which is the same for every cluster. It contains scalars, the interface of all objects, paging,
 * orders, live phases and the types of `resources`. It is written with Pothos.
 *
 * The kinds' types (src/graphql/schema/kind-types.ts) are plain graphql-js objects that refer to the static types by name. A
 * cluster may serve a thousand kinds, and Pothos takes several times as long for each field (docs/architecture.md).
 */

import SchemaBuilder from '@pothos/core';
import type { GraphQLSchema } from 'graphql';
import { type GraphQLObjectType, getNamedType } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { FoldedChange, RemovalReason } from '../../live/log/fold.ts';
import { AggregateSource } from '../../reads/aggregates/aggregate-source.ts';
import { defaultFacetValues, facetsOf } from '../../reads/aggregates/facet-source.ts';
import type { Builder, StaticTypes } from '../builder/builder.ts';
import { addLogTypes } from '../logs/log-types.ts';
import { countOf, lengthOf } from '../selection/cost.ts';
import { facts } from '../selection/field-facts.ts';
import { selectedMeasures } from '../selection/selected-measures.ts';
import { scalars } from '../types/scalars.ts';
import { addWrites } from '../writes/manifest-mutations.ts';
import { addAccess, addVisibleScope } from './access.ts';
import { addAggregates, castOfEach, countCost, withinBudget } from './aggregate-types.ts';
import { addClusters } from './clusters.ts';
import { addHistory } from './history.ts';
import { addKubernetesObject } from './kubernetes-object.ts';
import { addReferences } from './references.ts';
import { addResourceChanges } from './resource-changes.ts';
import { addResources } from './resources.ts';

/** A schema of the static types alone; its Query has the roots that need no kind. */
export function buildStaticSchema(): GraphQLSchema {
  const builder: Builder = new SchemaBuilder<StaticTypes>({});
  for (const scalar of scalars) builder.addScalarType(scalar.name as keyof StaticTypes['Scalars'], scalar);
  addEnums(builder);
  addAggregates(builder);
  addPaging(builder);
  const healthStatus = addKubernetesObject(builder);
  builder.queryType({});
  addReferences(builder);
  addHistory(builder);
  addResources(builder, healthStatus);
  addResourceChanges(builder);
  addClusters(builder);
  addAccess(builder);
  addWrites(builder);
  addLogTypes(builder);
  return builder.toSchema({ sortSchema: false });
}

function addEnums(builder: Builder): void {
  builder.enumType('OrderDirection', { description: 'The direction of an order.', values: ['ASC', 'DESC'] as const });
  builder.enumType('NullsPosition', {
    description: 'Where objects without a value stand in an order.',
    values: ['FIRST', 'LAST'] as const,
  });
  const casts: Record<ValueCast, { description: string }> = {
    NUMBER: { description: 'A number of any size, or a text that is one.' },
    QUANTITY: { description: 'A quantity of Kubernetes, such as 500m or 1Gi, or a number.' },
    TIME: { description: 'A text in RFC 3339, or a day. Filters take relative times too, such as -1h.' },
  };
  builder.enumType('ValueCast', {
    description:
      'How a value of free JSON, or a text, is compared. A value that does not fit is found by no comparison.',
    values: casts,
  });
  const phases = {
    SNAPSHOT: { description: 'Objects that match now.' },
    SYNCED: { description: 'The snapshot is complete. The objects that you hold are those at the cursor.' },
    LIVE: { description: 'Changes after the snapshot, or after the cursor.' },
    GAP: { description: 'Some changes were not delivered. A new snapshot with `reset` follows.' },
  } as const;
  builder.enumType('ChangePhase', { description: 'The sort of a message of a subscription.', values: phases });
  const types: Record<FoldedChange['type'], { description: string }> = {
    ADDED: { description: 'The object matches now, and did not before.' },
    MODIFIED: { description: 'The object matched before and still matches.' },
    REMOVED: { description: 'The object no longer matches, was deleted, or is no longer visible to the caller.' },
  };
  builder.enumType('ChangeType', {
    description: 'What a change of an object means for the filter of the subscription.',
    values: types,
  });
  const reasons: Record<RemovalReason, { description: string }> = {
    DELETED: { description: 'The object is gone.' },
    NO_LONGER_MATCHES: { description: 'The object is there, but the filter no longer holds.' },
    NO_LONGER_VISIBLE: { description: 'The caller may no longer see the object.' },
  };
  builder.enumType('RemovalReason', { description: 'Why a change is REMOVED.', values: reasons });
  builder.inputType('ObjectOrder', {
    description: 'One term of an order. Ties are broken by cluster, namespace and name.',
    fields: (t) => ({
      path: t.field({
        type: 'Path',
        required: true,
        description: 'Where the value stands. Through [] it is the least value for ASC, the greatest for DESC.',
      }),
      direction: t.field({ type: 'OrderDirection' as never, defaultValue: 'ASC' as never }),
      nulls: t.field({ type: 'NullsPosition' as never, defaultValue: 'LAST' as never }),
      natural: t.boolean({
        defaultValue: false,
        description: 'Takes digits in texts by their value: web-2 before web-10.',
      }),
      ignoreCase: t.boolean({ defaultValue: false, description: 'Folds ASCII letters in texts: alpha before Beta.' }),
      as: t.field({
        type: 'ValueCast' as never,
        description: 'Orders the value as this type. Values that it does not fit count as none.',
      }),
    }),
  });
}

function addPaging(builder: Builder): void {
  builder.objectType('PageInfo', {
    description: 'The position of a page in its list (Relay cursor connections).',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { nullable: false }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', { nullable: false }),
      startCursor: t.exposeString('startCursor', {}),
      endCursor: t.exposeString('endCursor', {}),
    }),
  });
  builder.objectType('KubernetesObjectEdge', {
    description: 'An object in a list, with its cursor.',
    fields: (t) => ({
      cursor: t.exposeString('cursor', { nullable: false }),
      node: t.field({ type: 'KubernetesObject', nullable: false, resolve: (edge) => edge.node }),
      via: t.field({
        type: ['Path'],
        nullable: { list: true, items: false },
        description: 'In lists of related objects: the references that relate them.',
        resolve: async (edge) => (edge.via === undefined ? null : [...(await edge.via())]),
      }),
    }),
  });
  const visibleScope = addVisibleScope(builder);
  builder.objectType('KubernetesObjectConnection', {
    description: 'A list over one or several kinds.',
    fields: (t) => ({
      edges: t.field({
        type: ['KubernetesObjectEdge'],
        nullable: { list: false, items: false },
        resolve: async (source) => [...(await source.edges())],
      }),
      nodes: t.field({
        type: ['KubernetesObject'],
        nullable: { list: false, items: false },
        resolve: async (source) => (await source.edges()).map((edge) => edge.node),
      }),
      pageInfo: t.field({ type: 'PageInfo', nullable: false, resolve: (source) => source.pageInfo() }),
      totalCount: t.int({
        args: { limit: t.arg.int({ description: 'Stop counting here; equal to the limit means "at least".' }) },
        extensions: facts({ cost: { own: countCost } }),
        description: 'All objects of the list; null where counting costs too much.',
        resolve: async (source, { limit }, { portolan }, info) => {
          if ((limit ?? 0) < 0)
            throw new PortolanError('BAD_USER_INPUT', `\`limit\` is ${limit}; it must be 0 or more.`);
          return withinBudget(portolan, await source.totalCount(limit ?? null), info);
        },
      }),
      aggregate: t.field({
        type: 'Aggregate',
        description: 'Counts, sums and groups of all objects of the list.',
        resolve: ({ aggregated }, _args, _context, info) => {
          const type = getNamedType(info.returnType) as GraphQLObjectType;
          return new AggregateSource(aggregated, selectedMeasures(aggregated, type, info, []), null);
        },
      }),
      facets: t.field({
        type: ['Facet'],
        nullable: { list: true, items: false },
        description: 'For filter menus: the values at each path, and how many objects have them.',
        args: {
          paths: t.arg({ type: ['Path'], required: true }),
          as: t.arg(castOfEach),
          first: t.arg.int({ defaultValue: defaultFacetValues, description: 'Values of each path.' }),
          contains: t.arg.string({ description: 'Only values that contain this text, upper or lower case.' }),
        },
        extensions: facts({
          cost: { repeats: ({ paths, first }) => lengthOf(paths) * countOf(first, defaultFacetValues) },
        }),
        resolve: (source, args) => [...facetsOf(source.aggregated, args)],
      }),
      scope: t.field({
        type: [visibleScope],
        nullable: { list: true, items: false },
        description: 'What the caller may see. Null in lists of related objects.',
        resolve: async (source) => {
          const found = await source.scope?.();
          return found === undefined ? null : [...found];
        },
      }),
      changesCursor: t.string({
        nullable: false,
        description: 'The `since` of a subscription that goes on from this list.',
        resolve: (source, _args, { portolan }) => {
          portolan.noteRevision();
          return source.changesCursor();
        },
      }),
    }),
  });
}
