/**
 * How long to wait before the next try: full jitter over a doubling bound, so that a thousand reflectors that lost the same server
 * do not come back at the same moment. What the server asks for (Retry-After) is the least that is waited.
 */
import type { Clock, Random } from '../../base/clock.ts';

export interface BackoffBounds {
  /** Milliseconds: the bound of the first delay. */
  readonly firstMs: number;
  /** Milliseconds: the bound that doubling stops at. */
  readonly capMs: number;
  /** Milliseconds without a failure after which the bound starts over. */
  readonly resetMs: number;
}

export const defaultBackoff: BackoffBounds = { firstMs: 800, capMs: 30_000, resetMs: 120_000 };

export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #bounds: BackoffBounds;
  #failures = 0;
  /** When the wait before the last try was over. */
  #resumedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: Random, bounds: BackoffBounds = defaultBackoff) {
    this.#clock = clock;
    this.#random = random;
    this.#bounds = bounds;
  }

  /** Counts a failure and gives the milliseconds to wait. `retryAfterSeconds` is what the server asked for. */
  next(retryAfterSeconds?: number): number {
    const now = this.#clock.monotonic();
    if (now - this.#resumedAt >= this.#bounds.resetMs) this.#failures = 0;
    // 2^30 is far over any cap; the exponent is held so that it stays a number.
    const bound = Math.min(this.#bounds.capMs, this.#bounds.firstMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    const jitter = this.#random() * bound;
    // Those who were all told the same second are spread behind it, never before.
    const asked = (retryAfterSeconds ?? 0) * 1000;
    const delay = asked > 0 ? Math.max(asked + this.#random() * Math.min(asked / 2, 1000), jitter) : jitter;
    this.#resumedAt = now + delay;
    return delay;
  }

  reset(): void {
    this.#failures = 0;
  }
}
