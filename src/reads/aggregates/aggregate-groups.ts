/**
 * `groups(by:, orderBy:, first:, after:)`. Its arguments and the selected measures become one aggregate request. This file orders and
 * pages the groups of its result.
 *
 *   groups(by: ["spec.nodeName"], orderBy: [{ by: SUM, path: "spec.size" }], first: 2) { keys aggregate { count } }
 *     request  by: [spec.nodeName], measured: [spec.size (sum)]      the measures of orderBy and of the selection, merged
 *     page     the 2 groups with the greatest sum, each with its cursor
 */
import { PortolanError } from '../../base/errors.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import { identityIn } from '../../catalog/tree/path.ts';
import { decimalKey } from '../../catalog/values/decimal.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import { type OrderKey, orderKey } from '../../catalog/values/values.ts';
import type { ResponsePath } from '../../operation/parts/operation-trace.ts';
import type { Leaf, Measured } from '../../query/plan/aggregate.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import { textOfLeaf } from '../../query/plan/hop.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { type GroupCondition, type GroupTerm, type GroupValue, pageOfGroups } from '../../query/read/group-page.ts';
import { castsOf, leafAt, type Measure, measuredAt, mergeMeasured } from './aggregate-paths.ts';
import { AggregateSource } from './aggregate-source.ts';
import type { Aggregated } from './aggregated.ts';

export const groupValues = ['COUNT', 'KEY', 'SUM', 'AVG', 'MIN', 'MAX'] as const;

