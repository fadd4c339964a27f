/**
 * Begins work on the event loop piece by piece, so that many pieces at once do not delay what else waits for the loop.
 *
 *   enter -> nothing waits, and this turn of the loop has been short: the piece begins
 *         -> else: the piece waits
 *   later turn -> one piece begins; clients take turns (turns.ts)
 *
 * Node handles all requests that have arrived, and up to a thousand messages of a thread, in one turn. The rest of a piece after an
 * `await` belongs to no queue, unless its result comes from a thread whose replies have one.
 */
import { type Clock, systemClock } from './clock.ts';
import { Turns } from './concurrency/turns.ts';

/** Milliseconds of a turn after which no further piece begins in it. */
const mostMs = 5;

export class LoopQueue {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting = new Turns<() => void>();
  /** When the first piece of this turn began; null before. */
  #since: number | null = null;
  #isPlanned = false;

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
  }

  /** Pieces that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Calls `begin` now or in a later turn. It must not throw. @param client clients take turns */
  enter(client: string, begin: () => void): void {
    if (this.#waiting.length === 0 && !this.#isLong()) {
      begin();
      return;
    }
    const first = (): void => {
      this.#waiting.remove(client, first);
      begin();
    };
    this.#waiting.add(client, first);
  }

  /** Resolves when a piece of the client may begin. */
  turn(client: string): Promise<void> {
    return this.run(client, () => {});
  }

  /** Calls `piece` now or in a later turn. The turn ends at its first `await`. @returns what it returns */
  run<T>(client: string, piece: () => T): Promise<Awaited<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.enter(client, () => {
      try {
        resolve(piece());
      } catch (error) {
        reject(error);
      }
    });
    return promise as Promise<Awaited<T>>;
  }

  /** Also notes that the turn has begun. */
  #isLong(): boolean {
    const now = this.#clock.monotonic();
    this.#since ??= now;
    this.#plan();
    return now - this.#since >= mostMs;
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#begin());
  }

  /** A new turn. */
  #begin(): void {
    this.#isPlanned = false;
    this.#since = null;
    const first = this.#waiting.next();
    if (first === null) return;
    this.#since = this.#clock.monotonic();
    this.#plan();
    first();
  }
}
