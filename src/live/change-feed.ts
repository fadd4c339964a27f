/**
 * The change feed: reads each committed change once, whoever waits for it.
 *
 * Owns: a window of the newest changes in memory, bounded by number and by characters. Never: a queue for each subscriber. A
 * subscriber is a position; one that falls out of the window reads the log itself, one that falls off the log's floor is told so.
 *
 *   commit -> wake() -> pull (one lease, changes after the window's end) -> window -> waiting subscribers
 *   slow subscriber ------------------------------> read the log ---------^
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { parseExact } from '../catalog/values.ts';
import { readChanges, readLogFloor } from '../store/changes.ts';
import type { Lease, LoggedChange, Reader } from '../store/types.ts';

/** A change with its bodies parsed when first looked at, shared by all subscribers. */
export class FeedChange {
  readonly logged: LoggedChange;
  #before: { readonly value: unknown } | null = null;
  #after: { readonly value: unknown } | null = null;

  constructor(logged: LoggedChange) {
    this.logged = logged;
  }

  /** The object before the change; null where there was none. */
  before(): unknown {
    this.#before ??= { value: this.logged.before === null ? null : parseExact(this.logged.before) };
    return this.#before.value;
  }

  /** The object after the change; null when it is gone. */
  after(): unknown {
    this.#after ??= { value: this.logged.after === null ? null : parseExact(this.logged.after) };
    return this.#after.value;
  }

  get size(): number {
    return 200 + (this.logged.before?.length ?? 0) + (this.logged.after?.length ?? 0);
  }
}

export type FeedBatch =
  | { readonly kind: 'changes'; readonly changes: readonly FeedChange[]; readonly upTo: number }
  /** The log no longer reaches back to the position. */
  | { readonly kind: 'gap' };

export interface FeedOptions {
  /** Changes kept in memory. */
  readonly maxChanges?: number;
  /** Characters of bodies kept in memory. */
  readonly maxCharacters?: number;
  /** Changes handed out at a time. */
  readonly batch?: number;
}

export class ChangeFeed {
  readonly reader: Reader;
  readonly #log: Logger;
  readonly #maxChanges: number;
  readonly #maxCharacters: number;
  readonly #batch: number;
  #window: FeedChange[] = [];
  #characters = 0;
  /** Everything after `#floor` up to `#end` is in the window; both are null until the first subscriber comes. */
  #floor: number | null = null;
  #end: number | null = null;
  #waiting = new Set<() => void>();
  #subscribers = 0;
  #pulling: Promise<void> | null = null;
  #again = false;
  #closed = false;

  constructor(reader: Reader, log: Logger, options: FeedOptions = {}) {
    this.reader = reader;
    this.#log = log;
    this.#maxChanges = options.maxChanges ?? 20_000;
    this.#maxCharacters = options.maxCharacters ?? 64 * 1024 * 1024;
    this.#batch = options.batch ?? 500;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** There may be something new. Cheap and safe to call at any time. */
  wake(): void {
    if (this.#closed) return;
    if (this.#subscribers === 0) {
      this.#forget();
      return;
    }
    this.#again = true;
    this.#pulling ??= this.#pull().finally(() => {
      this.#pulling = null;
    });
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

  /** Resolves at the next wake (also a spurious one) or when the signal aborts or the feed closes. Never rejects. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || signal.aborted) return resolve();
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Changes of one kind after `position`; waits while there are none. An aborted signal ends the wait with no changes. */
  async next(kindId: number, position: number, signal: AbortSignal): Promise<FeedBatch> {
    for (;;) {
      const end = this.#end;
      if (end !== null && this.#floor !== null && position >= this.#floor) {
        const changes = this.#window.filter(({ logged }) => logged.seq > position && logged.kindId === kindId);
        if (changes.length > 0) return { kind: 'changes', ...cut(changes, this.#batch, end) };
        position = Math.max(position, end);
      } else {
        const batch = await this.#fromLog(kindId, position);
        if (batch.kind === 'gap' || batch.changes.length > 0) return batch;
        position = batch.upTo;
        // The log is read to its end: from here on the window can follow.
        if (this.#floor === null) {
          this.#floor = position;
          this.#end = position;
          this.wake();
        }
        if (!this.#closed && !signal.aborted) continue;
      }
      if (this.#closed || signal.aborted) return { kind: 'changes', changes: [], upTo: position };
      await this.changed(signal);
      if (this.#closed || signal.aborted) return { kind: 'changes', changes: [], upTo: position };
    }
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true;
    this.#notify();
    this.#forget();
  }

  #fromLog(kindId: number, position: number): Promise<FeedBatch> {
    return this.reader.lease(async (lease: Lease) => {
      if (position < (await readLogFloor(lease))) return { kind: 'gap' };
      const logged = await readChanges(lease, { kindIds: [kindId], after: position, limit: this.#batch });
      const changes = logged.map((change) => new FeedChange(change));
      const last = changes.at(-1);
      const upTo = last !== undefined && changes.length >= this.#batch ? last.logged.seq : lease.revision;
      return { kind: 'changes', changes, upTo };
    });
  }

  async #pull(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      const from = this.#end;
      if (from === null) {
        this.#notify();
        continue;
      }
      try {
        const read = await this.reader.lease(async (lease) => ({
          changes: await readChanges(lease, { after: from, limit: this.#batch }),
          revision: lease.revision,
        }));
        if (this.#end !== from) continue;
        const full = read.changes.length >= this.#batch;
        this.#append(read.changes, full ? (read.changes.at(-1)?.seq ?? from) : Math.max(read.revision, from));
        this.#again ||= full;
      } catch (error) {
        if (!this.#closed)
          this.#log.warn({ error: messageOf(error) }, 'reading changes failed; subscribers read the log');
        this.#forget();
      }
      this.#notify();
    }
  }

  #append(changes: readonly LoggedChange[], end: number): void {
    for (const logged of changes) {
      const change = new FeedChange(logged);
      this.#window.push(change);
      this.#characters += change.size;
    }
    this.#end = end;
    let dropped = 0;
    while (
      this.#window.length - dropped > this.#maxChanges ||
      (this.#characters > this.#maxCharacters && dropped < this.#window.length)
    ) {
      const oldest = this.#window[dropped];
      if (oldest === undefined) break;
      this.#characters -= oldest.size;
      this.#floor = oldest.logged.seq;
      dropped += 1;
    }
    if (dropped > 0) this.#window = this.#window.slice(dropped);
  }

  #forget(): void {
    this.#window = [];
    this.#characters = 0;
    this.#floor = null;
    this.#end = null;
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const resume of waiting) resume();
  }
}

function cut(
  changes: readonly FeedChange[],
  batch: number,
  end: number,
): { readonly changes: readonly FeedChange[]; readonly upTo: number } {
  if (changes.length <= batch) return { changes, upTo: end };
  const first = changes.slice(0, batch);
  return { changes: first, upTo: first.at(-1)?.logged.seq ?? end };
}
