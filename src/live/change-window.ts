/**
 * The newest changes of one store file, in memory: everything after `floor` up to `end`, found by kind.
 *
 * Bounded by number and by characters; the oldest changes go first, whatever their kind, and `floor` says how far. Looking up a
 * kind costs a binary search in the changes of that kind, however many others there are.
 */
import type { FeedChange } from './feed-change.ts';

export interface WindowBounds {
  readonly maxChanges: number;
  /** Characters of bodies as they were read; parsed bodies cost a few times as much. */
  readonly maxCharacters: number;
}

export class ChangeWindow {
  /** Life of the store file that the sequence numbers belong to. */
  readonly epoch: string;
  readonly #bounds: WindowBounds;
  readonly #all = new Line();
  readonly #byKind = new Map<number, Line>();
  #characters = 0;
  #floor: number;
  #end: number;

  constructor(epoch: string, end: number, bounds: WindowBounds) {
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

  get size(): number {
    return this.#all.length;
  }

  /** Takes in everything that was committed after `end` up to the new `end`, in order. */
  append(changes: readonly FeedChange[], end: number): void {
    for (const change of changes) {
      this.#all.push(change);
      this.#characters += change.size;
      const { kindId } = change.logged;
      const line = this.#byKind.get(kindId) ?? new Line();
      line.push(change);
      this.#byKind.set(kindId, line);
    }
    this.#end = end;
    const { maxChanges, maxCharacters } = this.#bounds;
    while (this.#all.length > maxChanges || this.#characters > maxCharacters) {
      const oldest = this.#all.shift();
      if (oldest === undefined) break;
      const { kindId, seq } = oldest.logged;
      this.#characters -= oldest.size;
      this.#floor = seq;
      const line = this.#byKind.get(kindId);
      line?.shift();
      if (line?.length === 0) this.#byKind.delete(kindId);
    }
  }

  /** The first `limit` changes of a kind after `position`, which must not be below the floor, and how far that reaches. */
  after(
    kindId: number,
    position: number,
    limit: number,
  ): { readonly changes: readonly FeedChange[]; readonly upTo: number } {
    const line = this.#byKind.get(kindId);
    const changes = line?.after(position, limit) ?? [];
    const last = changes.at(-1);
    const cut = last !== undefined && changes.length === limit;
    return { changes, upTo: cut ? last.logged.seq : Math.max(position, this.#end) };
  }
}

/** Changes in the order of their sequence numbers, taken in at the end and dropped at the front. */
class Line {
  #items: FeedChange[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(change: FeedChange): void {
    this.#items.push(change);
  }

  shift(): FeedChange | undefined {
    const first = this.#items[this.#head];
    if (first === undefined) return undefined;
    this.#head += 1;
    // Moving the rest to the front only when half is gone keeps each drop cheap, and what is dropped does not stay for long.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return first;
  }

  after(position: number, limit: number): FeedChange[] {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#items[middle]?.logged.seq ?? Number.POSITIVE_INFINITY) > position) high = middle;
      else low = middle + 1;
    }
    return this.#items.slice(low, low + limit);
  }
}
