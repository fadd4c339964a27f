/**
 * The change feed: reads the committed changes of the kinds that have subscribers, each change once for all subscribers of its
 * kind.
 *
 * Owns: a window in memory for each kind that has subscribers, with its newest changes (change-windows.ts). Never: reads changes of
 * another kind, or keeps a queue for a subscriber. A subscriber is only a position. A subscriber behind the window reads the log. A
 * subscriber below the log's floor of its kind gets a gap.
 *
 * A commit wakes the feed with the kinds that it changed:
 *
 *   kind unchanged       its window moves its end; nothing is read
 *   kind changed         its window is due -> pull, in one lease -> subscribers of the kind
 *   slow subscriber      read of the log of its kind -> this subscriber
 *
 * Example: Foos have a subscriber, and both are read up to 10. Commits 11 to 500 are of Pods: the window's end becomes 500, and
 * nothing is read. Commit 501 is of Foos: one lease reads the changes of Foos after 500.
 *
 * Invariants:
 *   - A waiting subscriber has seen all changes of its kind up to the window's end. Changes of other kinds do not wake it.
 *   - Log entries below a window's end were read, or belong to other kinds. So the log may drop them.
 *   - A wake during a pull leads to another pull, unless it names only other kinds.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import { type CohortBatch, type CohortRows, concerns } from '../cohort/cohort-batch.ts';
import { type Cohort, Cohorts, type Pushing, type StandingWait } from '../cohort/cohorts.ts';
import type { ChangeWindow } from '../log/change-window.ts';
import { ChangeWindows } from '../log/change-windows.ts';
import { CommitSignals } from '../signals/commit-signals.ts';
import { CommittedKinds } from '../signals/committed-kinds.ts';
import { SharedSnapshots } from '../snapshot/shared-snapshots.ts';
import { attempts, type FeedPosition, type FeedReads, type LogBatch, LogReads, type WindowsRead } from './log-reads.ts';

/** The position of a subscriber, with the number of its matches there; null if it does not count them. */
interface FeedPlace extends FeedPosition {
  readonly count: number | null;
}

/** The next step of a subscriber. */
interface FeedStep {
  readonly batch: CohortBatch;
  /** Its place before the batch. Messages that were pushed have moved it. */
  readonly place: FeedPlace;
}

export interface FeedOptions {
  /** Changes of one kind kept in memory; default 20,000. The bound for all kinds together is twice as high. */
  readonly maxChanges?: number;
  /** Bytes of the bodies of one kind kept in memory; default 16 Mi. The bound for all kinds together is twice as high. */
  readonly maxBytes?: number;
  /** Changes read or returned at a time; default 500. */
  readonly batch?: number;
  /** Reads few changes without a reader thread; default null, for none. */
  readonly pages?: PageReader | null;
}

/** The registration of one subscriber. */
export interface Membership {
  readonly cohort: Cohort;
  /** Removes the subscriber. Idempotent. */
  leave(): void;
}

/** Milliseconds that the result of a shared read is kept. */
const sharedMs = 1000;
const mostBehind = 4;
/** Waits that an interruption ends in one turn of the event loop. */
const mostInterrupted = 50;
/** Changes that are delivered in one turn of the event loop. */
const mostDelivered = 64;
/** Bounds of all windows together, as a multiple of those of one window. */
const windowsInAll = 2;

export class ChangeFeed {
  readonly snapshots = new SharedSnapshots();
  readonly #log: Logger;
  readonly #logReads: LogReads;
  readonly #batch: number;
  readonly #committed = new CommittedKinds();
  /** The window of a kind opens when a subscriber has read the log to its end. It closes with the last subscriber, or when a read fails. */
  readonly #windows: ChangeWindows;
  /** Windows that may lack changes, the longest waiting first. */
  readonly #due = new Set<ChangeWindow>();
  readonly #cohorts = new Cohorts();
  readonly #commits = new CommitSignals();
  readonly #shared = new Map<string, Promise<unknown>>();
  #pulling = false;
  /** Reads in a row that left changes. After `mostBehind` of them, a reader thread reads the next ones. */
  #behind = 0;
  #interruptions = 0;
  /** The waits that an interruption has still to end. */
  #interrupted: { readonly window: ChangeWindow; readonly wait: StandingWait }[] = [];

