/**
 * `Resource.counts`: the numbers of objects by namespace and health, for overviews. One statement reads the counts of all resources of
 * an answer.
 */
import DataLoader from 'dataloader';
import type { Operation } from '../../operation/operation.ts';
import { type CountGroups, type ObjectCount, readObjectCounts } from '../../query/read/object-counts.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';

/** How the objects of a resource are grouped. */
export const countGroups = ['NAMESPACE', 'HEALTH'] as const;
type CountGroup = (typeof countGroups)[number];

type Counted = Pick<ResourceProgress, 'cluster' | 'key'>;

/** The groups of a resource, sorted by namespace and health. @param namespaces null for all. */
export function countsOf(
  operation: Operation,
  { cluster, key }: Counted,
  groups: readonly CountGroup[],
  namespaces: readonly string[] | null,
): Promise<ObjectCount[]> {
  const by = { namespace: groups.includes('NAMESPACE'), health: groups.includes('HEALTH') };
  const loader = operation.loader(
    `object counts ${JSON.stringify([by, namespaces])}`,
    () =>
      new DataLoader((wanted: readonly Counted[]) => readCounts(operation, wanted, by, namespaces), {
        cacheKeyFn: (resource) => `${resource.cluster} ${resource.key}`,
      }),
  );
  return loader.load({ cluster, key });
}

async function readCounts(
  operation: Operation,
  wanted: readonly Counted[],
  by: CountGroups,
  namespaces: readonly string[] | null,
): Promise<readonly ObjectCount[][]> {
  const keys = [...new Set(wanted.map(({ key }) => key))];
  const counts = await operation.read((lease, view) => readObjectCounts(lease, view, keys, by, namespaces));
  const found = Map.groupBy(counts, ({ cluster, key }) => `${cluster} ${key}`);
  return wanted.map(({ cluster, key }) => found.get(`${cluster} ${key}`) ?? []);
}
