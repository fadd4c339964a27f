/**
 * The signal that something was committed. It says that there is something new, and how far the store is; a listener reads the
 * tables for more. Signals may be merged and repeated, so a listener must not count them.
 */
export interface Commit {
  readonly revision: number;
  readonly catalogVersion: number;
  readonly layoutVersion: number;
}

export type CommitListener = (commit: Commit) => void;

/** A set of listeners. `onCommit` returns what removes the listener again. */
export class CommitSignal {
  readonly #listeners = new Set<CommitListener>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(commit: Commit): void {
    for (const listener of this.#listeners) {
      try {
        listener(commit);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
