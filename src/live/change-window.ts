/**
 * The newest changes of one kind in one store file, in memory: all of them after `floor` up to `end`.
 *
 * Bounded by number and by characters. The oldest changes are dropped first, and `floor` moves up to the last that was dropped. A
 * lookup is a binary search.
 */
import type { FeedChange } from './feed-change.ts';

export interface WindowBounds {
  readonly maxChanges: number;
  /** Characters of bodies as they were read; parsed bodies cost a few times as much. */
  readonly maxCharacters: number;
}

export class ChangeWindow {
  readonly kindId: number;
  /** Life of the store file that the sequence numbers belong to. */
  readonly epoch: string;
  readonly #bounds: WindowBounds;
  #changes: FeedChange[] = [];
  /** Index of the oldest change that was not dropped. */
  #head = 0;
  #characters = 0;
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

  /** How many changes are held. */
  get size(): number {
    return this.#changes.length - this.#head;
  }

  get characters(): number {
    return this.#characters;
  }

  /** Takes in all changes of the kind that were committed after `end` up to the new `end`, in order. There may be none. */
  append(changes: readonly FeedChange[], end: number): void {
    for (const change of changes) {
      this.#changes.push(change);
      this.#characters += change.size;
    }
    this.#end = Math.max(this.#end, end);
    const { maxChanges, maxCharacters } = this.#bounds;
    while ((this.size > maxChanges || this.#characters > maxCharacters) && this.dropOldest());
  }

  /** False when there is nothing to drop. */
  dropOldest(): boolean {
    const oldest = this.#changes[this.#head];
    if (oldest === undefined) return false;
    this.#head += 1;
    this.#characters -= oldest.size;
    this.#floor = oldest.logged.seq;
    // Moving the rest to the front only when half is gone keeps each drop cheap and frees dropped changes soon.
    if (this.#head * 2 >= this.#changes.length) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    }
    return true;
  }

  /** The first `limit` changes after `position`, which must not be below the floor, and how far that reaches. */
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
