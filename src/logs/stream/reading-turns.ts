/**
 * Turns for the reading of chunks whose lines are tested, so that many containers together do not hold the thread.
 *
 *   chunks -> pieces of `pieceBytes` -> one piece in each turn of the event loop, in the order in which they came
 */

/** Bytes that are tested in one turn. */
export const pieceBytes = 16 * 1024;

export class ReadingTurns {
  readonly #waiting: (() => void)[] = [];

  /** Runs the work in a turn of its own, after all that was given before. */
  take(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    try {
      this.#waiting[0]?.();
    } finally {
      this.#waiting.shift();
      if (this.#waiting.length > 0) setImmediate(this.#next);
    }
  };
}
