/**
 * Delays before retries: full jitter over a bound that doubles with each failure. The jitter keeps a thousand reflectors
 * that lost the same server from returning at the same moment. A Retry-After from the server is the minimum delay.
 */
import type { Clock, Random } from './clock.ts';

export interface BackoffBounds {
  /** Milliseconds: the bound of the first delay. */
  readonly firstMs: number;
  /** Milliseconds: the bound that doubling stops at. */
  readonly capMs: number;
  /** Milliseconds without a failure after which the bound is reset. */
  readonly resetMs: number;
}

export const defaultBackoff: BackoffBounds = { firstMs: 800, capMs: 30_000, resetMs: 120_000 };

export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #bounds: BackoffBounds;
  #failures = 0;
  /** When the previous delay ended. */
  #resumedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: Random, bounds: BackoffBounds = defaultBackoff) {
    this.#clock = clock;
    this.#random = random;
    this.#bounds = bounds;
  }

  /** Counts a failure and returns the milliseconds to wait. `retryAfterSeconds` is the server's Retry-After. */
  next(retryAfterSeconds?: number): number {
    const now = this.#clock.monotonic();
    if (now - this.#resumedAt >= this.#bounds.resetMs) this.#failures = 0;
    // 2^30 is far above any cap; limiting the exponent keeps the power finite.
    const bound = Math.min(this.#bounds.capMs, this.#bounds.firstMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    const jitter = this.#random() * bound;
    // Clients with the same Retry-After are spread after that time, never before it.
    const minimum = (retryAfterSeconds ?? 0) * 1000;
    const delay = minimum > 0 ? Math.max(minimum + this.#random() * Math.min(minimum / 2, 1000), jitter) : jitter;
    this.#resumedAt = now + delay;
    return delay;
  }

  reset(): void {
    this.#failures = 0;
  }
}
