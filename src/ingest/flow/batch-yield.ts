/**
 * Yields to the event loop between slices of bulk work. Events of other resources then wait for a large list no longer than
 * one write transaction may take.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';

/** The milliseconds of work and the number of objects after which a yield is due. One more slice may exceed them. */
const workMs = 6;
const workObjects = 64;

export class BatchYield {
  readonly #clock: Clock;
  #since: number;
  #objects = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Counts a slice and yields to the event loop if a yield is due. Rejects if the signal is aborted by then. */
  async after(objects: number, signal?: AbortSignal): Promise<void> {
    this.#objects += objects;
    if (this.#objects < workObjects && this.#clock.monotonic() - this.#since < workMs) return;
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    this.#since = this.#clock.monotonic();
    this.#objects = 0;
  }
}
