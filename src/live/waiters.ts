/** Subscribers that have seen every change of a kind and wait for the next. */

/** Ends a wait. All changes of the kind up to the sequence number `seen` have been seen. */
type Resume = (seen: number) => void;

export class Waiters {
  readonly #byKind = new Map<number, Set<Resume>>();

  get size(): number {
    return [...this.#byKind.values()].reduce((sum, waiting) => sum + waiting.size, 0);
  }

  /**
   * Waits for the next change of the kind, for a subscriber that has seen all changes up to `sequence`. Resolves with the sequence
   * number up to which all changes were seen at the end of the wait. Never rejects.
   */
  wait(kindId: number, sequence: number, signal: AbortSignal): Promise<number> {
    return new Promise((resolve) => {
      const waiting = this.#byKind.get(kindId) ?? new Set<Resume>();
      this.#byKind.set(kindId, waiting);
      const resume: Resume = (seen) => {
        waiting.delete(resume);
        if (waiting.size === 0 && this.#byKind.get(kindId) === waiting) this.#byKind.delete(kindId);
        signal.removeEventListener('abort', abort);
        resolve(Math.max(sequence, seen));
      };
      const abort = (): void => resume(sequence);
      waiting.add(resume);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Ends the waits for a kind. */
  resume(kindId: number, seen: number): void {
    for (const resume of [...(this.#byKind.get(kindId) ?? [])]) resume(seen);
  }
}
