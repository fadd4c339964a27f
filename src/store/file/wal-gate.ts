/**
 * Keeps the write-ahead log bounded from the readers' side. The log begins anew only while no reader holds a snapshot of it, so when
 * it is longer than `gateBytes` new leases wait until the running ones have ended and the checkpointer (checkpointer.worker.ts, in
 * the ingest role) has written all of it back. A lease that begins then reads the database file alone, and is in nobody's way.
 *
 * The two sides share nothing but what SQLite tells any connection, so it works across processes. If nobody checkpoints (ingest is
 * down) the log does not grow either, and the gate opens by itself after `patienceMs`.
 */
import type { Clock } from '../../base/clock.ts';

interface WalGateOptions {
  readonly clock: Clock;
  readonly gateBytes: number;
  readonly patienceMs: number;
}

/** How long a look at the log's size is taken for the present. */
const sizeValidMs = 2;

export class WalGate {
  readonly #look: () => number;
  readonly #options: WalGateOptions;
  #size = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #closedSince: number | null = null;

  /** `look` gives the bytes of the log while any of it is not written back. */
  constructor(look: () => number, options: WalGateOptions) {
    this.#look = look;
    this.#options = options;
  }

  /** Bytes of the write-ahead log; 0 once all of it is written back. */
  size(): number {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookedAt >= sizeValidMs) {
      this.#lookedAt = now;
      this.#size = this.#look();
    }
    return this.#size;
  }

  /** May a lease begin? `active` is the number of leases that hold a snapshot. */
  isOpen(active: number): boolean {
    if (this.size() <= this.#options.gateBytes) {
      this.#closedSince = null;
      return true;
    }
    const now = this.#options.clock.monotonic();
    // Patience counts from when the last reader has let go: only then could anybody have emptied the log.
    if (this.#closedSince === null || active > 0) this.#closedSince = now;
    return now - this.#closedSince > this.#options.patienceMs;
  }
}
