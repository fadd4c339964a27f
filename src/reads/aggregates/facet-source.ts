/**
 * `facets(paths:, first:, contains:)`: the most frequent values of each path, or the keys of a map, for filter menus. Each path is read when
 * resolved.
 */
import { PortolanError } from '../../base/errors.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import { textOfLeaf } from '../../query/plan/hop.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import type { FacetResult } from '../../query/read/facet.ts';
import { pageSize } from './aggregate-groups.ts';
import { castsOf, leafOrKeysAt } from './aggregate-paths.ts';
import type { Aggregated } from './aggregated.ts';

interface FacetsArguments {
  readonly paths: readonly string[];
  readonly as?: readonly (ValueCast | null | undefined)[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly contains?: string | null | undefined;
}

export interface FacetSource {
  readonly path: string;
  read(): Promise<FacetResult | OverBudget>;
  shown(key: FacetResult['values'][number]['key']): unknown;
}

/** Values of a facet when the caller gives no number. */
export const defaultFacetValues = 20;

/** Each path needs its own statement. Filter menus need fewer paths. */
const mostPaths = 20;

/** One lazy facet for each path. @throws PortolanError BAD_USER_INPUT */
export function facetsOf(
  aggregated: Aggregated,
  { paths, as, first, contains }: FacetsArguments,
): readonly FacetSource[] {
  if (paths.length > mostPaths) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `\`facets\` takes at most ${mostPaths} paths; these are ${paths.length}.`,
    );
  }
  const size = pageSize('facets', first ?? null, defaultFacetValues, aggregated.operation.source.limits.maxPageSize);
  const casts = castsOf('facets', paths, as);
  return paths.map((written, index) => {
    const leaf = leafOrKeysAt(aggregated, 'facets', written, casts[index]);
    const { cast: _, ...plain } = leaf;
    let reading: Promise<FacetResult | OverBudget> | null = null;
    return {
      path: textOfLeaf(plain),
      read() {
        reading ??= aggregated.facet(leaf, size, contains ?? null);
        return reading;
      },
      shown: (key) => valueOfKey(leaf.type, key),
    };
  });
}
