/**
 * The change feed: reads the committed changes of the kinds that have subscribers, each change once for all subscribers of its kind.
 *
 * Owns: for each kind that has subscribers a window of its newest changes in memory (change-windows.ts). Never: reads changes of
 * another kind, or keeps a queue for a subscriber. A subscriber is a position. One that falls out of the window reads the log itself.
 * One that falls off the log's floor gets a gap.
 *
 *   commit -> wake(which kinds changed) -> the window of a kind that did not change moves its end, without a read
 *                                       -> the window of a kind that did is due -> pull (one lease) -> subscribers of the kind
 *   slow subscriber -----------------------------------> read the log of the kind ----------------------^
 *
 * Example: Foos have a subscriber, and both are read up to 10. Commits 11 to 500 are of Pods: the window's end becomes 500, and
 * nothing is read. Commit 501 is of Foos: one lease reads the changes of Foos after 500.
 *
 * Invariants:
 * A waiting subscriber has seen everything of its kind up to the window's end. It does not wake while other kinds change.
 * The entries that the log loses below a window's end were read, or are of other kinds.
 * A wake during a pull leads to another pull, unless it names other kinds only.
 */
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { must } from '../base/must.ts';
import { readChangedKinds, readChanges, readLogFloor } from '../store/read/changes.ts';
import type { CommittedChanges } from '../store/types/change.ts';
import type { Lease, Reader } from '../store/types/lease.ts';
import type { ChangeWindow } from './change-window.ts';
import { ChangeWindows } from './change-windows.ts';
import { CommittedKinds } from './committed-kinds.ts';
import { FeedChange } from './feed-change.ts';
import { Waiters } from './waiters.ts';

/** Where a subscriber stands: the life of the store file, and the newest change of it that was seen. */
export interface FeedPosition {
  readonly epoch: string;
  readonly sequence: number;
}

export type FeedBatch =
  /** Everything of the kind up to `upTo`. Without changes, the wait was ended by the signal, an interruption or the close. */
  | { readonly kind: 'changes'; readonly changes: readonly FeedChange[]; readonly upTo: number }
  /** The log no longer reaches back to the position. */
  | { readonly kind: 'gap' };

export interface FeedOptions {
  /** Changes of one kind kept in memory; default 20,000. Of all kinds together twice as many. */
  readonly maxChanges?: number;
  /** Characters of the bodies of one kind kept in memory; default 16 Mi. Of all kinds together twice as many. */
  readonly maxCharacters?: number;
  /** Changes read or handed out at a time; default 500. */
  readonly batch?: number;
}

/** Reads of the change log since the start, by this feed. */
export interface FeedReads {
  /** Leases that were taken to read the log. */
  readonly leases: number;
  readonly changes: number;
  /** Bodies before and after these changes. */
  readonly bodies: number;
}

/** One subscriber, counted in for a kind. */
export interface Membership {
  readonly kindId: number;
  /** Counts the subscriber out again. Idempotent. */
  leave(): void;
}

/** The part of a pull that is for one window. */
interface ReadWindow {
  readonly window: ChangeWindow;
  /** The log was cut after the window's end, or is of another epoch. */
  readonly lost: boolean;
  readonly changes: readonly FeedChange[];
  /** The changes are complete up to here. */
  readonly end: number;
}

interface Pulled {
  /** Of the snapshot that was read. */
  readonly revision: number;
  readonly read: readonly ReadWindow[];
  /** Windows that the pull did not reach. */
  readonly left: readonly ChangeWindow[];
}

/** How often a read is tried that runs out of time. Leases are cut under heavy writes; that must not end a subscription. */
const attempts = 3;
/** Bounds of all windows together, as a multiple of those of one window. */
const windowsInAll = 2;

export class ChangeFeed {
  readonly #reader: Reader;
  readonly #log: Logger;
  readonly #batch: number;
  readonly #committed = new CommittedKinds();
  /** A kind has a window once a subscriber has read the log to its end, and no longer than it has subscribers. */
  readonly #windows: ChangeWindows;
  /** Windows that may lack changes, the longest waiting first. */
  readonly #due = new Set<ChangeWindow>();
  /** Of each kind that has subscribers, how many. */
  readonly #subscribers = new Map<number, number>();
  readonly #waiters = new Waiters();
  readonly #listening = new Set<() => void>();
  #pulling = false;
  #wakes = 0;
  #interruptions = 0;
  #reads: FeedReads = { leases: 0, changes: 0, bodies: 0 };
  #closed = false;

