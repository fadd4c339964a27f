/** A due time that can be moved earlier while a caller waits for it. */
import type { Clock } from '../../base/clock.ts';

export class WakeTimer {
  readonly #clock: Clock;
  #due: number;
  #waiting: AbortController | null = null;

  /** Makes it due now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = clock.monotonic();
  }

  /** Makes it due in `ms` milliseconds and replaces any earlier setting. */
  set(ms: number): void {
    this.#due = this.#clock.monotonic() + ms;
    this.#waiting?.abort();
  }

  /** Makes it due in `ms` milliseconds, unless it is already due sooner. */
  sooner(ms: number): void {
    if (this.#clock.monotonic() + ms < this.#due) this.set(ms);
  }

  /** Resolves when it is due. If the signal aborts first, rejects with its reason. */
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
