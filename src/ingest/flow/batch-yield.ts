/**
 * Gives the other work of a thread its turn between slices of bulk work: events of other resources are not to wait for a large list
 * longer than one write transaction may take.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';

/** Milliseconds of work, and objects, after which a turn is due; one more slice may be added to them. */
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

  /** Counts a slice, and waits for a turn of the event loop when one is due. Rejects when the signal is aborted by then. */
  async after(objects: number, signal?: AbortSignal): Promise<void> {
    this.#objects += objects;
    if (this.#objects < workObjects && this.#clock.monotonic() - this.#since < workMs) return;
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    this.#since = this.#clock.monotonic();
    this.#objects = 0;
  }
}
