/**
 * Merges the lines of many containers by their times, and holds back those who write faster than the subscriber reads.
 *
 *   piece -> lines -> queue of the container -> take(): the earliest head of all queues -> … -> a batch
 *
 * Invariants:
 *   - The lines of one container leave in the order of its log.
 *   - A line waits at most `windowMs` for containers that have no line yet. It waits at most `openingMs` for requests whose first byte has
 *     not come. So a line of another container that comes later than that may be out of order. With `isExact`, it waits as long as it
 *     takes.
 *   - Together the queues hold `mostWeight`, and one piece of each container more (body-reader.ts). A container beyond it is paused, and its
 *     API server waits: back-pressure loses nothing. A container without a line is never paused, because the merge may wait for it.
 *   - While the subscriptions of the caller together hold too much (`held`), each container with a line is paused. So one that is read goes on,
 *     piece by piece, beside others that are not.
 *   - A subscriber who takes nothing for `patienceMs` loses the older half of each full queue, and of others while all together are full.
 *     It learns how many. The held lines of the caller's other subscriptions cost it no line.
 */
import type { HeldBytes } from '../../operation/operation-source.ts';
import { LineQueue, type Pausable } from './line-queue.ts';
import type { LogLine, LogPlace } from './log-message.ts';

export interface MergeBounds {
  readonly windowMs: number;
  readonly openingMs: number;
  readonly patienceMs: number;
  /** Bytes of all queues, roughly. */
  readonly mostWeight: number;
}

const mergeBounds: MergeBounds = {
  windowMs: 200,
  openingMs: 1000,
  patienceMs: 15_000,
  mostWeight: 4 * 1024 * 1024,
};

/** Of the bound of all, what one container may have. */
const shareOfOne = 1 / 8;

export class LogMerge {
  readonly #bounds: MergeBounds;
  readonly #held: Pick<HeldBytes, 'isFull' | 'add'>;
  readonly #isExact: boolean;
  readonly #monotonic: () => number;
  readonly #queues = new Set<LineQueue>();
  /** Queues with a line: a binary heap by the key of the head. */
  readonly #heap: LineQueue[] = [];
  readonly #leftOut = new Map<LineQueue, number>();
  #weight = 0;
  #takenAt: number;
  #more = Promise.withResolvers<void>();

  /** @param held what the caller's subscriptions hold; the weight of all queues is counted in it */
  constructor(
    isExact: boolean,
    monotonic: () => number,
    held: Pick<HeldBytes, 'isFull' | 'add'>,
    bounds: MergeBounds = mergeBounds,
  ) {
    this.#held = held;
    this.#isExact = isExact;
    this.#monotonic = monotonic;
    this.#bounds = bounds;
    this.#takenAt = monotonic();
  }

  get weight(): number {
    return this.#weight;
  }

  open(place: LogPlace): LineQueue {
    const queue = new LineQueue(place);
    this.#queues.add(queue);
    return queue;
  }

