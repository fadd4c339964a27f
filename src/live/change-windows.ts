/**
 * The windows of all kinds that have subscribers, each bounded by itself and all of them together.
 *
 * When all together are over their bounds, the largest window is cut. So a busy kind pays for its own changes, and the window of a
 * quiet kind keeps reaching back.
 */
import { ChangeWindow, type WindowBounds } from './change-window.ts';
import type { FeedChange } from './feed-change.ts';

export class ChangeWindows {
  readonly #each: WindowBounds;
  readonly #all: WindowBounds;
  readonly #byKind = new Map<number, ChangeWindow>();
  #size = 0;
  #characters = 0;

  constructor(each: WindowBounds, all: WindowBounds) {
    this.#each = each;
    this.#all = all;
  }

  /** Changes held in all windows. */
  get size(): number {
    return this.#size;
  }

  get(kindId: number): ChangeWindow | undefined {
    return this.#byKind.get(kindId);
  }

  [Symbol.iterator](): IterableIterator<ChangeWindow> {
    return this.#byKind.values();
  }

  /** A window without changes that begins at `end`. The kind must not have one. */
  open(kindId: number, epoch: string, end: number): ChangeWindow {
    const window = new ChangeWindow(kindId, epoch, end, this.#each);
    this.#byKind.set(kindId, window);
    return window;
  }

  close(window: ChangeWindow): void {
    this.#byKind.delete(window.kindId);
    this.#size -= window.size;
    this.#characters -= window.characters;
  }

  /** As `append` of the window, within the bounds of all windows. */
  append(window: ChangeWindow, changes: readonly FeedChange[], end: number): void {
    this.#counted(window, () => window.append(changes, end));
    const { maxChanges, maxCharacters } = this.#all;
    while (this.#size > maxChanges) this.#cutLargest(({ size }) => size, maxChanges);
    while (this.#characters > maxCharacters) this.#cutLargest(({ characters }) => characters, maxCharacters);
  }

  /** Drops changes of the largest window until all are within the bound or it is empty. */
  #cutLargest(sizeOf: (window: ChangeWindow) => number, bound: number): void {
    const total = [...this.#byKind.values()].reduce((sum, window) => sum + sizeOf(window), 0);
    const largest = [...this.#byKind.values()].reduce((a, b) => (sizeOf(b) > sizeOf(a) ? b : a));
    const before = sizeOf(largest);
    this.#counted(largest, () => {
      while (total - before + sizeOf(largest) > bound && largest.dropOldest());
    });
  }

  #counted(window: ChangeWindow, work: () => void): void {
    const { size, characters } = window;
    work();
    this.#size += window.size - size;
    this.#characters += window.characters - characters;
  }
}
