/**
 * The change feed: reads each committed change once, whoever waits for it.
 *
 * Owns: a window of the newest changes in memory (change-window.ts), while there are subscribers. Never: a queue for each
 * subscriber. A subscriber is a position; one that falls out of the window reads the log itself, one that falls off the log's
 * floor is told so.
 *
 *   commit -> wake() -> pull (one lease, changes after the window's end) -> window -> subscribers of the kinds that changed
 *   slow subscriber ------------------------------> read the log ---------^
 *
 * Invariants: a subscriber that waits has seen everything of its kind up to the window's end, so it need not be woken, nor remember
 * a place, while other kinds change. A wake during a pull leads to another pull.
 */
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { readChanges, readLogFloor } from '../store/read/changes.ts';
import type { Lease, Reader } from '../store/types/lease.ts';
import { ChangeWindow, type WindowBounds } from './change-window.ts';
import { FeedChange } from './feed-change.ts';

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
  /** Changes kept in memory; default 20,000. */
  readonly maxChanges?: number;
  /** Characters of bodies kept in memory; default 16 Mi. */
  readonly maxCharacters?: number;
  /** Changes handed out at a time; default 500. */
  readonly batch?: number;
}

/** Ends the wait of one that has seen everything of its kind up to this sequence number. */
type Resume = (seen: number) => void;

/** How often a read is tried that ran out of time: leases are cut when writes are heavy, which is no reason to end a subscription. */
const attempts = 3;

export class ChangeFeed {
  readonly #reader: Reader;
  readonly #log: Logger;
  readonly #bounds: WindowBounds;
  readonly #batch: number;
  /** Null until a subscriber has read the log to its end, and when there are none. */
  #window: ChangeWindow | null = null;
  /** By kind. While somebody waits there is a window. */
  readonly #waiting = new Map<number, Set<Resume>>();
  readonly #listening = new Set<() => void>();
  #subscribers = 0;
  #pulling = false;
  #again = false;
  #wakes = 0;
  #interruptions = 0;
  #closed = false;