interface GroupOrderInput {
  readonly by?: (typeof groupValues)[number] | null | undefined;
  readonly path?: string | null | undefined;
  readonly as?: ValueCast | null | undefined;
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

export const groupMeasures = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX'] as const;
const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const;

type GroupConditionInput = {
  readonly value?: (typeof groupMeasures)[number] | null | undefined;
  readonly path?: string | null | undefined;
  readonly as?: ValueCast | null | undefined;
} & { readonly [O in (typeof operators)[number]]?: unknown };

interface GroupsArguments {
  readonly by: readonly string[];
  readonly as?: readonly (ValueCast | null | undefined)[] | null | undefined;
  readonly having?: readonly GroupConditionInput[] | null | undefined;
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
 * @param selected the measures of each group; `path` is the response path, for warnings
 * @throws PortolanError BAD_USER_INPUT, QUERY_TOO_COSTLY
 */
export async function readGroups(
  aggregated: Aggregated,
  args: GroupsArguments,
  { selected, path }: { readonly selected: readonly Measured[]; readonly path: ResponsePath },
): Promise<readonly GroupSource[] | OverBudget> {
  if (args.by.length === 0 || args.by.length > mostPaths) {
    throw new PortolanError('BAD_USER_INPUT', `\`by\` takes 1 to ${mostPaths} paths; these are ${args.by.length}.`);
  }
  const casts = castsOf('groups', args.by, args.as);
  const by = args.by.map((written, index) => leafAt(aggregated, 'groups', written, casts[index]));
  warnOfMergedClusters(aggregated, by, path);
  const first = pageSize('groups', args.first ?? null, defaultGroups, aggregated.operation.source.limits.maxPageSize);
  const terms = (args.orderBy ?? [{}]).map((term) => termOf(aggregated, term, by));
  const conditions = (args.having ?? []).flatMap((condition) => conditionsOf(aggregated, condition));
  const measured = mergeMeasured([...selected, ...[...terms, ...conditions].flatMap(({ measured }) => measured ?? [])]);
  const groups = await aggregated.groups({ by, measured });
  if (groups instanceof OverBudget) return groups;
  const indexOf = (wanted: Measured): number => measured.findIndex((each) => textOfLeaf(each) === textOfLeaf(wanted));
  const orderBy = terms.map(({ term, measured: wanted }) =>
    wanted === null ? term : { ...term, at: indexOf(wanted) },
  );
  const having = conditions.map(({ condition, measured: wanted }) =>
    wanted === null ? condition : { ...condition, value: { ...condition.value, at: indexOf(wanted) } },
  );
  const { kinds, filter, of } = aggregated;
  const plan = { kinds, filter, of, by, measured, orderBy, having, first, after: args.after ?? null };
  return pageOfGroups(plan, groups).map((group) => ({
    keys: group.keys.map((key, index) => valueOfKey(by[index]?.type ?? 'JSON', key)),
    cursor: group.cursor,
    aggregate: new AggregateSource(aggregated, measured, group),
  }));
}

/** Fields whose values name objects, which other clusters may have too. */
const namingField = /^(name|namespace|.*Name)$/;

/** Groups by names of several clusters merge objects of the same name: node-1 of two clusters becomes one group. */
function warnOfMergedClusters({ operation, kinds, filter }: Aggregated, by: readonly Leaf[], path: ResponsePath): void {
  if (by.some((leaf) => identityIn(leaf.path) !== null)) return;
  const naming = by.find(({ path: { steps } }) => {
    const last = steps.at(-1);
    return last?.kind === 'field' && namingField.test(last.name);
  });
  if (naming === undefined) return;
  const named = clustersIn(filter);
  const clusters = new Set(
    kinds.flatMap((kind) => kind.clusters).filter((name) => named === null || named.includes(name)),
  );
  if (clusters.size < 2) return;
  operation.warn(
    path,
    `Groups by ${textOfLeaf(naming)} merge objects of ${clusters.size} clusters; add "cluster" to \`by\`, or filter by \`clusters\`.`,
  );
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

function termOf(aggregated: Aggregated, { by, path, as, direction }: GroupOrderInput, keys: readonly Leaf[]): Term {
  const value = by ?? 'COUNT';
  const sortDirection = direction ?? 'DESC';
  const pathText = path ?? null;
  const cast = as ?? null;
  if (cast !== null && value === 'COUNT') throw refuse('COUNT takes no `as`');
  switch (value) {
    case 'COUNT':
      if (pathText !== null) throw refuse('COUNT counts objects and takes no `path`');
      return { term: { by: value, direction: sortDirection }, measured: null };
    case 'KEY': {
      if (cast !== null && pathText === null) throw refuse('KEY needs a `path` beside `as`');
      const leaf =
        pathText === null
          ? keys.length === 1
            ? keys[0]
            : undefined
          : leafAt(aggregated, 'KEY', pathText, cast ?? undefined);
      const at = leaf === undefined ? -1 : keys.findIndex((key) => textOfLeaf(key) === textOfLeaf(leaf));
      if (at < 0) throw refuse(`KEY needs the \`path\` of one of \`by\`: ${keys.map(textOfLeaf).join(', ')}`);
      return { term: { by: value, at, direction: sortDirection }, measured: null };
    }
    default: {
      if (pathText === null) throw refuse(`${value} needs a \`path\``);
      const measured = measuredAt(aggregated, value.toLowerCase() as Measure, { path: pathText, as: cast });
      return { term: { by: value, at: 0, direction: sortDirection }, measured };
    }
  }
}

interface Condition {
  readonly condition: GroupCondition;
  /** The measure that the condition compares; null for COUNT. */
  readonly measured: Measured | null;
}

/** One condition for each operator. */
function conditionsOf(aggregated: Aggregated, input: GroupConditionInput): readonly Condition[] {
  const by = input.value ?? 'COUNT';
  const pathText = input.path ?? null;
  if (by === 'COUNT' && pathText !== null) throw refuseHaving('COUNT counts objects and takes no `path`');
  if (by !== 'COUNT' && pathText === null) throw refuseHaving(`${by} needs a \`path\``);
  const as = input.as ?? null;
  if (by === 'COUNT' && as !== null) throw refuseHaving('COUNT takes no `as`');
  const measured =
    pathText === null ? null : measuredAt(aggregated, by.toLowerCase() as Measure, { path: pathText, as });
  const given = operators.filter((operator) => input[operator] !== undefined);
  if (given.length === 0) throw refuseHaving(`${by} needs one of ${operators.join(', ')}`);
  return given.map((operator) => {
    const key = comparedKey(by, measured, input[operator]);
    if (key === null) throw refuseHaving(`${JSON.stringify(input[operator])} cannot be compared with ${by}`);
    const value: GroupValue = by === 'COUNT' ? { by } : { by, at: 0 };
    return {
      condition: { value, operator: operator === 'ne' ? 'eq' : operator, key, negated: operator === 'ne' },
      measured,
    };
  });
}

/** The order key of a compared value, as the groups have it; null for a value that cannot be compared. */
function comparedKey(by: (typeof groupMeasures)[number], measured: Measured | null, value: unknown): OrderKey | null {
  if (measured === null) return orderKey('Int', value);
  if (by === 'MIN' || by === 'MAX') return orderKey(measured.type, value);
  // Sums of durations are in seconds. A duration may be given as text too.
  const duration = measured.type === 'Duration' ? orderKey('Duration', value) : null;
  if (typeof duration === 'bigint') return decimalKey({ coefficient: duration, exponent: -9 });
  return orderKey('Quantity', value);
}

function refuseHaving(why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `In \`having\` of groups, ${why}.`);
}

function refuse(why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `In the order of groups, ${why}.`);
}
