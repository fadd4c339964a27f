/** The ingest state of resources as a caller may see it: `resources` and `clusters` read it here. */
import { partIn, type Scope } from '../../access/scope.ts';
import type { Operation } from '../../operation/operation.ts';
import { readObjectCounts } from '../../query/read/object-counts.ts';
import type { View } from '../../query/sql/view.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Lease } from '../../store/types/lease.ts';
import { idleStatus, type ResourceProgress } from '../../store/types/progress.ts';

/**
 * Leaves out resources of which the caller sees no object. If the caller sees some objects of a resource, only these are counted. The
 * fields of its state that depend on other objects are empty then.
 */
export async function visibleProgress(
  { source }: Pick<Operation, 'source'>,
  lease: Lease,
  view: View,
): Promise<readonly ResourceProgress[]> {
  const states = source.staleness
    .shownIn(await readResourceProgress(lease))
    .map((state) => ({ state, share: shareOf(view, state) }));
  const partial = states.flatMap(({ state, share }) => (share === 'some' ? state.key : []));
  const counts = new Map<string, number>();
  if (partial.length > 0) {
    const by = { namespace: false, health: false };
    for (const { cluster, key, objects } of await readObjectCounts(lease, view, [...new Set(partial)], by, null)) {
      counts.set(`${cluster} ${key}`, objects);
    }
  }
  return states.flatMap(({ state, share }) => {
    if (share === 'none') return [];
    return share === 'all' ? state : shareOnly(state, counts.get(`${state.cluster} ${state.key}`) ?? 0);
  });
}

function shareOf(view: View, { key, cluster }: ResourceProgress): Scope['rows'] {
  const part = partIn(view.scopeOf(key, 'list'), cluster);
  return part === null ? 'none' : part === 'all' ? 'all' : 'some';
}

function shareOnly({ status, ...state }: ResourceProgress, objects: number): ResourceProgress {
  const { phase, staleSince } = status;
  const shown = { ...idleStatus, phase, staleSince };
  return { ...state, lastResourceVersion: null, objects, status: shown, collections: [] };
}
