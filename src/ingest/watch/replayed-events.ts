/**
 * The replayed events after a watch rollover (watch-rollover.ts): events that the previous watch applied and the new one
 * repeats. They are identified by resourceVersion, in the order of the previous watch.
 *
 * A replayed event may come more than once and is skipped each time. The first new event ends the replay; every later event
 * counts. A bookmark inside the replay marks an older moment and is skipped; after the last replayed event it counts.
 */
import type { WatchMessage } from '../bytes/watch-events.ts';

export class ReplayedEvents {
  /** Empty after the replay. */
  #applied: ReadonlySet<string>;
  /** Replayed events that have not come yet. */
  readonly #ahead: Set<string>;

  constructor(applied: ReadonlySet<string>) {
    this.#applied = applied;
    this.#ahead = new Set(applied);
  }

  /** True if the previous watch already covered this message. Call it for each message, in order. */
  has({ type, resourceVersion }: Exclude<WatchMessage, { type: 'error' }>): boolean {
    if (this.#applied.size === 0) return false;
    if (type === 'bookmark') return this.#ahead.size > 0;
    if (!this.#applied.has(resourceVersion)) {
      this.#applied = new Set();
      this.#ahead.clear();
      return false;
    }
    this.#ahead.delete(resourceVersion);
    return true;
  }
}