  constructor(reader: Reader, log: Logger, options: FeedOptions = {}) {
    this.#log = log;
    const { maxChanges = 20_000, maxBytes = 16 * 1024 * 1024, batch = 500, pages = null } = options;
    this.#windows = new ChangeWindows(
      { maxChanges, maxBytes },
      { maxChanges: windowsInAll * maxChanges, maxBytes: windowsInAll * maxBytes },
    );
    this.#batch = batch;
    this.#logReads = new LogReads(reader, pages, batch);
  }

  get closed(): boolean {
    return this.#commits.closed;
  }

  /** The number of wakes. `changed` waits until it changes. */
  get wakes(): number {
    return this.#commits.wakes;
  }

  /** The number of interruptions. `next` ends when it changes. */
  get interruptions(): number {
    return this.#interruptions;
  }

  /** The number of changes in memory. */
  get held(): number {
    return this.#windows.size;
  }

  /** The number of subscribers that have seen all changes and wait. */
  get waiting(): number {
    return this.#cohorts.waiting;
  }

  /** The number of cohorts: subscribers of one kind with equal filters and scopes. */
  get cohorts(): number {
    return this.#cohorts.size;
  }

  get reads(): FeedReads {
    return this.#logReads.counts;
  }

  /** Signals a commit of these changes. Without an argument, any kind may have changed. Cheap, and safe to call at any time. */
  wake(committed?: CommittedChanges): void {
    if (this.#commits.closed) return;
    this.#committed.note(committed);
    for (const window of this.#windows) this.#moveEnd(window);
    this.#commits.notify();
    this.#startPull();
  }

  /**
   * Ends every wait, so that subscribers check their state. Called when the schema's generation has changed, for instance. Each subscriber
   * may take a tenth of a millisecond to begin again, so many of them take several turns of the event loop.
   */
  interrupt(): void {
    this.#interruptions += 1;
    const isRunning = this.#interrupted.length > 0;
    this.#interrupted = [...this.#windows].flatMap((window) =>
      this.#cohorts.waits(window.kindId).map((wait) => ({ window, wait })),
    );
    if (!isRunning) this.#interruptSome();
    this.#commits.notify();
  }

  #interruptSome(): void {
    // Messages that were pushed meanwhile have moved the window's end, and what the subscriber has seen.
    for (const { window, wait } of this.#interrupted.splice(0, mostInterrupted)) wait.end(window.end);
    if (this.#interrupted.length > 0) setImmediate(() => this.#interruptSome());
  }

  /** Registers one more subscriber of the kind. */
  join(kindId: number, rows: CohortRows): Membership {
    const cohort = this.#cohorts.join(kindId, rows);
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      this.#cohorts.leave(cohort);
      if (!this.#cohorts.has(kindId)) this.#forget(this.#windows.get(kindId));
    };
    return { cohort, leave };
  }

  /** Resolves when `wakes` is no longer `seen`, the signal aborts or the feed closes. Never rejects. */
  changed(seen: number, signal: AbortSignal): Promise<void> {
    return this.#commits.changed(seen, signal);
  }

  /** Runs `work` in a lease; again when it times out. @throws what the reader throws. */
  lease<T>(work: (lease: Lease) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#logReads.lease(work, () => this.#commits.closed, signal);
  }

  /**
   * The meaning of the changes after `place` for a cohort. The subscriber must have joined it. Waits while they mean nothing. It returns no
   * messages if the signal aborts, the feed closes or `interruptions` is no longer `seen`.
   * @param pushing gets messages while the subscriber waits
   * @throws what the reader throws.
   */
  async next(
    cohort: Cohort,
    { epoch, sequence, count }: FeedPlace,
    seen: number,
    signal: AbortSignal,
    pushing: Pushing | null = null,
  ): Promise<FeedStep> {
    const { kindId } = cohort;
    let place = { epoch, sequence, count };
    while (!this.#commits.closed && !signal.aborted && this.#interruptions === seen) {
      if (cohort.members === 0) throw new Error('invariant broken: a subscriber has joined the cohort');
      const window = this.#windows.get(kindId);
      const from = place.sequence;
      const inWindow = window !== undefined && window.epoch === epoch && from >= window.floor;
      const read = inWindow ? window.after(from, this.#batch) : await this.#readLog(kindId, place);
      if (read === null) break;
      if (read === 'gap') return { batch: { kind: 'gap' }, place };
      const { changes, upTo } = read;
      if (!inWindow && changes.length < this.#batch) this.#openWindow(kindId, epoch, upTo);
      if (changes.length > 0) {
        const batch = this.#cohorts.batch(cohort, { epoch, from, changes, upTo });
        if (concerns(batch)) return { batch, place };
        place = { ...place, sequence: upTo };
      } else if (inWindow) {
        // A subscriber that has read the log further than the window is not where the others are.
        const woken = await this.#cohorts.wait(
          cohort,
          { ...place, sequence: upTo },
          signal,
          upTo > window.end ? null : pushing,
        );
        place = { epoch, sequence: woken.seen, count: woken.count };
        if (woken.batch !== null) return { batch: woken.batch, place };
      } else place = { ...place, sequence: upTo };
    }
    return { batch: { kind: 'messages', messages: [], upTo: place.sequence }, place };
  }

  /**
   * Runs `work` once for all subscribers that ask for the same key within a second. A thousand subscribers whose rights change together
   * share one read.
   */
  shared<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#shared.get(key);
    if (known !== undefined) return known as Promise<T>;
    const begun = work();
    this.#shared.set(key, begun);
    const forget = (): void => {
      setTimeout(() => this.#shared.delete(key), sharedMs).unref();
    };
    begun.then(forget, () => this.#shared.delete(key));
    return begun;
  }

  /** Ends every wait. */
  close(): void {
    this.#commits.close();
    for (const window of [...this.#windows]) this.#forget(window);
  }

  /** Opens a window that begins at `end`, up to which a subscriber has read the log of the kind. */
  #openWindow(kindId: number, epoch: string, end: number): void {
    if (this.#commits.closed || !this.#cohorts.has(kindId)) return;
    const known = this.#windows.get(kindId);
    if (known?.epoch === epoch) return;
    this.#forget(known);
    this.#moveEnd(this.#windows.open(kindId, epoch, end));
    this.#startPull();
  }

  /** Moves the window's end to the revision up to which its kind has not changed. If that is unknown, the window is due. */
  #moveEnd(window: ChangeWindow): void {
    const until = this.#committed.unchangedUntil(window.kindId, window.epoch, window.end);
    if (until === null) this.#due.add(window);
    else window.append([], until);
  }

  /** Null when the feed was closed meanwhile. @throws what the reader throws. */
  async #readLog(kindId: number, position: FeedPosition): Promise<LogBatch | null> {
    try {
      return await this.#logReads.log(kindId, position, () => this.#commits.closed);
    } catch (error) {
      if (this.#commits.closed) return null;
      throw error;
    }
  }

  /** In a turn of its own: several signals of commits that arrive together lead to one pull, and sockets get their turns between pulls. */
  #startPull(): void {
    if (this.#pulling || this.#due.size === 0) return;
    this.#pulling = true;
    setImmediate(() => void this.#pull());
  }

  /** Reads changes into the windows that are due, until none is due. Never rejects. */
  async #pull(): Promise<void> {
    let failures = 0;
    while (this.#due.size > 0 && !this.#commits.closed) {
      const due = [...this.#due].filter((window) => this.#isOpen(window));
      this.#due.clear();
      try {
        const now = this.#behind < mostBehind ? this.#logReads.windowsNow(due) : null;
        await this.#takeIn(now ?? (await this.#logReads.windows(due)));
        if (now !== null && this.#due.size > 0) await nextTurn();
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures < attempts) {
          this.#putFirst(due);
          continue;
        }
        failures = 0;
        if (!this.#commits.closed) {
          this.#log.warn({ error: messageOf(error) }, 'reading changes failed; subscribers read the log');
        }
        for (const window of due) this.#forget(window);
      }
    }
    this.#pulling = false;
  }

  /** Many changes are delivered in several turns of the event loop. */
  async #takeIn({ revision, read, left }: WindowsRead): Promise<void> {
    const isBehind = left.length > 0 || read.some(({ end }) => end < revision);
    this.#behind = isBehind ? this.#behind + 1 : 0;
    this.#putFirst(left);
    for (const { window, lost, changes, end } of read) {
      if (end < revision && this.#isOpen(window)) this.#due.add(window);
      for (let from = 0; from < changes.length || from === 0; from += mostDelivered) {
        if (from > 0) await nextTurn();
        if (!this.#isOpen(window)) break;
        if (lost) {
          // Subscribers read the log and get the gap from it.
          this.#forget(window);
          break;
        }
        const some = changes.slice(from, from + mostDelivered);
        const isLast = from + some.length === changes.length;
        const upTo = isLast ? end : must(some.at(-1), 'a change').logged.seq;
        const seen = window.end;
        this.#windows.append(window, some, upTo);
        this.#cohorts.deliver(window.kindId, { epoch: window.epoch, from: seen, changes: some, upTo });
      }
    }
  }

  /** Makes these windows due before all others. */
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
    this.#cohorts.wake(window.kindId, window.end);
  }
}
