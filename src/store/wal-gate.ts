/**
 * Keeps the write-ahead log bounded from the readers' side. A checkpoint can take the log back to nothing only while no reader
 * holds a snapshot, so when the log is larger than `gateBytes` new leases wait until the running ones have ended and the
 * checkpointer (checkpointer.worker.ts, in the ingest role) has truncated it.
 *
 * The two sides share nothing but the size of the file, so it works across processes. If nobody checkpoints (ingest is down) the
 * log does not grow either, and the gate opens by itself after `patienceMs`.
 */
import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';

export interface WalGateOptions {
  readonly clock: Clock;
  readonly gateBytes: number;
  readonly patienceMs: number;
}

/** How long a look at the file's size is taken for the present. */
const freshMs = 2;

export class WalGate {
  readonly #file: string;
  readonly #options: WalGateOptions;
  #size = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #closedSince: number | null = null;

  constructor(file: string, options: WalGateOptions) {
    this.#file = `${file}-wal`;
    this.#options = options;
  }

  /** Size of the write-ahead log in bytes. */
  size(): number {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookedAt >= freshMs) {
      this.#lookedAt = now;
      this.#size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
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
    // Patience counts from when the last reader has let go: only then could anybody have truncated the log.
    if (this.#closedSince === null || active > 0) this.#closedSince = now;
    return now - this.#closedSince > this.#options.patienceMs;
  }
}