  constructor(reader: Reader, log: Logger, options: FeedOptions = {}) {
    this.#reader = reader;
    this.#log = log;
    const { maxChanges = 20_000, maxCharacters = 16 * 1024 * 1024, batch = 500 } = options;
    this.#windows = new ChangeWindows(
      { maxChanges, maxCharacters },
      { maxChanges: windowsInAll * maxChanges, maxCharacters: windowsInAll * maxCharacters },
    );
    this.#batch = batch;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** How often there was a wake; what `changed` waits to move. */
  get wakes(): number {
    return this.#wakes;
  }

  /** How often there was an interruption; what ends `next`. */
  get interruptions(): number {
    return this.#interruptions;
  }

  /** Changes that are held in memory. */
  get held(): number {
    return this.#windows.size;
  }

  /** Subscribers that have seen everything and wait for changes. */
  get waiting(): number {
    return this.#waiters.size;
  }

  get reads(): FeedReads {
    return this.#reads;
  }

  /** These changes were committed; without them, changes of any kind may have been. Cheap and safe to call at any time. */
  wake(committed?: CommittedChanges): void {
    if (this.#closed) return;
    this.#committed.note(committed);
    for (const window of this.#windows) this.#moveEnd(window);
    this.#notify();
    this.#startPull();
  }

  /** The schema's generation has changed, for instance: ends every wait so that subscribers look at it. */
  interrupt(): void {
    this.#interruptions += 1;
    for (const window of this.#windows) this.#waiters.resume(window.kindId, window.end);
    this.#notify();
  }

  /** Counts one more subscriber of the kind in. */
  join(kindId: number): Membership {
    this.#subscribers.set(kindId, (this.#subscribers.get(kindId) ?? 0) + 1);
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      const others = (this.#subscribers.get(kindId) ?? 0) - 1;
      if (others > 0) {
        this.#subscribers.set(kindId, others);
        return;
      }
      this.#subscribers.delete(kindId);
      this.#forget(this.#windows.get(kindId));
    };
    return { kindId, leave };
  }

  /** Resolves when `wakes` is no longer `seen`, the signal aborts or the feed closes. Never rejects. */
  changed(seen: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || signal.aborted || this.#wakes !== seen) return resolve();
      const done = (): void => {
        this.#listening.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listening.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Runs `work` in a lease; once more when it ran out of time. Throws what the reader throws. */
  async lease<T>(work: (lease: Lease) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#reader.lease(work, signal === undefined ? {} : { signal });
      } catch (error) {
        const over = this.#closed || signal?.aborted === true || attempt === attempts;
        if (over || !(error instanceof PortolanError && error.code === 'TIMEOUT')) throw error;
      }
    }
  }

  /**
   * Changes of one kind after `position`, for one who has joined it. Waits while there are none, until the signal aborts, the feed
   * closes or `interruptions` is no longer `seen`. Throws what the reader throws.
   */
  async next(kindId: number, position: FeedPosition, seen: number, signal: AbortSignal): Promise<FeedBatch> {
    const { epoch } = position;
    let { sequence } = position;
    while (!this.#closed && !signal.aborted && this.#interruptions === seen) {
      must(this.#subscribers.get(kindId), 'a subscriber has joined the kind');
      const window = this.#windows.get(kindId);
      if (window !== undefined && window.epoch === epoch && sequence >= window.floor) {
        const { changes, upTo } = window.after(sequence, this.#batch);
        if (changes.length > 0) return { kind: 'changes', changes, upTo };
        sequence = Math.max(upTo, await this.#waiters.wait(kindId, upTo, signal));
      } else {
        const batch = await this.#readLog(kindId, { epoch, sequence }, signal);
        if (batch === null) break;
        if (batch.kind === 'gap') return batch;
        if (batch.changes.length < this.#batch) this.#openWindow(kindId, epoch, batch.upTo);
        if (batch.changes.length > 0) return batch;
        sequence = batch.upTo;
      }
    }
    return { kind: 'changes', changes: [], upTo: sequence };
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true;
    for (const window of [...this.#windows]) this.#forget(window);
    this.#notify();
  }

  #notify(): void {
    this.#wakes += 1;
    for (const resume of [...this.#listening]) resume();
  }

  /** The log of the kind has been read to its end, which is here: from here on a window can follow. */
  #openWindow(kindId: number, epoch: string, end: number): void {
    if (this.#closed || !this.#subscribers.has(kindId)) return;
    const known = this.#windows.get(kindId);
    if (known?.epoch === epoch) return;
    this.#forget(known);
    this.#moveEnd(this.#windows.open(kindId, epoch, end));
    this.#startPull();
  }

  /** Moves the end of the window as far as its kind is known not to have changed; otherwise the window is due. */
  #moveEnd(window: ChangeWindow): void {
    const until = this.#committed.unchangedUntil(window.kindId, window.epoch, window.end);
    if (until === null) this.#due.add(window);
    else window.append([], until);
  }

  /** Null when the wait is over, which is not the reader's failure. */
  async #readLog(kindId: number, position: FeedPosition, signal: AbortSignal): Promise<FeedBatch | null> {
    try {
      return await this.lease((lease) => this.#fromLog(lease, kindId, position), signal);
    } catch (error) {
      if (this.#closed || signal.aborted) return null;
      throw error;
    }
  }

  async #fromLog(lease: Lease, kindId: number, { epoch, sequence }: FeedPosition): Promise<FeedBatch> {
    this.#count(1, []);
    if (lease.epoch !== epoch || sequence < (await readLogFloor(lease))) return { kind: 'gap' };
    const { changes, end } = await this.#readKind(lease, kindId, sequence, this.#batch);
    return { kind: 'changes', changes, upTo: end };
  }

  /** Changes of a kind after a sequence number, and how far they reach. */
  async #readKind(
    lease: Lease,
    kindId: number,
    after: number,
    limit: number,
  ): Promise<{ readonly changes: readonly FeedChange[]; readonly end: number }> {
    const logged = await readChanges(lease, { kindId, after, limit });
    const changes = logged.map((change) => new FeedChange(change));
    this.#count(0, changes);
    const last = changes.length === limit ? changes.at(-1) : undefined;
    return { changes, end: last === undefined ? Math.max(after, lease.revision) : last.logged.seq };
  }

  #count(leases: number, changes: readonly FeedChange[]): void {
    const { reads } = this;
    this.#reads = {
      leases: reads.leases + leases,
      changes: reads.changes + changes.length,
      bodies: changes.reduce((sum, { bodies }) => sum + bodies, reads.bodies),
    };
  }

  #startPull(): void {
    if (!this.#pulling && this.#due.size > 0) void this.#pull();
  }

  /** Reads into the windows that are due until none is. Never rejects. */
  async #pull(): Promise<void> {
    this.#pulling = true;
    let failures = 0;
    while (this.#due.size > 0 && !this.#closed) {
      const due = [...this.#due];
      this.#due.clear();
      try {
        this.#takeIn(await this.#reader.lease((lease) => this.#readDue(lease, due)));
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures < attempts) {
          this.#putFirst(due);
          continue;
        }
        failures = 0;
        if (!this.#closed) {
          this.#log.warn({ error: messageOf(error) }, 'reading changes failed; subscribers read the log');
        }
        for (const window of due) this.#forget(window);
      }
    }
    this.#pulling = false;
  }

  /** Reads the windows in their order, at most a batch of changes in all. */
  async #readDue(lease: Lease, due: readonly ChangeWindow[]): Promise<Pulled> {
    this.#count(1, []);
    const open = due.filter((window) => this.#isOpen(window));
    const positions = open.map((window) => ({ window, after: window.end }));
    const changed = await readChangedKinds(
      lease,
      new Map(positions.map(({ window, after }) => [window.kindId, after])),
    );
    const read: ReadWindow[] = [];
    let room = this.#batch;
    for (const { window, after } of positions) {
      const lost = window.epoch !== lease.epoch || after < changed.floor;
      if (lost || !changed.kindIds.has(window.kindId)) {
        read.push({ window, lost, changes: [], end: lease.revision });
      } else if (room > 0) {
        const { changes, end } = await this.#readKind(lease, window.kindId, after, room);
        room -= changes.length;
        read.push({ window, lost, changes, end });
      }
    }
    const reached = new Set(read.map(({ window }) => window));
    return { revision: lease.revision, read, left: open.filter((window) => !reached.has(window)) };
  }

  #takeIn({ revision, read, left }: Pulled): void {
    for (const { window, lost, changes, end } of read) {
      if (!this.#isOpen(window)) continue;
      if (lost) {
        // Subscribers read the log, and find the gap.
        this.#forget(window);
        continue;
      }
      const seen = window.end;
      this.#windows.append(window, changes, end);
      if (end < revision) this.#due.add(window);
      if (changes.length > 0) this.#waiters.resume(window.kindId, seen);
    }
    this.#putFirst(left);
  }

  /** These windows are due before all others. */
  #putFirst(windows: readonly ChangeWindow[]): void {
    const others = [...this.#due];
    this.#due.clear();
    for (const window of [...windows, ...others]) if (this.#isOpen(window)) this.#due.add(window);
  }

  #isOpen(window: ChangeWindow): boolean {
    return this.#windows.get(window.kindId) === window;
  }

  #forget(window: ChangeWindow | undefined): void {
    if (window === undefined || !this.#isOpen(window)) return;
    this.#windows.close(window);
    this.#due.delete(window);
    this.#waiters.resume(window.kindId, window.end);
  }
}
