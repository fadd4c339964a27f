/**
 * Bounds one write transaction to 10 ms of work and 2 MiB of text. Longer transactions would delay watch events, and the WAL would grow
 * faster than checkpoints can write it back.
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

  /** Resets the budget for the next transaction. */
  renew(): void {
    this.#started = this.#clock.monotonic();
    this.#bytes = 0;
  }

  /** Adds bytes; true when the transaction should end. */
  spend(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes >= this.#bounds.maxBytes || this.#clock.monotonic() - this.#started >= this.#bounds.maxMs;
  }
}
