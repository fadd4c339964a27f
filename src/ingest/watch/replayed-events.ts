/**
 * What the beginning of a watch has in common with the watch before it, which it took over from (watch-rollover.ts): events that were applied,
 * told by their resourceVersions, in the order of the first.
 *
 * Lines may come twice there too, so an event is left out however often it comes, until one comes that is new; from then on all count.
 * A bookmark among them tells of an earlier moment than is known; behind the last of them it counts.
 */
import type { WatchMessage } from '../bytes/watch-events.ts';

export class ReplayedEvents {
  /** Empty once the watch is past it. */
  #applied: ReadonlySet<string>;
  /** Of those, the ones that have not come again. */
  readonly #ahead: Set<string>;

  constructor(applied: ReadonlySet<string>) {
    this.#applied = applied;
    this.#ahead = new Set(applied);
  }

  /** Was this applied, or told better, by the watch before? To be asked of each message, in order. */
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
