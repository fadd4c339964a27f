/**
 * The signal of a commit. It has the range of new change log entries and their kinds. Listeners read the objects themselves from the
 * tables. Signals may be merged and repeated, so a listener must not count them.
 */
import type { CommittedChanges } from '../types/change.ts';

/** One commit. Without new entries in the change log `after` is the revision. */
export interface Commit extends CommittedChanges {
  readonly catalogVersion: number;
  readonly layoutVersion: number;
}

export type CommitListener = (commit: Commit) => void;

/** A set of listeners. `onCommit` returns the function that removes the listener. */
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
