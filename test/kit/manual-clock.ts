/** Time that a test moves. */
import type { Clock } from '../../src/base/clock.ts';

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  #waiting: { due: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  /** How many sleeps are under way. */
  get sleepers(): number {
    return this.#waiting.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = {
        due: this.#now + ms,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          this.#waiting = this.#waiting.filter((other) => other !== sleeper);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(sleeper);
    });
  }

  /** Moves time on, waking sleepers in the order they are due and letting what they do settle. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#waiting.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.due);
      next.wake();
      await settle();
    }
    this.#now = until;
    await settle();
  }
}

/** Lets all that can happen without time passing happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 25; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
