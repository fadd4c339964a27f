/**
 * The changes of sets that are kept for later watches, and the selection of changes that a watch may lack.
 *
 *   place   seen at    set        version   high
 *   0       10:00:00   (load)               1000
 *   1       10:00:20   shop/web   1010      1010
 *   2       10:00:24   shop/api   1015      1015
 *   3       10:00:25   shop/web   1012      1015      late: kinds are watched apart
 *   4       10:00:50   shop/web   1020      1020
 *
 *   a watch from a list that this process has answered at 1015    3, 4: the snapshot of the list had the others
 *   a watch from 1015 of an event, or of another replica          1, 2, 3, 4
 *
 * Another replica sees the same versions in another order. It may have sent 1015 before it had 1010 or 1012, and a client that then comes
 * here would never get them. So a watch goes on `overlapMs` before the time at which this process reached its version. A change from before
 * that time is lost only if a replica was behind with one kind for longer. After the load, nothing is known of that time: then `whole` says
 * that all present sets have to be told again.
 *
 * A version below the `high` of the load is gone: what was deleted before it is not known. A place that is no longer kept is gone too.
 */

/** A rise of `high`, or a change. */
interface Mark<Change> {
  readonly high: bigint;
  /** Milliseconds of the monotonic clock. */
  readonly seenAt: number;
  /** Null where `high` rose without a visible change. */
  readonly change: Change | null;
}

export interface Missed<Change> {
  readonly changes: readonly Change[];
  /** May any present set have changed as well? */
  readonly whole: boolean;
}

interface KeptChangesOptions<Change> {
  readonly charactersOf: (change: Change) => number;
  /** The monotonic clock. */
  readonly now: () => number;
  /** Milliseconds. */
  readonly overlapMs: number;
}

/** Changes that are kept, and about the characters of their labels. */
const most = { changes: 10_000, characters: 16_000_000 } as const;

/** Milliseconds by which a replica may be behind with one kind. */
export const overlapMs = 10_000;

export class KeptChanges<Change extends { readonly high: bigint }> {
  readonly #options: KeptChangesOptions<Change>;
  readonly #marks: Mark<Change>[] = [];
  #characters = 0;
  #oldest = 0n;
  /** When `#oldest` was reached. Nothing is known of the time before. */
  #since = 0;

  constructor(options: KeptChangesOptions<Change>) {
    this.#options = options;
  }

  /** The `high` of the newest mark. */
  get high(): bigint {
    return this.#marks.at(-1)?.high ?? this.#oldest;
  }

  /** Begins with the first load. */
  begin(high: bigint): void {
    this.#oldest = high;
    this.#since = this.#options.now();
  }

  /** @param changes in their order @param high the largest version now */
  add(changes: readonly Change[], high: bigint): void {
    const seenAt = this.#options.now();
    for (const change of changes) {
      this.#marks.push({ high: change.high, seenAt, change });
      this.#characters += this.#options.charactersOf(change);
    }
    if (high > this.high) {
      // One rise after the other without a change is one rise.
      if (this.#marks.at(-1)?.change === null) this.#marks.pop();
      this.#marks.push({ high, seenAt, change: null });
    }
    this.#drop();
  }

  /** The changes after a list that this process has answered with this version; null if they are no longer known. */
  since(version: bigint): Missed<Change> | null {
    const at = this.#indexOf(version);
    return at === null ? null : { changes: this.#from(at + 1), whole: false };
  }

  /** The changes that a client with this version may lack. Any replica may have sent the version. Null if that is no longer known. */
  resumed(version: bigint): Missed<Change> | null {
    const at = this.#indexOf(version);
    if (at === null) return null;
    const { now, overlapMs } = this.#options;
    const from = (at < 0 ? this.#since : (this.#marks[at]?.seenAt ?? now())) - overlapMs;
    const first = this.#marks.findIndex(({ seenAt }) => seenAt > from);
    return {
      changes: this.#from(first === -1 ? at + 1 : Math.min(first, at + 1)),
      whole: from < this.#since && overlapMs > 0,
    };
  }

  /** The index of the mark that reached the version: -1 for the load, the number of marks for a later version, null if it is gone. */
  #indexOf(version: bigint): number | null {
    if (version < this.#oldest) return null;
    if (version === this.#oldest) return -1;
    const at = this.#marks.findIndex(({ high }) => high >= version);
    return at === -1 ? this.#marks.length : at;
  }

  #from(index: number): readonly Change[] {
    return this.#marks.slice(index).flatMap(({ change }) => change ?? []);
  }

  /** Forgets the oldest changes that are too many. */
  #drop(): void {
    let count = 0;
    for (const { change } of this.#marks) {
      if (this.#marks.length - count <= most.changes && this.#characters <= most.characters) break;
      this.#characters -= change === null ? 0 : this.#options.charactersOf(change);
      count += 1;
    }
    const dropped = this.#marks.splice(0, count).at(-1);
    if (dropped === undefined) return;
    this.#oldest = dropped.high;
    this.#since = dropped.seenAt;
  }
}
