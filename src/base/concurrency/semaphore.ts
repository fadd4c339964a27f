/** A semaphore. It bounds concurrent work, such as lists and reviews of one API server. Clients take turns; those of one are served in order. */
import { Turns } from './turns.ts';

/** Releases the permit; a second call does nothing. */
export type Leave = () => void;

export class Semaphore {
  readonly #places: number;
  #inside = 0;
  readonly #waiting = new Turns<() => void>();

  constructor(places: number) {
    this.#places = places;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How often a client waits. */
  waitingOf(client: string): number {
    return this.#waiting.countOf(client);
  }

  /** Resolves with a permit. If the signal aborts first, rejects with its reason and holds no permit. */
  async enter(signal?: AbortSignal, client = ''): Promise<Leave> {
    signal?.throwIfAborted();
    if (this.#inside >= this.#places) await this.#wait(signal, client);
    else this.#inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  /** A released permit goes directly to the waiter whose turn it is, so `inside` stays the same. */
  #leave(): void {
    const next = this.#waiting.next();
    if (next === null) this.#inside -= 1;
    else next();
  }

  #wait(signal: AbortSignal | undefined, client: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        this.#waiting.remove(client, admit);
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.remove(client, admit);
        reject(signal?.reason);
      };
      this.#waiting.add(client, admit);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
