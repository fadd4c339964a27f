/** A point in time that can be brought forward while somebody waits for it. */
import type { Clock } from '../../base/clock.ts';

export class WakeTimer {
  readonly #clock: Clock;
  #due: number;
  #waiting: AbortController | null = null;

  /** Due at once. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = clock.monotonic();
  }

  /** Due in so many milliseconds, whatever was set before. */
  set(ms: number): void {
    this.#due = this.#clock.monotonic() + ms;
    this.#waiting?.abort();
  }

  /** Due in so many milliseconds, unless it is due sooner. */
  sooner(ms: number): void {
    if (this.#clock.monotonic() + ms < this.#due) this.set(ms);
  }

  /** Resolves when it is due; rejects with the signal's reason when it aborts first. */
  async wait(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const left = this.#due - this.#clock.monotonic();
      if (left <= 0) return;
      const waiting = new AbortController();
      const onAbort = (): void => waiting.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting = waiting;
      await this.#clock.sleep(left, waiting.signal).catch(() => {});
      this.#waiting = null;
      signal.removeEventListener('abort', onAbort);
    }
  }
}
