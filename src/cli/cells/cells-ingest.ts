/**
 * The ingest of several cells as one: a thread and a store for each cell, which has whole clusters.
 *
 *   a commit of a cell -> its listeners, with the index of the cell
 *   progress of a cell -> the progress of all of them: sums, all clusters, the worst fault
 */
import type { Clock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type IngestProgress, sumProgress } from '../../ingest/context/progress.ts';
import { isMistake, mistakeMessage, unmatchedEverywhere } from '../../ingest/context/unmatched-kinds.ts';
import type { IngestHandle } from '../../ingest/thread/start-ingest.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { DiskUse } from '../../store/types/writer.ts';

/** Milliseconds in which a mistake in --kinds ends the gateway. */
const startMs = 60_000;

interface CellsIngest extends Omit<IngestHandle, 'onWake' | 'reportDamage'> {
  /** Calls the listener after commits in a cell. Returns a function that removes the listener. */
  onWake(listener: (committed: CommittedChanges, cell: number) => void): () => void;
}

interface CellsOptions {
  /** The index of the cell that has a cluster. */
  readonly cellOf: (cluster: string) => number;
  /** The cells that have clusters at the start. Nothing comes from the others before a cluster is registered. */
  readonly occupied: ReadonlySet<number>;
  readonly clock: Clock;
  readonly log: Logger;
}

export function cellsIngest(
  cells: readonly IngestHandle[],
  { cellOf, occupied, clock, log }: CellsOptions,
): CellsIngest {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  for (const cell of cells) cell.failed.catch((error: unknown) => failed.reject(error));
  const each = (add: (cell: IngestHandle, index: number) => () => void): (() => void) => {
    const remove = cells.map(add);
    return () => {
      for (const end of remove) end();
    };
  };
  let wasReady = false;
  const progress = (): IngestProgress => {
    const sum = summed(cells.map((cell) => cell.progress()));
    // As for one store: a cluster that comes later has its first sync beside the others.
    wasReady ||= sum.ready;
    return { ...sum, ready: wasReady && sum.hasStore };
  };
  const synced = Promise.withResolvers<void>();
  const startedAt = clock.monotonic();
  let isChecked = false;
  const look = (): void => {
    const sum = progress();
    if (sum.ready) synced.resolve();
    // Each cell knows the kinds of its own clusters alone.
    const unmatched = unmatchedEverywhere(sum.clusters);
    if (isChecked || unmatched === null || !unmatched.certain) return;
    isChecked = true;
    const mistakes = unmatched.names.filter(isMistake);
    if (mistakes.length > 0 && clock.monotonic() - startedAt < startMs) {
      failed.reject(new PortolanError('CONFIGURATION', mistakeMessage(mistakes)));
    } else if (unmatched.names.length > 0) {
      log.warn({ kinds: unmatched.names.map(({ name }) => name) }, 'no cluster serves these kinds yet');
    }
  };
  each((cell) => cell.onProgress(look));
  look();
  return {
    onWake: (listener) => each((cell, index) => cell.onWake((committed) => listener(committed, index))),
    onProgress: (listener) => each((cell) => cell.onProgress(() => listener(progress()))),
    onCatalog: (listener) => each((cell) => cell.onCatalog(listener)),
    progress,
    catalogKnown: Promise.all(cells.map((cell, index) => (occupied.has(index) ? cell.catalogKnown : null))).then(
      () => {},
    ),
    synced: synced.promise,
    failed: failed.promise,
    exited: Promise.all(cells.map((cell) => cell.exited)).then(() => {}),
    async close() {
      await Promise.all(cells.map((cell) => cell.close()));
    },
    promote(use) {
      for (const cell of cells) cell.promote(use);
    },
    declareAbstractKinds(document) {
      for (const cell of cells) cell.declareAbstractKinds(document);
    },
    async register(clusters, started) {
      await Promise.all(
        cells.map((cell, index) =>
          cell.register(clusters?.filter(({ name }) => cellOf(name) === index) ?? null, started),
        ),
      );
    },
  };
}

/** Of all cells. */
function summed(cells: readonly IngestProgress[]): IngestProgress {
  const sum = sumProgress(cells.flatMap(({ clusters }) => clusters));
  const disks = cells.flatMap(({ disk }) => disk ?? []);
  const fault = cells.find((cell) => cell.fault !== null)?.fault ?? null;
  // A store that is lost harms its cell alone; `fault` tells of it.
  const hasStore = cells.some((cell) => cell.hasStore);
  return {
    ...sum,
    // A cell without clusters is never ready by itself.
    ready: sum.ready && cells.every(({ ready, clusters }) => ready || clusters.length === 0),
    catalogKnown: cells.every(({ catalogKnown, clusters }) => catalogKnown || clusters.length === 0),
    fault,
    rebuilds: cells.reduce((total, { rebuilds }) => total + rebuilds, 0),
    hasStore,
    disk: disks.length === 0 ? null : disks.reduce(addedDisk),
  };
}

function addedDisk(a: DiskUse, b: DiskUse): DiskUse {
  return {
    usedBytes: a.usedBytes + b.usedBytes,
    maxBytes: a.maxBytes === null || b.maxBytes === null ? null : a.maxBytes + b.maxBytes,
    tight: a.tight || b.tight,
    shed: { changes: a.shed.changes + b.shed.changes, events: a.shed.events + b.shed.events },
  };
}
