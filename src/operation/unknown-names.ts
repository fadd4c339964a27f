/** Warns of filters without a match that are probably misspelt: an empty answer does not show it. */
import { partIn } from '../access/scope.ts';
import { conditionsOnLetterCase, withoutLetterCase } from '../query/plan/comparison.ts';
import { type Filter, namesIn } from '../query/plan/filter.ts';
import type { ListPlan } from '../query/plan/plan.ts';
import { ScanBudget } from '../query/plan/scan-budget.ts';
import { knownNamespaces } from '../query/read/known-namespaces.ts';
import { notReached } from './list-readiness.ts';
import type { CellRead, Operation } from './operation.ts';
import type { ResponsePath } from './parts/operation-trace.ts';

/** Objects whose bodies may be read for a warning. */
const mostBodies = 1000;

/**
 * Names the clusters and namespaces that do not exist. Reads nothing for a filter that names no namespace. For a caller who does not see
 * all Namespaces, it names no namespace: a hidden one may exist.
 */
export async function warnOfUnknownNames(operation: Operation, filter: Filter, path: ResponsePath): Promise<void> {
  const { clusters, namespaces } = namesIn(filter);
  const { clusters: served } = operation.generation;
  for (const name of clusters.filter((each) => !served.has(each))) {
    operation.warn(
      path,
      operation.source.isConfigured(name)
        ? notReached(name)
        : `There is no cluster ${JSON.stringify(name)}; there are ${[...served].join(', ')}.`,
    );
  }
  if (namespaces.length === 0) return;
  // What cannot be read warns of nothing.
  const looked = operation.readCells(async (cells) => {
    const isHidden = (cluster: string): boolean =>
      partIn(operation.viewIn(cells, cluster).scopeOf('namespaces', 'list'), cluster) !== 'all';
    return [...served].some(isHidden) ? null : knownNamespaces(cells, namespaces);
  }, path);
  const known = await (operation.cells.length === 1 ? looked : looked.catch(() => null));
  if (known === null) return;
  for (const name of namespaces.filter((each) => each !== '' && !known.has(each))) {
    operation.warn(path, `There is no namespace ${JSON.stringify(name)} in any cluster.`);
  }
}

/**
 * For a list of one kind without a match. Looks at the rows of the view only. The count is kept until the kind changes, so the same
 * question costs nothing the next time.
 */
export async function warnOfLetterCase(
  operation: Operation,
  { kinds, filter }: Pick<ListPlan, 'kinds' | 'filter'>,
  path: ResponsePath,
  cells: readonly CellRead[],
): Promise<void> {
  const folded = withoutLetterCase(filter);
  if (folded === null || kinds.length !== 1) return;
  const plan = { kinds, filter: folded };
  const isOne = async ({ operation: { source }, lease, view }: CellRead): Promise<boolean> =>
    (await source.counts.count(lease, view, plan, 1, new ScanBudget(mostBodies))) === 1;
  if (!(await Promise.all(cells.map(isOne))).includes(true)) return;
  const texts = conditionsOnLetterCase(filter).map(
    ({ path: of, values }) => `${of.text} ${values.map((value) => JSON.stringify(value)).join(', ')}`,
  );
  const message = `Letter case counts, and only in another one there is ${texts.join(' and ')}: write it so, or add ignoreCase: true.`;
  operation.warn(path, message);
}
