/**
 * One watch of sets.
 *
 *   without initial events, and no version    each change from now on
 *   from a version V      what the client may lack (kept-changes.ts) -> then each change as it comes     V too old: 410
 *   from now, WatchList   the present sets as ADDED -> (WatchList: a bookmark with k8s.io/initial-events-end) -> each change
 *
 *   changes (set-changes.ts) -> the keys of sets that are due -> read for the caller, some at a time -> at most one event for each set
 *                                        ^                                                            |
 *                                        +---------- a change meanwhile makes its set due again <-----+
 *
 *   the caller sees    before: not selected   before: selected
 *   selected now       ADDED                  MODIFIED, if anything differs; DELETED and ADDED for another uid
 *   not selected now   -                      DELETED
 *
 * A watch queues no events, only keys. So a client that reads slowly skips states between two events, and holds no memory. A client that
 * takes nothing for `patienceMs` is cut off.
 * The watch knows the labels of sets from before V by the changes. So a set that has left the selection since V gets its DELETED.
 */
import type { Clock, Random } from '../../base/clock.ts';
import { type ListOptions, selects, type WatchOptions } from '../protocol/list-options.ts';
import type { ServedApi } from '../protocol/served-api.ts';
import { statusOf } from '../protocol/status.ts';
import { type KnownSet, keyOf, type SetChange, type SetChanges } from '../sets/set-changes.ts';
import { expired, requireVersion } from '../sets/set-reads.ts';
import { digestOf, goneResource, type ShadowResource } from '../sets/shadow-resource.ts';

type SetName = Pick<KnownSet, 'namespace' | 'name'>;

/** Where the events go. */
export interface WatchSink {
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', item: ShadowResource): void;
  bookmark(version: bigint, isInitial: boolean): void;
  error(status: object): void;
  /** Resolves when the client takes more; false if it is gone or too slow. */
  ready(): Promise<boolean>;
}

interface SetWatchOptions {
  readonly api: ServedApi;
  readonly changes: SetChanges;
  /** The sets as the caller sees them, in the same order; null for one that is not there. */
  readonly read: (sets: readonly SetName[]) => Promise<readonly (ShadowResource | null)[]>;
  /** Null for all. */
  readonly namespace: string | null;
  readonly options: ListOptions;
  readonly watch: WatchOptions;
  /** Has this process answered a list of the caller with the version from which the watch goes on? */
  readonly isListed: boolean;
  readonly sink: WatchSink;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

/** Sets that are read in one snapshot. */
const atOnce = 50;
const bookmarkMs = 60_000;
/** Seconds that a watch lasts at least if the client names no time. It ends at a random time, so that watches do not end together. */
const leastSeconds = 1800;

/** A set that the client has. */
interface Sent {
  readonly set: KnownSet;
  /** Null if it was sent by a list or an earlier watch. */
  readonly digest: string | null;
}

export class SetWatch {
  readonly #options: SetWatchOptions;
  readonly #sent = new Map<string, Sent>();
  /**
   * The sets that are due, in the order of their newest change, with its version. A client goes on after the version that it has got last, so
   * an older change must not be left behind.
   */
  readonly #due = new Map<string, { readonly name: SetName; readonly version: bigint }>();
  #woken = Promise.withResolvers<void>();

  constructor(options: SetWatchOptions) {
    this.#options = options;
  }