  constructor(reader: Reader, log: Logger, options: FeedOptions = {}) {
    this.#reader = reader;
    this.#log = log;
    this.#bounds = {
      maxChanges: options.maxChanges ?? 20_000,
      maxCharacters: options.maxCharacters ?? 16 * 1024 * 1024,
    };
    this.#batch = options.batch ?? 500;
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
    return this.#window?.size ?? 0;
  }

  /** Subscribers that have seen everything and wait for changes. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, waiters) => sum + waiters.size, 0);
  }

  /** There may be something new. Cheap and safe to call at any time. */
  wake(): void {
    if (this.#closed) return;
    this.#wakes += 1;
    for (const resume of [...this.#listening]) resume();
    if (this.#subscribers === 0) {
      this.#forget();
      return;
    }
    this.#again = true;
    if (!this.#pulling) void this.#pull();
  }

  /** What subscribers go by has changed, a generation of the schema for instance: ends every wait so that they look. */
  interrupt(): void {
    this.#interruptions += 1;
    this.#resumeAll();
    this.wake();
  }

  /** Counts one more subscriber in; the returned function counts it out again. */
  join(): () => void {
    this.#subscribers += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#subscribers -= 1;
      if (this.#subscribers === 0) this.#forget();
    };
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
   * Changes of one kind after `position`. Waits while there are none, until the signal aborts, the feed closes or `interruptions`
   * is no longer `seen`. Throws what the reader throws.
   */
  async next(kindId: number, position: FeedPosition, seen: number, signal: AbortSignal): Promise<FeedBatch> {
    const { epoch } = position;
    let { sequence } = position;
    while (!this.#closed && !signal.aborted && this.#interruptions === seen) {
      const window = this.#window;
      if (window !== null && window.epoch === epoch && sequence >= window.floor) {
        const { changes, upTo } = window.after(kindId, sequence, this.#batch);
        if (changes.length > 0) return { kind: 'changes', changes, upTo };
        sequence = await this.#wait(kindId, upTo, signal);
      } else {
        const batch = await this.#readLog(kindId, { epoch, sequence }, signal);
        if (batch === null) break;
        if (batch.kind === 'gap') return batch;
        if (batch.changes.length < this.#batch) this.#openWindow(epoch, batch.upTo);
        if (batch.changes.length > 0) return batch;
        sequence = batch.upTo;
      }
    }
    return { kind: 'changes', changes: [], upTo: sequence };
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true;
    this.#forget();
    for (const resume of [...this.#listening]) resume();
  }

  /** Waits for changes of the kind, having seen everything up to `sequence`; gives what has been seen at the end of the wait. */
  #wait(kindId: number, sequence: number, signal: AbortSignal): Promise<number> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(kindId) ?? new Set<Resume>();
      this.#waiting.set(kindId, waiters);
      const resume: Resume = (seen) => {
        waiters.delete(resume);
        if (waiters.size === 0 && this.#waiting.get(kindId) === waiters) this.#waiting.delete(kindId);
        signal.removeEventListener('abort', abort);
        resolve(Math.max(sequence, seen));
      };
      const abort = (): void => resume(sequence);
      waiters.add(resume);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** The log has been read to its end, which is here: from here on a window can follow. */
  #openWindow(epoch: string, end: number): void {
    if (this.#window !== null || this.#subscribers === 0) return;
    this.#window = new ChangeWindow(epoch, end, this.#bounds);
    this.wake();
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
    if (lease.epoch !== epoch || sequence < (await readLogFloor(lease))) return { kind: 'gap' };
    const logged = await readChanges(lease, { kindIds: [kindId], after: sequence, limit: this.#batch });
    const changes = logged.map((change) => new FeedChange(change));
    const last = changes.at(-1);
    const cut = last !== undefined && changes.length === this.#batch;
    return { kind: 'changes', changes, upTo: cut ? last.logged.seq : Math.max(sequence, lease.revision) };
  }

  /** Reads what is new into the window until there is nothing more. Never rejects. */
  async #pull(): Promise<void> {
    this.#pulling = true;
    let failures = 0;
    while (this.#again && !this.#closed) {
      this.#again = false;
      const window = this.#window;
      if (window === null) continue;
      try {
        const read = await this.#reader.lease(async (lease) => ({
          epoch: lease.epoch,
          revision: lease.revision,
          floor: await readLogFloor(lease),
          changes: await readChanges(lease, { after: window.end, limit: this.#batch }),
        }));
        failures = 0;
        if (this.#window !== window) continue;
        if (read.epoch !== window.epoch || window.end < read.floor) {
          // The log was cut behind the window, or is another: subscribers read it themselves, and are told.
          this.#forget();
          continue;
        }
        const full = read.changes.length >= this.#batch;
        this.#append(
          window,
          read.changes.map((change) => new FeedChange(change)),
          full ? (read.changes.at(-1)?.seq ?? window.end) : Math.max(read.revision, window.end),
        );
        this.#again ||= full;
      } catch (error) {
        failures += 1;
        this.#again = true;
        if (failures < attempts) continue;
        failures = 0;
        if (!this.#closed) {
          this.#log.warn({ error: messageOf(error) }, 'reading changes failed; subscribers read the log');
        }
        this.#forget();
      }
    }
    this.#pulling = false;
  }

  #append(window: ChangeWindow, changes: readonly FeedChange[], end: number): void {
    const seen = window.end;
    window.append(changes, end);
    for (const kindId of new Set(changes.map(({ logged }) => logged.kindId))) {
      for (const resume of [...(this.#waiting.get(kindId) ?? [])]) resume(seen);
    }
  }

  #forget(): void {
    this.#resumeAll();
    this.#window = null;
  }

  #resumeAll(): void {
    const seen = this.#window?.end ?? 0;
    for (const waiters of [...this.#waiting.values()]) for (const resume of [...waiters]) resume(seen);
  }
}
