/** Facts of a list besides its objects: the scope of the caller, and the cursor at which a subscription continues behind it. */
import { allRows, type ClusterScope, noRows, partIn } from '../../access/scope.ts';
import { memberOfPart } from '../../catalog/abstract/abstract-kind.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import { cursorMarks, encodeLiveCursor, joinCellCursors, writeLiveCursor } from '../../live/log/live-cursor.ts';
import type { CellRead, Operation } from '../../operation/operation.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';

/** The visible part of a kind in a cluster. */
export interface ConnectionScope {
  /** resourceKey */
  readonly key: string;
  readonly cluster: string;
  readonly all: boolean;
  /** Sorted. */
  readonly namespaces: readonly string[];
  readonly names: number;
}

/**
 * One entry for each kind and cluster of a list; of an abstract kind, for each member in a cluster.
 * @param viewOf the view of the cell that has a cluster
 * @param kinds with the clusters that serve them
 */
export function listScope(
  viewOf: (cluster: string) => View,
  kinds: readonly { readonly key: string; readonly clusters: readonly string[] }[],
): readonly ConnectionScope[] {
  return kinds.flatMap(({ key, clusters }) => {
    const visible = clusters.map((cluster) => ({
      cluster,
      part: partIn(viewOf(cluster).scopeOf(key, 'list'), cluster),
    }));
    if (!isAbstractKey(key)) return visible.map(({ cluster, part }) => ({ key, cluster, ...factsOf(part) }));
    // Of the two parts of a member, a caller sees one at most.
    const members = Map.groupBy(visible, ({ cluster }) => memberOfPart(cluster));
    return [...members].map(([cluster, parts]) => {
      const seen = parts.find(({ part }) => part !== null);
      return { key, cluster, ...factsOf(seen?.part ?? null) };
    });
  });
}

function factsOf(part: ClusterScope | null): Omit<ConnectionScope, 'key' | 'cluster'> {
  if (part === null || part === 'all') return { all: part === 'all', namespaces: [], names: 0 };
  const names = [...part.names.values()].reduce((sum, some) => sum + some.size, 0);
  return { all: false, namespaces: [...part.namespaces].sort(), names };
}

/** As `changesCursorOf`, of all cells. @param kinds with the clusters that serve them */
export function changesCursorIn(
  operation: Operation,
  cells: readonly CellRead[],
  kinds: readonly { readonly key: string; readonly clusters: readonly string[] }[],
): string {
  // In a cell that is not read, the client holds nothing.
  const cursors = operation.cells.map((cell) => {
    const read = cells.find((each) => each.operation === cell);
    const served = kinds.filter(({ clusters }) => clusters.some((cluster) => operation.at(cluster) === cell));
    const shown = operation.cells.length === 1 ? kinds : served;
    return read === undefined || shown.length === 0 ? '' : changesCursorOf(read.lease, read.view, keysOf(shown));
  });
  return joinCellCursors(cursors);
}

function keysOf(kinds: readonly { readonly key: string }[]): readonly string[] {
  return kinds.map(({ key }) => key);
}

/**
 * For a subscription over the kinds of the list. A subscription of one of several kinds continues too if the caller sees all objects of
 * the list's kinds; otherwise it begins with a snapshot.
 * @param keys resourceKeys of the list's kinds; null for any.
 */
export function changesCursorOf(lease: Lease, view: View, keys: readonly string[] | null): string {
  const place = { epoch: lease.epoch, sequence: lease.revision };
  if (keys === null) return encodeLiveCursor(place, view.scopeGroups() === null ? allRows : noRows);
  const visible = new Map(keys.map((key) => [key, view.get(key)?.visible ?? noRows]));
  return writeLiveCursor({ ...place, ...cursorMarks(visible) });
}
