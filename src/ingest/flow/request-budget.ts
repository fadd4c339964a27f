/**
 * How many lists and watches may be begun in one cluster: at most `burst` at once and `perSecond` in the long run, in the order of
 * asking. Backoff spreads the tries of one reflector; this holds the sum of them all, however many have lost the same server, and
 * spreads the start. Later pages of a list are not counted: the lists that run at a time are bounded (semaphore.ts).
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
  /** Until when (monotonic milliseconds) a collection rests, by the id of its handle: a reflector that is started anew must know too. */
  readonly #held = new Map<number, number>();
  /** Monotonic milliseconds at which the next request would be due if they came evenly. */
  #due = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, { burst, perSecond }: RequestRate) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#aheadMs = (burst - 1) * this.#intervalMs;
  }

  /** The server asked for a pause: nothing of this collection is due before it is over, whoever asks next. */
  hold(collection: number, retryAfterSeconds: number | undefined): void {
    if (retryAfterSeconds !== undefined) {
      this.#held.set(collection, this.#clock.monotonic() + retryAfterSeconds * 1000);
    }
  }

  /** Resolves when a request may be made. Rejects with the signal's reason when it aborts first; its turn is then lost. */
  async take(collection: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    do {
      const rest = this.#rest(collection);
      if (rest > 0) await this.#clock.sleep(rest, signal);
      const now = this.#clock.monotonic();
      const due = Math.max(this.#due, now - this.#aheadMs);
      this.#due = due + this.#intervalMs;
      if (due > now) await this.#clock.sleep(due - now, signal);
      // The server may have asked for a pause meanwhile, when another request of the collection was answered.
    } while (this.#rest(collection) > 0);
  }

  /** Milliseconds. */
  #rest(collection: number): number {
    return (this.#held.get(collection) ?? Number.NEGATIVE_INFINITY) - this.#clock.monotonic();
  }
}
