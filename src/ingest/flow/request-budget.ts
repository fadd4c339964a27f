/**
 * A token bucket for the lists and watches that begin in one cluster. It allows `burst` requests at once and `perSecond` in the long
 * run, in first-in, first-out order.
 *
 * Backoff spreads the retries of one reflector. This budget bounds the sum over all reflectors, at the start and after an
 * outage. Later pages of a list are free: a semaphore bounds concurrent lists.
 */
import type { Clock } from '../../base/clock.ts';

export interface RequestRate {
  readonly burst: number;
  readonly perSecond: number;
}

export class RequestBudget {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #aheadMs: number;
  /**
   * Until when (monotonic milliseconds) a collection must pause, by the id of its handle. A restarted reflector needs it
   * too.
   */
  readonly #held = new Map<number, number>();
  /** Monotonic milliseconds at which the next request would be due if requests were evenly spaced. */
  #due = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, { burst, perSecond }: RequestRate) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#aheadMs = (burst - 1) * this.#intervalMs;
  }

  /** Sets the pause that the server requested (Retry-After). Requests of this collection wait for its end, queued ones too. */
  hold(collection: number, retryAfterSeconds: number | undefined): void {
    if (retryAfterSeconds !== undefined) {
      this.#held.set(collection, this.#clock.monotonic() + retryAfterSeconds * 1000);
    }
  }

  /** Resolves when a request may be made. If the signal aborts first, rejects with its reason; the slot is then lost. */
  async take(collection: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    do {
      const rest = this.#rest(collection);
      if (rest > 0) await this.#clock.sleep(rest, signal);
      const now = this.#clock.monotonic();
      const due = Math.max(this.#due, now - this.#aheadMs);
      this.#due = due + this.#intervalMs;
      if (due > now) await this.#clock.sleep(due - now, signal);
      // Another response for this collection may have set a pause meanwhile.
    } while (this.#rest(collection) > 0);
  }

  /** Milliseconds. */
  #rest(collection: number): number {
    return (this.#held.get(collection) ?? Number.NEGATIVE_INFINITY) - this.#clock.monotonic();
  }
}
