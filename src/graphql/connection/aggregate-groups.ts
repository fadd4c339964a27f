/** `groups(by:, orderBy:, first:, after:)`: arguments and selection become one plan, its groups a page. */
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

/** Groups on a page when the caller does not say. */
export const defaultGroups = 100;

/** More paths than this make groups of one object each. */
const mostPaths = 8;

/** @throws PortolanError BAD_USER_INPUT, QUERY_TOO_COSTLY */
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

/** The size of a page of something besides objects. */
export function pageSize(what: string, asked: number | null, usual: number, maximum: number): number {
  const size = asked ?? Math.min(usual, maximum);
  if (size >= 0 && size <= maximum) return size;
  throw new PortolanError('BAD_USER_INPUT', `\`first\` of ${what} is ${size}; it must be from 0 to ${maximum}.`);
}

interface Term {
  readonly term: GroupTerm;
  /** What `at` counts in, where that is not `by`. */
  readonly measured: Measured | null;
}

function termOf(aggregated: Aggregated, { by, path, direction }: GroupOrderInput, keys: readonly Leaf[]): Term {
  const value = by ?? 'COUNT';
  const sense = direction ?? 'DESC';
  const written = path ?? null;
  switch (value) {
    case 'COUNT':
      if (written !== null) throw refuse('COUNT counts objects and takes no `path`');
      return { term: { by: value, direction: sense }, measured: null };
    case 'KEY': {
      const leaf = written === null ? (keys.length === 1 ? keys[0] : undefined) : leafAt(aggregated, 'KEY', written);
      const at = keys.findIndex((key) => key.path.text === leaf?.path.text);
      if (at < 0)
        throw refuse(`KEY needs the \`path\` of one of \`by\`: ${keys.map((key) => key.path.text).join(', ')}`);
      return { term: { by: value, at, direction: sense }, measured: null };
    }
    default: {
      if (written === null) throw refuse(`${value} needs a \`path\``);
      const measured = measuredAt(aggregated, value.toLowerCase() as Measure, written);
      return { term: { by: value, at: 0, direction: sense }, measured };
    }
  }
}

function refuse(why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `In the order of groups, ${why}.`);
}
