/**
 * The newest changes of one kind in one store file, in memory: all changes after `floor` up to `end`.
 *
 * Bounded by number and by bytes. The oldest changes are dropped first, and `floor` becomes the sequence number of the
 * last dropped change. A lookup is a binary search. Only the newest changes keep their parsed bodies.
 */
import { must } from '../../base/must.ts';
import type { FeedChange } from './feed-change.ts';

export interface WindowBounds {
  readonly maxChanges: number;
  /** Bytes of bodies as they were read; parsed bodies cost a few times as much. */
  readonly maxBytes: number;
}

/** Maximum bytes of changes that keep their parsed bodies. The changes of one append always do. */
const maxNewBytes = 1024 * 1024;

export class ChangeWindow {
  readonly kindId: number;
  /** Epoch of the store file. Sequence numbers are valid within it. */
  readonly epoch: string;
  readonly #bounds: WindowBounds;
  #changes: FeedChange[] = [];
  /** Index of the oldest change that was not dropped. */
  #head = 0;
  #bytes = 0;
  /** Index of the oldest change that keeps its parsed bodies, and the bytes from it on. */
  #newFrom = 0;
  #newBytes = 0;
  #floor: number;
  #end: number;

  constructor(kindId: number, epoch: string, end: number, bounds: WindowBounds) {
    this.kindId = kindId;
    this.epoch = epoch;
    this.#bounds = bounds;
    this.#floor = end;
    this.#end = end;
  }

  get floor(): number {
    return this.#floor;
  }

  get end(): number {
    return this.#end;
  }

  /** The number of changes in the window. */
  get size(): number {
    return this.#changes.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends all changes of the kind that were committed after the window's end up to `end`, in order. There may be none. */
  append(changes: readonly FeedChange[], end: number): void {
    const appendedFrom = this.#changes.length;
    for (const change of changes) {
      this.#changes.push(change);
      this.#bytes += change.size;
      this.#newBytes += change.size;
    }
    while (this.#newFrom < appendedFrom && this.#newBytes > maxNewBytes) this.#ageOldest();
    this.#end = Math.max(this.#end, end);
    const { maxChanges, maxBytes } = this.#bounds;
    while ((this.size > maxChanges || this.#bytes > maxBytes) && this.dropOldest());
  }

  /** Drops the oldest change. False for an empty window. */
  dropOldest(): boolean {
    const oldest = this.#changes[this.#head];
    if (oldest === undefined) return false;
    if (this.#newFrom === this.#head) this.#ageOldest();
    this.#head += 1;
    this.#bytes -= oldest.size;
    this.#floor = oldest.logged.seq;
    // The rest is copied only when half was dropped. So each drop is cheap, and dropped changes are freed soon.
    if (this.#head * 2 >= this.#changes.length) {
      this.#changes = this.#changes.slice(this.#head);
      this.#newFrom -= this.#head;
      this.#head = 0;
    }
    return true;
  }

  #ageOldest(): void {
    const change = must(this.#changes[this.#newFrom], 'a change that keeps its bodies');
    change.age();
    this.#newBytes -= change.size;
    this.#newFrom += 1;
  }

  /** The first `limit` changes after `position`, complete up to `upTo`. The position must not be below the floor. */
  after(position: number, limit: number): { readonly changes: readonly FeedChange[]; readonly upTo: number } {
    const from = this.#firstAfter(position);
    const changes = this.#changes.slice(from, from + limit);
    const last = changes.at(-1);
    const cut = last !== undefined && changes.length === limit;
    return { changes, upTo: cut ? last.logged.seq : Math.max(position, this.#end) };
  }

  #firstAfter(position: number): number {
    let low = this.#head;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.logged.seq ?? Number.POSITIVE_INFINITY) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
