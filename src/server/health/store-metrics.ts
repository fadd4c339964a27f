/**
 * Metrics of the store, its readers and its disk space, and whether the gateway is ready. Each scrape sets them again from one snapshot.
 *
 * While the store cannot be read, its revision has no series, because an outdated value would mislead.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type LogFacts, readLogFacts } from '../../store/read/changes.ts';
import type { ReaderStats } from '../../store/read/reader.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';
import type { StoreTrouble } from '../../store/types/store-fault.ts';
import type { DiskUse } from '../../store/types/writer.ts';

/** The store's figures at one revision. */
export interface StoreFacts {
  readonly resources: readonly ResourceProgress[];
  readonly revision: number;
  readonly log: LogFacts;
}

/** Reads the figures with two small statements; their cost does not grow with the number of objects. */
export async function readStoreFacts(lease: Lease): Promise<StoreFacts> {
  return {
    resources: await readResourceProgress(lease),
    revision: lease.revision,
    log: await readLogFacts(lease),
  };
}

export class StoreMetrics {
  readonly #up: Gauge;
  readonly #ready: Gauge;
  readonly #revision: Gauge;
  readonly #floor: Gauge;
  readonly #logBytes: Gauge;
  readonly #logReach: Gauge;
  readonly #wal: Gauge;
  readonly #bytes: Gauge;
  readonly #maxBytes: Gauge;
  readonly #tight: Gauge;
  readonly #fault: Gauge<'kind'>;
  readonly #rebuilds: Counter;
  readonly #shed: Counter<'what'>;
  readonly #readers: Gauge;
  readonly #leases: Gauge<'state'>;
  readonly #cut: Counter;
  readonly #readerRestarts: Counter;

  constructor(registry: Registry) {
    const gauge = <T extends string>(name: string, help: string, labelNames: readonly T[] = []): Gauge<T> =>
      new Gauge({ name: `portolan_${name}`, help, labelNames: [...labelNames], registers: [registry] });
    const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []): Counter<T> =>
      new Counter({ name: `portolan_${name}`, help, labelNames: [...labelNames], registers: [registry] });
    this.#ready = gauge('ready', '1 while /readyz answers 200: every resource has synced or is failing.');
    this.#up = gauge(
      'store_up',
      '1 when this scrape could read the store; without it there are no series by resource.',
    );
    this.#revision = gauge('store_revision', 'Sequence number of the newest committed change.');
    this.#floor = gauge(
      'store_log_floor',
      'Sequence number of the newest change that was removed from the change log.',
    );
    this.#logBytes = gauge('store_log_bytes', 'Estimated size of the change log.');
    this.#logReach = gauge(
      'store_log_reach_seconds',
      'How far back the change log is whole for every kind; no series while no entry was removed.',
    );
    this.#wal = gauge('store_wal_bytes', "Size of SQLite's write-ahead log; 0 once all of it is in the database file.");
    this.#bytes = gauge('store_bytes', 'Size of the database file without free pages.');
    this.#maxBytes = gauge('store_max_bytes', 'Maximum size of the database file; no series without --max-disk.');
    this.#tight = gauge('store_tight', '1 while disk space is short and data is removed to free it.');
    this.#fault = gauge('store_fault', '1 while the store has this fault: lost, full, readonly or io.', ['kind']);
    this.#rebuilds = counter('store_rebuilds_total', 'How often a running gateway has made its store anew.');
    this.#shed = counter(
      'store_shed_total',
      'Entries of the change log and Events that were removed to free disk space.',
      ['what'],
    );
    this.#readers = gauge('store_readers', 'Reader threads.');
    this.#leases = gauge('store_leases', 'Read leases: running, and waiting for a reader.', ['state']);
    this.#cut = counter('store_leases_cut_total', 'Leases that were cut because the write-ahead log was too long.');
    this.#readerRestarts = counter('store_reader_restarts_total', 'Reader threads that died and were replaced.');
  }

  setReady(ready: boolean): void {
    this.#ready.set(ready ? 1 : 0);
  }

  setFault(fault: StoreTrouble | null, rebuilds: number): void {
    for (const kind of ['lost', 'full', 'readonly', 'io'] as const)
      this.#fault.set({ kind }, fault?.kind === kind ? 1 : 0);
    this.#rebuilds.reset();
    this.#rebuilds.inc(rebuilds);
  }

  /** Null before the store is open. */
  setDisk(disk: DiskUse | null): void {
    this.#shed.reset();
    for (const each of [this.#bytes, this.#maxBytes, this.#tight]) each.remove();
    if (disk === null) return;
    this.#bytes.set(disk.usedBytes);
    if (disk.maxBytes !== null) this.#maxBytes.set(disk.maxBytes);
    this.#tight.set(disk.tight ? 1 : 0);
    for (const [what, count] of Object.entries(disk.shed)) this.#shed.inc({ what }, count);
  }

  setReaders({ readers, active, waiting, walBytes, cutForWal, restarts }: ReaderStats): void {
    this.#readers.set(readers);
    this.#leases.set({ state: 'running' }, active);
    this.#leases.set({ state: 'waiting' }, waiting);
    this.#wal.set(walBytes);
    this.#cut.reset();
    this.#cut.inc(cutForWal);
    this.#readerRestarts.reset();
    this.#readerRestarts.inc(restarts);
  }

  /** @param facts null when the store could not be read. @param now milliseconds since the epoch */
  setFacts(facts: StoreFacts | null, now: number): void {
    this.#up.set(facts === null ? 0 : 1);
    if (facts === null) {
      for (const each of [this.#revision, this.#floor, this.#logBytes, this.#logReach]) each.remove();
      return;
    }
    this.#revision.set(facts.revision);
    const { floor, bytes, wholeSince } = facts.log;
    this.#floor.set(floor);
    this.#logBytes.set(bytes);
    if (wholeSince === null) this.#logReach.remove();
    else this.#logReach.set(Math.max(0, now - wholeSince) / 1000);
  }
}
