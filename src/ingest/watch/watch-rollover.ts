/**
 * The change from one watch to the next without a gap: shortly before a watch ends by its time, the next is opened at the version
 * reached, while the first goes on.
 *
 *   begin -> the next is being opened; what the first brings meanwhile is noted -> it is open: the first is left, the next goes on
 *     and leaves out what was noted | it failed: nothing has happened, the first goes on to its end
 *
 * The server sends the next watch everything after the version it was asked from, in the same order: so what the first has brought
 * since stands at its beginning, and is told by resourceVersion. A first that ends before the next is open waits for it instead of
 * asking again.
 */
import type { OpenedWatch } from './opened-watch.ts';

/** Events of the first watch that are noted at most; beyond, the two are too far apart, and the next is given up. */
const mostNoted = 10_000;

/** A watch to go on with, and the resourceVersions of events at its beginning that have been applied. */
export interface BegunWatch {
  readonly watch: OpenedWatch;
  readonly applied: ReadonlySet<string>;
}

export class WatchRollover {
  readonly #applied = new Set<string>();
  readonly #givenUp = new AbortController();
  #opening: Promise<OpenedWatch> | null = null;

  /** Opens the next watch; `open` gets the signal that ends it or gives it up. Resolves with whether it is open. To be called once. */
  async begin(open: (signal: AbortSignal) => Promise<OpenedWatch>, stop: AbortSignal): Promise<boolean> {
    const opening = open(AbortSignal.any([stop, this.#givenUp.signal]));
    this.#opening = opening;
    try {
      await opening;
      return this.#opening === opening;
    } catch {
      this.#opening = null;
      return false;
    }
  }

  /** Events of the first watch were applied. */
  note(resourceVersions: readonly string[]): void {
    if (this.#opening === null) return;
    for (const resourceVersion of resourceVersions) this.#applied.add(resourceVersion);
    if (this.#applied.size > mostNoted) this.giveUp();
  }

  /** The next watch, waited for; null when there is none. Rejects with why it could not be opened. */
  async next(): Promise<BegunWatch | null> {
    const watch = await this.#opening;
    return watch === null ? null : { watch, applied: this.#applied };
  }

  /** Lets go of the next watch, open or not. */
  giveUp(): void {
    this.#givenUp.abort(new Error('the watch is not handed over'));
    this.#opening?.then(
      (watch) => watch.release(),
      () => {},
    );
    this.#opening = null;
  }
}
