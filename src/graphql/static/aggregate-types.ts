/**
 * The types of aggregates and facets, one set for all kinds. Paths name the measured fields, so no kind needs types of its own.
 */
import { type GraphQLObjectType, type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Operation } from '../../operation/operation.ts';
import { rangeOperators } from '../../query/plan/filter.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import {
  defaultGroups,
  type GroupSource,
  groupMeasures,
  groupValues,
  readGroups,
} from '../../reads/aggregates/aggregate-groups.ts';
import type { Measure } from '../../reads/aggregates/aggregate-paths.ts';
import type { AggregateSource, NumSource } from '../../reads/aggregates/aggregate-source.ts';
import type { Builder, ObjectFields } from '../builder/builder.ts';
import type { OperationContext } from '../generation/generation.ts';
import { countOf } from '../selection/cost.ts';
import { facts } from '../selection/field-facts.ts';
import { selectedMeasures } from '../selection/selected-measures.ts';
import { staticType } from '../types/collected-schema.ts';

/** Costs in values: of counting all objects of a list, and of scanning all of them for a sum or an extreme. */
export const countCost = 50;
const scanCost = 100;

type MeasureArgs = Parameters<AggregateSource['value']>[1];

interface FacetValueSource {
  readonly value: unknown;
  readonly count: number;
}

/** The answer of this field. If it was over budget: null, with the reason in `extensions.portolan`. */
export function withinBudget<T>(operation: Operation, answer: T | OverBudget, info: GraphQLResolveInfo): T | null {
  return operation.withinBudget(answer, responsePathAsArray(info.path));
}

/** How the values at a path are read. */
const as = { type: 'ValueCast' as never, description: 'Reads the values as this type; others are left out.' } as const;

/** How the values at each of several paths are read. */
export const castOfEach = {
  type: ['ValueCast'] as [never],
  required: { list: false, items: false } as const,
  description: 'Reads the values at each path as this type.',
};

export function addAggregates(builder: Builder): void {
  const num = exactNumberType(builder);
  const groupOrder = groupOrderInput(builder);
  const groupCondition = groupConditionInput(builder);
  const groupAggregate = builder.objectRef<AggregateSource>('GroupAggregate');
  groupAggregate.implement({
    description: 'Counts and sums of the objects of a group.',
    fields: (t) => measures(t, num),
  });

  const group = builder.objectRef<GroupSource>('Group').implement({
    description: 'Objects that share these values.',
    fields: (t) => ({
      keys: t.field({
        type: ['JSON'],
        nullable: { list: false, items: true },
        description: 'One for each path of `by`, in the canonical form of its type; null for objects without a value.',
        resolve: ({ keys }) => [...keys],
      }),
      cursor: t.exposeString('cursor', { nullable: false }),
      aggregate: t.field({ type: groupAggregate, nullable: false, resolve: (source) => source.aggregate }),
    }),
  });

  builder.objectType('Aggregate', {
    description:
      'Counts and sums of all objects of a list, not of a page. A field that would look at more rows than ' +
      'are allowed is null, and `extensions.portolan.notAfforded` says so.',
    fields: (t) => ({
      ...measures(t, num),
      groups: t.field({
        type: [group],
        nullable: { list: true, items: false },
        description:
          'Objects by the values at these paths. An object with several values at a path through lists is in several groups.',
        args: {
          by: t.arg({ type: ['Path'], required: true }),
          as: t.arg(castOfEach),
          having: t.arg({ type: [groupCondition], description: 'Only groups that satisfy all of these.' }),
          orderBy: t.arg({ type: [groupOrder], description: 'The largest groups first when not given.' }),
          first: t.arg.int({ defaultValue: defaultGroups, description: 'Groups on a page.' }),
          after: t.arg.string({ description: 'The cursor of the last group before the page.' }),
        },
        extensions: facts({ cost: { repeats: ({ first }) => countOf(first, defaultGroups) } }),
        resolve: async (source, args, { portolan }, info) => {
          const type = staticType(info.schema, 'GroupAggregate') as GraphQLObjectType;
          const selected = selectedMeasures(source.aggregated, type, info, ['aggregate']);
          const path = responsePathAsArray(info.path);
          const groups = withinBudget(portolan, await readGroups(source.aggregated, args, { selected, path }), info);
          return groups === null ? null : [...groups];
        },
      }),
    }),
  });

  addFacets(builder);
}

