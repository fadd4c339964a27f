/**
 * Waits that stand side by side. A wait that did not end stays. So a loop over many waits begins only the ended ones again.
 *
 *   begin(a), begin(b), begin(c) -> any -> b ended -> begin(b) -> any …
 */
export class StandingWaits {
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #standing = new Set<string>();
  #hasEnded = false;
  #failure: { readonly error: unknown } | null = null;
  #wake = (): void => {};

  /** @param signal ends all waits, as `end` does */
  constructor(signal: AbortSignal) {
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  /** Begins a wait, unless it stands already. The result of `wait` does not matter, only its end. */
  begin(id: string, wait: (signal: AbortSignal) => Promise<unknown>): void {
    if (this.#standing.has(id)) return;
    this.#standing.add(id);
    const ended = (): void => {
      this.#standing.delete(id);
      this.#hasEnded = true;
      this.#wake();
    };
    wait(this.#signal).then(ended, (error: unknown) => {
      this.#failure ??= { error };
      ended();
    });
  }

  /**
   * True when a wait has ended since the last call. False when the signal aborts, and after this time.
   * @throws the error of a wait.
   */
  async any(milliseconds: number): Promise<boolean> {
    if (!this.#hasEnded && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.#signal.removeEventListener('abort', done);
          this.#wake = () => {};
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        timer.unref();
        this.#wake = done;
        this.#signal.addEventListener('abort', done, { once: true });
      });
    }
    if (this.#failure !== null && !this.#signal.aborted) throw this.#failure.error;
    const hasEnded = this.#hasEnded;
    this.#hasEnded = false;
    return hasEnded;
  }

  /** Ends all waits. */
  end(): void {
    this.#stop.abort();
  }
}
