/** `Resource.counts`: the number of objects by namespace and health, for overviews. One statement reads the counts of all resources of an answer. */
import DataLoader from 'dataloader';
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { Operation } from '../../operation/operation.ts';
import { type ObjectCount, readObjectCounts } from '../../query/read/object-counts.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';

/** How the objects of a resource are grouped. */
export const countGroups = ['NAMESPACE', 'HEALTH'] as const;
export type CountGroup = (typeof countGroups)[number];

/** A group of objects. The member of a group that was not asked for is null. */
export interface ResourceCount {
  readonly namespace: string | null;
  readonly health: HealthStatus | null;
  readonly objects: number;
}

type Counted = Pick<ResourceProgress, 'cluster' | 'key'>;

/** The groups of a resource, sorted by namespace and health. @param namespaces null for all. */
export async function countsOf(
  operation: Operation,
  { cluster, key }: Counted,
  by: readonly CountGroup[],
  namespaces: readonly string[] | null,
): Promise<readonly ResourceCount[]> {
  const loader = operation.loader(
    `object counts ${JSON.stringify(namespaces)}`,
    () =>
      new DataLoader((wanted: readonly Counted[]) => readCounts(operation, wanted, namespaces), {
        cacheKeyFn: (resource) => `${resource.cluster} ${resource.key}`,
      }),
  );
  const groups = new Map<string, ResourceCount>();
  for (const count of await loader.load({ cluster, key })) {
    const namespace = by.includes('NAMESPACE') ? count.namespace : null;
    const health = by.includes('HEALTH') ? count.health : null;
    const of = JSON.stringify([namespace, health]);
    groups.set(of, { namespace, health, objects: count.objects + (groups.get(of)?.objects ?? 0) });
  }
  return [...groups.values()];
}

async function readCounts(
  operation: Operation,
  wanted: readonly Counted[],
  namespaces: readonly string[] | null,
): Promise<readonly (readonly ObjectCount[])[]> {
  const keys = [...new Set(wanted.map(({ key }) => key))];
  const counts = await operation.read((lease, view) => readObjectCounts(lease, view, keys, namespaces));
  const found = Map.groupBy(counts, ({ cluster, key }) => `${cluster} ${key}`);
  return wanted.map(({ cluster, key }) => found.get(`${cluster} ${key}`) ?? []);
}