function exactNumberType(builder: Builder) {
  return builder.objectRef<NumSource>('ExactNumber').implement({
    description: 'A number that was computed, exactly.',
    fields: (t) => ({
      number: t.exposeFloat('number', { description: 'The nearest double; null beyond its range.' }),
      text: t.exposeString('text', {
        nullable: false,
        description: 'All digits, without an exponent. Durations are in seconds.',
      }),
    }),
  });
}

type NumberRef = ReturnType<typeof exactNumberType>;

/** The fields that count and measure objects. */
function measures(t: ObjectFields<AggregateSource>, num: NumberRef) {
  const of = (measure: Measure, description: string) => ({
    description,
    args: { path: t.arg({ type: 'Path', required: true }), as: t.arg(as) },
    extensions: facts({ cost: { own: scanCost } }),
    resolve: async (
      source: AggregateSource,
      args: MeasureArgs,
      { portolan }: OperationContext,
      info: GraphQLResolveInfo,
    ) => withinBudget(portolan, (await source.value(measure, args)) as NumSource | OverBudget | null, info),
  });
  return {
    count: t.int({
      description: 'Objects.',
      extensions: facts({ cost: { own: countCost } }),
      resolve: async (source, _args, { portolan }, info) => withinBudget(portolan, await source.count(), info),
    }),
    sum: t.field({
      type: num,
      ...of('sum', 'The exact sum of all values at the path; through lists, of every element. Null without values.'),
    }),
    avg: t.field({ type: num, ...of('avg', 'The mean of all values at the path, to 20 significant digits.') }),
    min: t.field({
      type: 'JSON',
      ...of('min', 'The smallest value at the path, in the canonical form of its type.'),
    }),
    max: t.field({ type: 'JSON', ...of('max', 'The greatest value at the path.') }),
  };
}

function groupOrderInput(builder: Builder) {
  const groupValue = builder.enumType('GroupValue', {
    description: 'What groups are ordered by.',
    values: groupValues,
  });
  return builder.inputType('GroupOrder', {
    description:
      'One term of an order of groups. Groups without the value stand last; ties are broken by the keys, ascending.',
    fields: (t) => ({
      by: t.field({ type: groupValue, required: true, defaultValue: 'COUNT' }),
      path: t.field({
        type: 'Path',
        description: 'The values that are added up or compared; for KEY, which of the keys.',
      }),
      as: t.field(as),
      direction: t.field({ type: 'OrderDirection' as never, defaultValue: 'DESC' as never }),
    }),
  });
}

function groupConditionInput(builder: Builder) {
  const groupMeasure = builder.enumType('GroupMeasure', {
    description: 'What a condition on groups compares.',
    values: groupMeasures,
  });
  return builder.inputType('GroupCondition', {
    description: 'A condition on groups. A group without the value satisfies only ne.',
    fields: (t) => ({
      value: t.field({ type: groupMeasure, required: true, defaultValue: 'COUNT' }),
      path: t.field({ type: 'Path', description: 'The values that are added up or compared; not for COUNT.' }),
      as: t.field(as),
      ...Object.fromEntries(['eq', 'ne', ...rangeOperators].map((operator) => [operator, t.field({ type: 'JSON' })])),
    }),
  });
}

function addFacets(builder: Builder): void {
  const facetValue = builder.objectRef<FacetValueSource>('FacetValue').implement({
    description: 'A value, and how many objects have it.',
    fields: (t) => ({
      value: t.field({ type: 'JSON', description: 'Null for objects without one.', resolve: ({ value }) => value }),
      count: t.exposeInt('count', { nullable: false }),
    }),
  });
  builder.objectType('Facet', {
    description: 'The choices that a filter menu offers for one path, whatever the filter says of that path itself.',
    fields: (t) => ({
      path: t.field({ type: 'Path', nullable: false, resolve: ({ path }) => path }),
      values: t.field({
        type: [facetValue],
        nullable: { list: true, items: false },
        description: 'The most frequent first. Null where it was not affordable.',
        resolve: async (source, _args, { portolan }, info) => {
          const found = withinBudget(portolan, await source.read(), info);
          return found === null ? null : found.values.map(({ key, count }) => ({ value: source.shown(key), count }));
        },
      }),
      more: t.boolean({
        nullable: false,
        description: 'Are there values beyond these?',
        resolve: async (source) => {
          const found = await source.read();
          return 'more' in found ? found.more : true;
        },
      }),
    }),
  });
}
