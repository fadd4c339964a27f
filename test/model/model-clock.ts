/**
 * Time of a run of the model: it stands until it is moved, and it is moved only when nothing else can happen.
 *
 * `advance` wakes sleepers one by one, in the order they are due; between two of them everything that needs no time settles.
 * `holdUp` lets time pass while nobody gets a turn, as a thread that is held up sees it.
 */
import type { Clock } from '../../src/base/clock.ts';

interface Sleeper {
  readonly due: number;
  readonly order: number;
  readonly wake: () => void;
}

const startOfTime = 1_000_000;
const startOfWall = 1_700_000_000_000;

export class ModelClock implements Clock {
  #now = startOfTime;
  #jumped = 0;
  #order = 0;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return startOfWall + this.#now + this.#jumped;
  }

  monotonic(): number {
    return this.#now;
  }

  /** How many sleeps are under way. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#order += 1;
      const sleeper = { due: this.#now + ms, order: this.#order, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let next = this.#next(until); next !== null; next = this.#next(until)) {
      this.#now = Math.max(this.#now, next.due);
      next.wake();
      await settle();
    }
    this.#now = Math.max(this.#now, until);
  }

  /** Time passes and nobody notices, until the next `advance`. */
  holdUp(ms: number): void {
    this.#now += ms;
  }

  /** Somebody sets the machine's clock. */
  jump(ms: number): void {
    this.#jumped += ms;
  }

  #next(until: number): Sleeper | null {
    let first: Sleeper | null = null;
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > until) continue;
      if (first === null || sleeper.due < first.due || (sleeper.due === first.due && sleeper.order < first.order)) {
        first = sleeper;
      }
    }
    return first;
  }
}

/** Lets everything happen that needs no time: until no turn of the event loop is asked for any more. */
export async function settle(): Promise<void> {
  do await new Promise<void>((resolve) => setImmediate(resolve));
  while (process.getActiveResourcesInfo().includes('Immediate'));
}
