/**
 * Where the reading of one container's log stands, so that another request goes on from there without loss or repetition.
 *
 *   a 10.1, b 11.2, c 11.2 are delivered       second 11, two lines in it
 *   resumed: sinceTime=11 -> b c d             the first two that are not later than c are dropped -> d
 *
 * `sinceTime` has a resolution of seconds, because API servers send it to the kubelet so. The kubelet answers with the lines of its file in
 * their order, and skips the earlier ones. So the lines of the last second that were delivered are the first lines of the new answer. A line
 * that is later than all of them was not delivered, whatever the count says: the file was rotated meanwhile.
 *
 * A line that was read may never be sent: while it waits, the right to it may end. Then the point goes back to before it.
 *
 * After `tail`, the lines before the first one were not wanted. Until a second is seen from its begin, every line that is not later is dropped.
 */
import { secondOf } from './log-time.ts';

export class ResumePoint {
  /** Milliseconds of the monotonic clock at the first request; null before it. */
  askedAt: number | null = null;
  /** The number of the container's instance that is read; null before the first one. */
  instance: number | null = null;
  /** That of the latest line. */
  instanceOfLatest: number | null = null;
  /** The instance of the status when the log showed a later one; null when the status has it too. */
  lateInstance: number | null = null;
  #latest = '';
  /** The beginning of the keys of the latest second. */
  #second = '';
  /** Lines of the latest second. */
  #count = 0;
  /** Began within the latest second, not at its start. */
  #isPartial = false;
  #isFresh = true;
  /** Earlier lines of the latest second were delivered, and are not counted; empty for none. */
  #from = '';
  /** Lines that may still be dropped. */
  #toDrop = 0;

  /** The key of the latest line; empty before the first one. */
  get latest(): string {
    return this.#latest;
  }

  /** `sinceTime` of a request that goes on; null before the first line. */
  get since(): string | null {
    return this.#latest === '' ? null : secondOf(this.#latest);
  }

  /** The first request. @param isWhole it asks for the log from its begin */
  begin(isWhole: boolean): void {
    this.#isPartial = !isWhole;
    this.#isFresh = true;
    this.#toDrop = 0;
  }

  /** The next request is for the same log with `since`. */
  resume(): void {
    this.#toDrop = this.#isPartial ? Number.POSITIVE_INFINITY : this.#count;
  }

  /**
   * The next request is for lines of which only later ones were not delivered. They are of the next instance of the container, or since any
   * time before the last line.
   */
  onlyLater(): void {
    this.#toDrop = this.#latest === '' ? 0 : Number.POSITIVE_INFINITY;
  }

  /** A line of the answer is not noted, because it is earlier than the latest one. @param key of its time */
  passOver(key: string): void {
    if (this.#toDrop > 0 && key >= this.#from) this.#toDrop -= 1;
  }

  /** The line with this key, and those after it, were not delivered in the end. Lines before it are not delivered again. */
  backTo(key: string): void {
    // Less than the key, and not less than any lower one.
    this.#latest = key.slice(0, -1);
    this.#second = key.slice(0, 20);
    this.#count = 0;
    this.#from = key;
    this.#isPartial = false;
  }

  /** Notes a line in the order of the log. False for a line that was delivered before. @param key of its time */
  take(key: string): boolean {
    if (key < this.#from) return false;
    if (this.#toDrop > 0) {
      if (key <= this.#latest) {
        this.#toDrop -= 1;
        return false;
      }
      this.#toDrop = 0;
    }
    if (this.#second !== '' && key.startsWith(this.#second)) this.#count += 1;
    else if (key > this.#latest) {
      this.#second = key.slice(0, 20);
      this.#count = 1;
      this.#from = '';
      if (!this.#isFresh) this.#isPartial = false;
      this.#isFresh = false;
    }
    if (key > this.#latest) this.#latest = key;
    return true;
  }
}
