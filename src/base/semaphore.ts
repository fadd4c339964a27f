/** A first-in, first-out semaphore. It bounds concurrent work, such as lists and reviews of one API server. */

/** Releases the permit; a second call does nothing. */
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

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves with a permit. If the signal aborts first, rejects with its reason and holds no permit. */
  async enter(signal?: AbortSignal): Promise<Leave> {
    signal?.throwIfAborted();
    if (this.#inside >= this.#places) await this.#wait(signal);
    else this.#inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  /** A released permit goes directly to the longest waiter, so `inside` stays the same. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside -= 1;
    else next();
  }

  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(admit);
        if (at !== -1) this.#waiting.splice(at, 1);
        reject(signal?.reason);
      };
      this.#waiting.push(admit);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
