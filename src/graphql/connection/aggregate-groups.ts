/**
 * `groups(by:, orderBy:, first:, after:)`. Its arguments and its selection become one aggregate request. This file orders and
 * pages the groups of its result.
 *
 *   groups(by: ["spec.nodeName"], orderBy: [{ by: SUM, path: "spec.size" }], first: 2) { keys aggregate { count } }
 *     request  by: [spec.nodeName], measured: [spec.size (sum)]      the measures of orderBy and of the selection, merged
 *     page     the 2 groups with the greatest sum, each with its cursor
 */
import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import type { Leaf, Measured } from '../../query/plan/aggregate.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { type GroupTerm, pageOfGroups } from '../../query/read/group-page.ts';
import { leafAt, type Measure, measuredAt, mergeMeasured, selectedMeasures } from './aggregate-paths.ts';
import { AggregateSource } from './aggregate-source.ts';
import type { Aggregated } from './aggregated.ts';

export const groupValues = ['COUNT', 'KEY', 'SUM', 'AVG', 'MIN', 'MAX'] as const;

export interface GroupOrderInput {
  readonly by?: (typeof groupValues)[number] | null | undefined;
  readonly path?: string | null | undefined;
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

export interface GroupsArguments {
  readonly by: readonly string[];
  readonly orderBy?: readonly GroupOrderInput[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export interface GroupSource {
  readonly keys: readonly unknown[];
  readonly cursor: string;
  readonly aggregate: AggregateSource;
}

/** Page size when the caller gives none. */
export const defaultGroups = 100;

/** With more paths, nearly every object would be a group of its own. */
const mostPaths = 8;

/**
 * One page of groups; OverBudget when the statement is over budget.
 * @throws PortolanError BAD_USER_INPUT, QUERY_TOO_COSTLY
 */
export async function readGroups(
  aggregated: Aggregated,
  args: GroupsArguments,
  info: GraphQLResolveInfo,
): Promise<readonly GroupSource[] | OverBudget> {
  if (args.by.length === 0 || args.by.length > mostPaths) {
    throw new PortolanError('BAD_USER_INPUT', `\`by\` takes 1 to ${mostPaths} paths; these are ${args.by.length}.`);
  }
  const by = args.by.map((path) => leafAt(aggregated, 'groups', path));
  const first = pageSize('groups', args.first ?? null, defaultGroups, aggregated.operation.source.limits.maxPageSize);
  const type = info.schema.getType('GroupAggregate') as GraphQLObjectType;
  const terms = (args.orderBy ?? [{}]).map((term) => termOf(aggregated, term, by));
  const measured = mergeMeasured([
    ...selectedMeasures(aggregated, type, info, ['aggregate']),
    ...terms.flatMap(({ measured }) => measured ?? []),
  ]);
  const groups = await aggregated.groups({ by, measured });
  if (groups instanceof OverBudget) return groups;
  const orderBy = terms.map(({ term, measured: wanted }) =>
    wanted === null ? term : { ...term, at: measured.findIndex(({ path }) => path.text === wanted.path.text) },
  );
  const { kinds, filter, of } = aggregated;
  const plan = { kinds, filter, of, by, measured, orderBy, first, after: args.after ?? null };
  return pageOfGroups(plan, groups).map((group) => ({
    keys: group.keys.map((key, index) => valueOfKey(by[index]?.type ?? 'JSON', key)),
    cursor: group.cursor,
    aggregate: new AggregateSource(aggregated, measured, group),
  }));
}

/**
 * The size of a page of groups or facet values.
 * @throws PortolanError BAD_USER_INPUT for a size below 0 or above `maximum`.
 */
export function pageSize(what: string, requested: number | null, defaultSize: number, maximum: number): number {
  const size = requested ?? Math.min(defaultSize, maximum);
  if (size >= 0 && size <= maximum) return size;
  throw new PortolanError('BAD_USER_INPUT', `\`first\` of ${what} is ${size}; it must be from 0 to ${maximum}.`);
}

interface Term {
  readonly term: GroupTerm;
  /** The measure that orders the groups; `at` is its index among the measures. Null where `at` is an index into `by`. */
  readonly measured: Measured | null;
}

function termOf(aggregated: Aggregated, { by, path, direction }: GroupOrderInput, keys: readonly Leaf[]): Term {
  const value = by ?? 'COUNT';
  const sortDirection = direction ?? 'DESC';
  const pathText = path ?? null;
  switch (value) {
    case 'COUNT':
      if (pathText !== null) throw refuse('COUNT counts objects and takes no `path`');
      return { term: { by: value, direction: sortDirection }, measured: null };
    case 'KEY': {
      const leaf = pathText === null ? (keys.length === 1 ? keys[0] : undefined) : leafAt(aggregated, 'KEY', pathText);
      const at = keys.findIndex((key) => key.path.text === leaf?.path.text);
      if (at < 0)
        throw refuse(`KEY needs the \`path\` of one of \`by\`: ${keys.map((key) => key.path.text).join(', ')}`);
      return { term: { by: value, at, direction: sortDirection }, measured: null };
    }
    default: {
      if (pathText === null) throw refuse(`${value} needs a \`path\``);
      const measured = measuredAt(aggregated, value.toLowerCase() as Measure, pathText);
      return { term: { by: value, at: 0, direction: sortDirection }, measured };
    }
  }
}

function refuse(why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `In the order of groups, ${why}.`);
}
