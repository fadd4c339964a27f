/**
 * The end of a gateway whose clients have another one to go to.
 *
 *   begin(ms) -> /readyz answers 503, and answers over HTTP ask clients to close their connections
 *             -> WebSockets and event streams are closed one by one, each at a random time of the period
 *             -> the period is over: `begin` resolves, and the server can close
 *
 * Requests are answered during the whole period, because load balancers take a while to send no more. A connection that arrives in the
 * period is closed in the rest of it. The times are random, because clients that are closed together connect again together.
 */
import type { Clock, Random } from '../../base/clock.ts';

export class Drain {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #connections = new Set<() => void>();
  /** When the period ends, in monotonic milliseconds; null before `begin`. */
  #endsAt: number | null = null;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  get isOn(): boolean {
    return this.#endsAt !== null;
  }

  /** Registers a long connection. @param close ends it. @returns a function to call when the connection has ended. */
  add(close: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const plan = (): void => {
      const left = Math.max(0, (this.#endsAt ?? 0) - this.#clock.monotonic());
      timer = setTimeout(close, left * this.#random());
      timer.unref();
    };
    if (this.isOn) plan();
    else this.#connections.add(plan);
    return () => {
      this.#connections.delete(plan);
      clearTimeout(timer);
    };
  }

  /** Resolves when the period is over, or when the signal aborts. @param ms length of the period */
  async begin(ms: number, signal: AbortSignal): Promise<void> {
    this.#endsAt ??= this.#clock.monotonic() + ms;
    for (const plan of this.#connections) plan();
    this.#connections.clear();
    await this.#clock.sleep(ms, signal).catch(() => {});
  }
}
