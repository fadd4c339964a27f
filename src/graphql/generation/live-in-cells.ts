/** A live list in the cells of a gateway: with one cell, the list itself. */
import { mergedList } from '../../live/cells/merged-list.ts';
import type { Messages } from '../../live/feed/running-list.ts';
import type { CellStart, LiveStart } from '../../live/list/live-request.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Lease } from '../../store/types/lease.ts';

interface LiveInCells {
  readonly start: LiveStart;
  readonly signal: AbortSignal;
  check(successor: LiveStart): void;
  /** The clusters that the filter names; null for all. */
  readonly clusters: readonly string[] | null;
  readonly kinds: readonly { readonly clusters: readonly string[] }[];
}

/** The list in one cell. */
interface ListOfCell {
  /** @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED if the list cannot begin */
  requireReady(lease: Lease): Promise<void>;
  list(own: {
    readonly start: CellStart;
    readonly signal: AbortSignal;
    check(successor: CellStart): void;
  }): Messages<void>;
}

/** @param listOf the list in this part of the operation */
export function liveInCells(
  operation: Operation,
  { start, signal, check, clusters, kinds }: LiveInCells,
  listOf: (cell: Operation) => ListOfCell,
): Messages<void> {
  const { source } = operation;
  if (source.cells === undefined) {
    if (start.at === 'cells') throw new Error('invariant broken: a start in several cells needs several cells');
    return listOf(operation).list({ start, signal, check });
  }
  const serves = (cell: Operation): boolean =>
    kinds.some((kind) => kind.clusters.some((cluster) => operation.at(cluster) === cell));
  const asked = new Set(operation.cellsOf(clusters));
  const wanted = new Set([...asked].filter(serves));
  // Nothing matches: one of the cells says so.
  if (wanted.size === 0) for (const cell of operation.cells.filter(serves).slice(0, 1)) wanted.add(cell);
  const cells = operation.cells.map((cell) => {
    if (!wanted.has(cell)) return asked.has(cell) ? 'gone' : null;
    const of = listOf(cell);
    return {
      run: (own: CellStart, checkOwn: (successor: CellStart) => void, ends: AbortSignal) =>
        of.list({ start: own, signal: ends, check: checkOwn }),
      requireReady: () => cell.source.feed.lease((lease) => of.requireReady(lease), signal),
    };
  });
  return mergedList({ cells, start, signal, check, commits: source.commits });
}