  /** Drops the lines that wait: they are not sent. */
  discard(queue: LineQueue): void {
    queue.isOpen = false;
    this.#weigh(-queue.weight);
    this.#queues.delete(queue);
    const at = this.#heap.indexOf(queue);
    if (at !== -1) {
      this.#heap.splice(at, 1);
      for (let each = (this.#heap.length >> 1) - 1; each >= 0; each -= 1) this.#sink(each);
    }
    this.#leftOut.delete(queue);
    this.#resumeSome();
    this.wake();
  }

  /** A queue whose log is over goes when its lines have left. */
  end(queue: LineQueue): void {
    queue.isEnded = true;
    this.rest(queue);
    if (queue.length === 0) this.#queues.delete(queue);
  }

  /** A request for the container's log begins, and is to be held back by `source` once it has one. */
  opening(queue: LineQueue): void {
    queue.isResting = false;
    queue.openingSince = this.#monotonic();
  }

  opened(queue: LineQueue, source: Pausable): void {
    queue.source = source;
    queue.openingSince = null;
    queue.isPaused = false;
  }

  /** The request is over, and no line comes until the next one. */
  rest(queue: LineQueue): void {
    queue.isResting = true;
    queue.source = null;
    queue.openingSince = null;
    queue.isPaused = false;
    this.wake();
  }

  push(queue: LineQueue, key: string, line: LogLine): void {
    if (!queue.isOpen) return;
    const isFirst = queue.length === 0;
    this.#weigh(queue.push(key, line, this.#monotonic()));
    if (isFirst) {
      this.#heap.push(queue);
      this.#rise(this.#heap.length - 1);
    }
  }

  /** After the lines of a piece. */
  pushed(queue: LineQueue): void {
    const { mostWeight } = this.#bounds;
    const isFull = this.#weight > mostWeight || queue.weight > mostWeight * shareOfOne || this.#held.isFull;
    if (isFull && queue.length > 0 && queue.source !== null && !queue.isPaused) {
      queue.isPaused = true;
      queue.source.pause();
    }
    this.wake();
  }

  wake(): void {
    this.#more.resolve();
  }

  /**
   * The next lines in the order of their times, at most `most`.
   * @param into gets them
   * @returns milliseconds until more may be taken although nothing comes; null if only new lines or changes help
   */
  take(into: LogLine[], most: number): number | null {
    this.#more = Promise.withResolvers<void>();
    const now = this.#monotonic();
    this.#takenAt = now;
    let wait: number | null = null;
    let window = this.#window(now);
    while (into.length < most) {
      const queue = this.#heap[0];
      const head = queue?.head;
      if (queue === undefined || head === undefined) break;
      const age = now - head.at;
      if (age < window) {
        wait = window === Number.POSITIVE_INFINITY ? null : window - age;
        break;
      }
      const line = this.#shift(queue);
      if (line !== undefined) into.push(line);
      if (queue.length === 0) window = this.#window(now);
    }
    this.#resumeSome();
    return wait;
  }

  /** Resolves when lines or changes have come since the last `take`. */
  get more(): Promise<void> {
    return this.#more.promise;
  }

  /** Is there nothing to take? */
  get isEmpty(): boolean {
    return this.#heap.length === 0;
  }

  /**
   * Lets the older half of full queues go if the subscriber has taken nothing for too long, and resumes what may go on. To be called from time
   * to time.
   */
  relieve(): void {
    if (!this.#isExact && this.#monotonic() - this.#takenAt >= this.#bounds.patienceMs) {
      const { mostWeight } = this.#bounds;
      for (const queue of this.#queues) {
        const isFull = this.#weight > mostWeight / 2 || queue.weight > resumeWeight(mostWeight);
        if (!queue.isPaused || !isFull) continue;
        const half = queue.weight / 2;
        let count = 0;
        while (queue.weight > half && this.#shift(queue) !== undefined) count += 1;
        this.#leftOut.set(queue, (this.#leftOut.get(queue) ?? 0) + count);
      }
    }
    // Another subscription of the caller may hold less by now.
    this.#resumeSome();
  }

  /** Lines that were let go since the last call, by container. */
  leftOut(): readonly (readonly [LogPlace, number])[] {
    if (this.#leftOut.size === 0) return [];
    const found = [...this.#leftOut].map(([{ place }, count]) => [place, count] as const);
    this.#leftOut.clear();
    return found;
  }

  /** How long a line must have waited: as long as a container without a line may still send an earlier one. */
  #window(now: number): number {
    let window = 0;
    for (const queue of this.#queues) {
      if (queue.length > 0 || queue.isResting) continue;
      if (this.#isExact) return Number.POSITIVE_INFINITY;
      const { openingSince } = queue;
      const { windowMs, openingMs } = this.#bounds;
      const isOpening = openingSince !== null && now - openingSince < openingMs;
      if (isOpening) return openingMs;
      if (openingSince === null) window = windowMs;
    }
    return window;
  }

  #weigh(more: number): void {
    this.#weight += more;
    this.#held.add(more);
  }

  #shift(queue: LineQueue): LogLine | undefined {
    const before = queue.weight;
    const line = queue.shift();
    this.#weigh(queue.weight - before);
    const at = this.#heap[0] === queue ? 0 : this.#heap.indexOf(queue);
    if (at === -1) return line;
    if (queue.length > 0) {
      this.#sink(at);
      return line;
    }
    const last = this.#heap.pop();
    if (last !== undefined && last !== queue) {
      this.#heap[at] = last;
      this.#sink(at);
      this.#rise(at);
    }
    if (queue.isEnded) this.#queues.delete(queue);
    return line;
  }

  #resumeSome(): void {
    const { mostWeight } = this.#bounds;
    if (this.#weight > mostWeight / 2 || this.#held.isFull) {
      // The merge waits for those without a line.
      for (const queue of this.#queues) if (queue.isPaused && queue.length === 0) resume(queue);
      return;
    }
    for (const queue of this.#queues) {
      if (queue.isPaused && queue.weight <= resumeWeight(mostWeight)) resume(queue);
    }
  }

  #key(at: number): string {
    return this.#heap[at]?.head?.key ?? '';
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#key(parent) <= this.#key(at)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < this.#heap.length && this.#key(left) < this.#key(least)) least = left;
      if (right < this.#heap.length && this.#key(right) < this.#key(least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }
}

/** The weight that a paused queue may hold when it goes on. */
function resumeWeight(mostWeight: number): number {
  return (mostWeight * shareOfOne) / 2;
}

function resume(queue: LineQueue): void {
  queue.isPaused = false;
  queue.source?.resume();
}
