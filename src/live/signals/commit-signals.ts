/** Commits, as those learn of them who wait for the next one, whatever it changes. */
export interface Commits {
  /** The number of signals. `changed` waits until it changes. */
  readonly wakes: number;
  /** Does the gateway end? */
  readonly closed: boolean;
  /** Resolves when `wakes` is no longer `seen`, the signal aborts or the signals are closed. Never rejects. */
  changed(seen: number, signal: AbortSignal): Promise<void>;
}

export class CommitSignals implements Commits {
  readonly #listening = new Set<() => void>();
  #wakes = 0;
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  get wakes(): number {
    return this.#wakes;
  }

  changed(seen: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || signal.aborted || this.#wakes !== seen) return resolve();
      const done = (): void => {
        this.#listening.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listening.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  notify(): void {
    this.#wakes += 1;
    for (const resume of [...this.#listening]) resume();
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true;
    this.notify();
  }
}
