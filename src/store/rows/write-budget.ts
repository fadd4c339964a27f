/**
 * How long one write transaction may be: 10 ms of work or 2 MB of text, whichever comes first. Longer ones would make watch events
 * wait and let the WAL grow past what checkpoints can take back.
 */
import type { Clock } from '../../base/clock.ts';

export interface WriteBounds {
  readonly maxMs: number;
  readonly maxBytes: number;
}

export const defaultWriteBounds: WriteBounds = { maxMs: 10, maxBytes: 2 * 1024 * 1024 };

export class WriteBudget {
  readonly #clock: Clock;
  readonly #bounds: WriteBounds;
  #started: number;
  #bytes = 0;

  constructor(clock: Clock, bounds: WriteBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
    this.#started = clock.monotonic();
  }

  /** Begins anew, for the next transaction. */
  renew(): void {
    this.#started = this.#clock.monotonic();
    this.#bytes = 0;
  }

  /** Counts some bytes; true when the transaction should end. */
  spend(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes >= this.#bounds.maxBytes || this.#clock.monotonic() - this.#started >= this.#bounds.maxMs;
  }
}
