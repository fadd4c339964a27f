/**
 * Keeps the write-ahead log bounded from the readers' side. The log restarts only while no reader holds a snapshot of it.
 *
 *   the log exceeds `gateBytes` -> new leases wait -> running leases end -> the checkpoint thread (checkpointer.worker.ts) writes all
 *   of it back -> waiting leases begin, read the database file alone, and do not block the restart
 *
 * A lease may hold its snapshot for a second, so leases must wait. A short read on the serve thread holds one for about a millisecond.
 * The checkpoint thread tries the restart several times in a row, and succeeds between two short reads. So short reads go on until the log
 * is longer than `shortReadGates` gates. Writing the log back includes a sync of the disk. Without this rule, all short reads would wait
 * for it each time.
 *
 * The two sides share only the log's size, which any connection can read. The gate therefore works across processes. While no
 * checkpoint thread runs (ingest is down) the log does not grow either, and the gate opens by itself after `patienceMs`.
 */
import type { Clock } from '../../base/clock.ts';

interface WalGateOptions {
  readonly clock: Clock;
  readonly gateBytes: number;
  readonly patienceMs: number;
}

/** Short reads begin until the log is so many times as long as the gate. */
const shortReadGates = 1.25;
/** Milliseconds for which a measured size of the log is reused. */
const sizeValidMs = 2;
/** The same while the log is shorter than half of the gate: no writer fills the other half in this time. */
const shortSizeValidMs = 20;

export class WalGate {
  readonly #readSize: () => number;
  readonly #options: WalGateOptions;
  #size = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #closedSince: number | null = null;

  /** `readSize` returns the bytes of the log, or 0 once all of it is written back. */
  constructor(readSize: () => number, options: WalGateOptions) {
    this.#readSize = readSize;
    this.#options = options;
  }

  /** Bytes of the write-ahead log; 0 once all of it is written back. */
  size(): number {
    const now = this.#options.clock.monotonic();
    const validMs = this.#size * 2 < this.#options.gateBytes ? shortSizeValidMs : sizeValidMs;
    if (now - this.#readAt >= validMs) {
      this.#readAt = now;
      this.#size = this.#readSize();
    }
    return this.#size;
  }

  /** May a read begin that ends within the same turn of the event loop? `active` is as for `isOpen`. */
  isOpenForShort(active: number): boolean {
    return this.size() <= this.#options.gateBytes * shortReadGates || this.isOpen(active);
  }

  /** May a lease begin? `active` is the number of leases that hold a snapshot. */
  isOpen(active: number): boolean {
    if (this.size() <= this.#options.gateBytes) {
      this.#closedSince = null;
      return true;
    }
    const now = this.#options.clock.monotonic();
    // The wait counts from the end of the last lease, because only then can the log be written back.
    if (this.#closedSince === null || active > 0) this.#closedSince = now;
    return now - this.#closedSince > this.#options.patienceMs;
  }
}
