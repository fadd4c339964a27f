/**
 * How others learn that something was committed. A signal says only that there is something new, and how far the store is;
 * whoever hears it reads the tables. Signals may be merged and repeated, so a listener must not count them.
 *
 * In one process the ingest worker posts a message from a listener. Two processes of one pod that share the file use
 * `watchDataVersion`.
 */
import type { Clock } from '../../base/clock.ts';
import { Database } from '../sqlite/database.ts';

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

/** Calls `listener` when another process has committed, looking every `everyMs`. Ends when the signal aborts. */
export async function watchDataVersion(
  file: string,
  options: { readonly everyMs: number; readonly clock: Clock; readonly signal: AbortSignal },
  listener: () => void,
): Promise<void> {
  const database = new Database(file, { readonly: true });
  try {
    let seen = database.pragma('data_version');
    while (!options.signal.aborted) {
      await options.clock.sleep(options.everyMs, options.signal);
      const now = database.pragma('data_version');
      if (now === seen) continue;
      seen = now;
      listener();
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  } finally {
    database.close();
  }
}
