/**
 * Watch rollover: replaces a watch by the next one without a gap. Shortly before the first watch ends, the next is opened
 * at the current resourceVersion; the first continues meanwhile.
 *
 *   begin: the next watch opens; events of the first are recorded
 *     -> it is open: the first ends, the next continues and skips the recorded events
 *     -> it failed:  the first continues to its end
 *
 * The server sends the next watch every event after its start version, in the same order. So the events that the first
 * watch applied meanwhile come again at its beginning and are recognized by resourceVersion. Example: the next opens at 10,
 * the first applies 11 and 12; the next sends 11, 12, 13, and only 13 is applied.
 *
 * If the first watch ends before the next is open, the rollover waits for the open request and does not send another.
 */
import type { OpenedWatch } from './opened-watch.ts';

/** Maximum of recorded events. Above it the two watches are too far apart, and the next watch is cancelled. */
const maxRecorded = 10_000;

/** An open watch to continue with, and the resourceVersions of applied events that it will repeat at its beginning. */
export interface BegunWatch {
  readonly watch: OpenedWatch;
  readonly applied: ReadonlySet<string>;
}

export class WatchRollover {
  readonly #applied = new Set<string>();
  readonly #givenUp = new AbortController();
  #opening: Promise<OpenedWatch> | null = null;

  /** Opens the next watch; resolves with whether it is open. `open` gets the signal that ends or cancels it. Call it once. */
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

  /** Records events that the first watch applied. */
  note(resourceVersions: readonly string[]): void {
    if (this.#opening === null) return;
    for (const resourceVersion of resourceVersions) this.#applied.add(resourceVersion);
    if (this.#applied.size > maxRecorded) this.giveUp();
  }

  /** Waits for the next watch; null if none exists. Rejects with the reason why it could not be opened. */
  async next(): Promise<BegunWatch | null> {
    const watch = await this.#opening;
    return watch === null ? null : { watch, applied: this.#applied };
  }

  /** Releases the next watch, open or not. */
  giveUp(): void {
    this.#givenUp.abort(new Error('the watch is not handed over'));
    this.#opening?.then(
      (watch) => watch.release(),
      () => {},
    );
    this.#opening = null;
  }
}
