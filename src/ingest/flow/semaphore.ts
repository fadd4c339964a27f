/** Lets a bounded number in at a time, in the order of asking: lists are what costs an API server most. */

/** Gives the place back; a second call does nothing. */
export type Leave = () => void;

export class Semaphore {
  readonly #places: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#places = places;
  }

  get inside(): number {
    return this.#inside;
  }

  /** Resolves when there is a place; rejects with the signal's reason when it aborts first, and then holds nothing. */
  async enter(signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted();
    if (this.#inside >= this.#places) await this.#wait(signal);
    else this.#inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  /** The place of who leaves goes straight to who waits longest, so `inside` does not change hands in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside -= 1;
    else next();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(admit);
        if (at !== -1) this.#waiting.splice(at, 1);
        reject(signal.reason);
      };
      this.#waiting.push(admit);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
