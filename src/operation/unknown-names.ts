/** Warns of clusters and namespaces of a filter that do not exist. An empty answer does not show that they were misspelt. */
import { type Filter, namesIn } from '../query/plan/filter.ts';
import { knownNamespaces } from '../query/read/known-namespaces.ts';
import type { View } from '../query/sql/view.ts';
import type { Lease } from '../store/types/lease.ts';
import type { Operation } from './operation.ts';
import type { ResponsePath } from './operation-trace.ts';

/** For a list without a match. Reads nothing for a filter that names no namespace. */
export async function warnOfUnknownNames(
  operation: Operation,
  filter: Filter,
  path: ResponsePath,
  lease: Lease,
  view: View,
): Promise<void> {
  const { clusters, namespaces } = namesIn(filter);
  const { clusters: served } = operation.generation;
  for (const name of clusters.filter((each) => !served.has(each))) {
    operation.warn(path, `There is no cluster ${JSON.stringify(name)}; there are ${[...served].join(', ')}.`);
  }
  if (namespaces.length === 0) return;
  const known = await knownNamespaces(lease, view, namespaces);
  if (known === null) return;
  for (const name of namespaces.filter((each) => each !== '' && !known.has(each))) {
    operation.warn(path, `There is no namespace ${JSON.stringify(name)} in any cluster.`);
  }
}