  /**
   * Takes its place among the changes. `run` sends the events. Nothing may happen in between that waits.
   * @returns a function that leaves the place
   * @throws PortolanError that means 410, and 504 where the present sets may be older than the client asks for.
   */
  begin(): () => void {
    const { changes, options, watch } = this.#options;
    const present = [...changes.all()].filter((set) => this.#isIn(set));
    if (watch.initialEvents || watch.fromNow) {
      requireVersion(options, changes.high);
      for (const set of present) if (this.#isSelected(set)) this.#note(set, set.version);
    } else {
      const version = options.resourceVersion ?? changes.high;
      const isFromNow = options.resourceVersion === null;
      const missed = isFromNow || this.#options.isListed ? changes.since(version) : changes.resumed(version);
      if (missed === null) throw expired();
      const { changes: some, whole } = missed;
      for (const set of present) this.#knowFromBefore(set);
      for (const { key, before } of some.toReversed()) {
        this.#sent.delete(key);
        if (before !== null && this.#isIn(before)) this.#knowFromBefore(before);
      }
      if (whole) for (const set of present) this.#note(set, set.version);
      this.#take(some);
    }
    const leave = changes.listen((some) => this.#take(some));
    const wake = (): void => this.#woken.resolve();
    this.#options.signal.addEventListener('abort', wake, { once: true });
    return () => {
      leave();
      this.#options.signal.removeEventListener('abort', wake);
    };
  }

  /** Sends events until the end. Never rejects. */
  async run(): Promise<void> {
    const { changes, watch, sink, clock, random, signal } = this.#options;
    const { timeoutSeconds, bookmarks, initialEvents } = watch;
    const lasts = (timeoutSeconds ?? leastSeconds * (1 + random())) * 1000;
    const endsAt = clock.monotonic() + lasts;
    const version = changes.high;
    const over = new AbortController();
    const ends = AbortSignal.any([signal, over.signal]);
    void this.#tick(clock, ends, Math.min(bookmarkMs, lasts));
    try {
      await this.#sendDue();
      if (initialEvents && bookmarks && !signal.aborted) sink.bookmark(version, true);
      let marked = clock.monotonic();
      while (!signal.aborted && clock.monotonic() < endsAt) {
        await this.#woken.promise;
        this.#woken = Promise.withResolvers();
        await this.#sendDue();
        if (!bookmarks || clock.monotonic() - marked < Math.min(bookmarkMs, lasts)) continue;
        if (!(await sink.ready()) || this.#due.size > 0) continue;
        sink.bookmark(changes.high, false);
        marked = clock.monotonic();
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof ClientGone)) sink.error(statusOf(error));
    } finally {
      over.abort();
    }
  }

  /** Wakes the watch for its bookmarks and its end. */
  async #tick(clock: Clock, signal: AbortSignal, everyMs: number): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal).catch(() => {});
      this.#woken.resolve();
    }
  }

  #knowFromBefore(set: KnownSet): void {
    if (this.#isSelected(set)) this.#sent.set(keyOf(set), { set, digest: null });
  }

  #take(changes: readonly SetChange[]): void {
    for (const { before, after, version } of changes) {
      const set = after ?? before;
      if (set !== null && this.#isIn(set)) this.#note(set, version);
    }
  }

  #note(name: SetName, version: bigint): void {
    this.#due.delete(keyOf(name));
    this.#due.set(keyOf(name), { name, version });
    this.#woken.resolve();
  }

  #isIn({ namespace }: SetName): boolean {
    return this.#options.namespace === null || this.#options.namespace === namespace;
  }

  #isSelected(set: KnownSet): boolean {
    return selects(this.#options.options, set);
  }

  async #sendDue(): Promise<void> {
    const { read, signal, sink } = this.#options;
    while (this.#due.size > 0 && !signal.aborted) {
      const some = [...this.#due].slice(0, atOnce);
      for (const [key] of some) this.#due.delete(key);
      const items = await read(some.map(([, { name }]) => name));
      for (const [index, [key, { version }]] of some.entries()) {
        if (!(await sink.ready())) throw new ClientGone();
        this.#send(key, items[index] ?? null, version);
      }
    }
  }

  #send(key: string, item: ShadowResource | null, version: bigint): void {
    const { sink } = this.#options;
    const sent = this.#sent.get(key);
    const now = item === null ? null : knownSet(item);
    if (sent !== undefined && sent.set.uid !== now?.uid) {
      sink.event('DELETED', goneResource(this.#options.api, sent.set, version));
      this.#sent.delete(key);
    }
    const isThere = this.#sent.has(key);
    if (item === null || now === null) return;
    if (!this.#isSelected(now)) {
      if (isThere) sink.event('DELETED', item);
      this.#sent.delete(key);
      return;
    }
    const digest = digestOf(item);
    if (sent?.digest === digest && isThere) return;
    sink.event(isThere ? 'MODIFIED' : 'ADDED', item);
    this.#sent.set(key, { set: now, digest });
  }
}

/** The client has ended the watch, or is too slow. */
class ClientGone extends Error {}

function knownSet({ metadata }: ShadowResource): KnownSet {
  const { namespace, name, uid, labels = {}, resourceVersion, creationTimestamp } = metadata;
  return {
    ...{ namespace, name, uid, createdAt: String(creationTimestamp), labels: labels as KnownSet['labels'] },
    version: BigInt(String(resourceVersion)),
  };
}
