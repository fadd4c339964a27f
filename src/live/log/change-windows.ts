/**
 * The windows of all kinds that have subscribers. There are bounds for each window and for all windows together.
 *
 * When all windows together are over their bounds, the largest window drops changes. So many changes of one kind do not shorten the
 * window of a kind with few changes.
 */
import { ChangeWindow, type WindowBounds } from './change-window.ts';
import type { FeedChange } from './feed-change.ts';

export class ChangeWindows {
  readonly #each: WindowBounds;
  readonly #all: WindowBounds;
  readonly #byKind = new Map<number, ChangeWindow>();
  #size = 0;
  #bytes = 0;

  constructor(each: WindowBounds, all: WindowBounds) {
    this.#each = each;
    this.#all = all;
  }

  /** The number of changes in all windows. */
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
    this.#bytes -= window.bytes;
  }

  /** Appends changes to the window, and keeps the bounds of all windows together. */
  append(window: ChangeWindow, changes: readonly FeedChange[], end: number): void {
    this.#counted(window, () => window.append(changes, end));
    const { maxChanges, maxBytes } = this.#all;
    while (this.#size > maxChanges) this.#cutLargest(({ size }) => size, maxChanges);
    while (this.#bytes > maxBytes) this.#cutLargest(({ bytes }) => bytes, maxBytes);
  }

  /** Drops changes of the largest window, until the sum over all windows is within the bound or the window is empty. */
  #cutLargest(sizeOf: (window: ChangeWindow) => number, bound: number): void {
    const total = [...this.#byKind.values()].reduce((sum, window) => sum + sizeOf(window), 0);
    const largest = [...this.#byKind.values()].reduce((a, b) => (sizeOf(b) > sizeOf(a) ? b : a));
    const before = sizeOf(largest);
    this.#counted(largest, () => {
      while (total - before + sizeOf(largest) > bound && largest.dropOldest());
    });
  }

  #counted(window: ChangeWindow, work: () => void): void {
    const { size, bytes } = window;
    work();
    this.#size += window.size - size;
    this.#bytes += window.bytes - bytes;
  }
}
