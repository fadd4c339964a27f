/**
 * Snapshots that several live lists send at the same time. The matches are taken once, and each chunk is read once.
 *
 *   list 1: take -> chunk 0 -> chunk 1 -> chunk 2 … done
 *   list 2:    joins -> chunk 0 (kept) -> chunk 1 …
 *
 * A list joins a snapshot only while another list takes or sends it. So a list that comes alone gets the newest state. A list in a crowd gets
 * a state that is at most `mostAgeMs` old, and then the changes since.
 *
 * Few snapshots are read at a time, so that other operations find a free reader.
 *
 * Clients that do not read hold their snapshots. If the snapshots that are sent have more than `mostHeld` objects together, the oldest are
 * let go, and their lists begin newer ones. So slow clients wait longer, and new ones are not kept waiting by them.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';

/** One SNAPSHOT message. */
export interface SnapshotChunk {
  readonly message: LiveMessage;
  /** The index of the first match after it. */
  readonly end: number;
  /** The revision at which it was read. */
  readonly revision: number;
  /** Characters of the texts that were read. */
  readonly characters: number;
}

/** Milliseconds in which other lists may join a snapshot. */
const mostAgeMs = 5000;
/** Characters of the chunks that are kept while lists send them. Parsed objects take several times the memory of their text. */
const keptCharacters = 8 * 1024 * 1024;
const keptChunks = 2000;
/** Characters of the texts of one chunk. A single object may have more. */
const chunkCharacters = 64 * 1024;
/** Objects of a first chunk; their size is not known. */
const firstChunk = 20;
/** Snapshots that are read at the same time. */
const mostReads = 2;
/** Objects of all snapshots that are sent. Each takes eight bytes. */
const mostHeldByDefault = 4_000_000;

/** The matches at a revision. */
export interface TakenSnapshot {
  readonly epoch: string;
  readonly revision: number;
  readonly objects: { readonly length: number; letGo(): void };
}

/** @typeParam T what was taken; the same for all snapshots of one question. */
export class SharedSnapshot<T extends TakenSnapshot = TakenSnapshot> {
  readonly taken: T;
  readonly key: string;
  /** Equal for lists that send the same chunks. */
  readonly question: string;
  readonly takenAt: number;
  /** The lists that send it. */
  senders = 0;
  /** The ends of the chunks that were read once, by their beginning. So every list sends the same chunks. */
  readonly ends = new Map<number, number>();
  readonly reading = new Map<number, Promise<SnapshotChunk | null>>();

  constructor(key: string, question: string, taken: T, takenAt: number) {
    this.key = key;
    this.question = question;
    this.taken = taken;
    this.takenAt = takenAt;
  }
}

export class SharedSnapshots {
  readonly #monotonic: () => number;
  readonly #reads = new Semaphore(mostReads);
  readonly #open = new Map<string, SharedSnapshot>();
  /** The snapshots that are being taken, by question. Undefined for one that could not be taken. */
  readonly #taking = new Map<string, Promise<SharedSnapshot | undefined>>();
  readonly #chunks = new BoundedCache<SnapshotChunk>({ entries: keptChunks, weight: keptCharacters });
  /** The snapshots that are sent, the oldest first. */
  readonly #sent = new Set<SharedSnapshot>();
  readonly #mostHeld: number;
  #held = 0;
  #taken = 0;

  /** @param monotonic milliseconds */
  constructor(monotonic: () => number = () => performance.now(), mostHeld = mostHeldByDefault) {
    this.#monotonic = monotonic;
    this.#mostHeld = mostHeld;
  }

  /** Objects of all snapshots that are sent. */
  get held(): number {
    return this.#held;
  }

  /** Runs a read of a snapshot when few others run. */
  async read<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.#reads.enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * A snapshot of this question: one that another list sends or takes, or one that is taken now.
   * @param question equal for lists that send the same chunks
   */
  async join<T extends TakenSnapshot>(
    lease: Lease,
    question: string,
    take: () => Promise<T>,
  ): Promise<SharedSnapshot<T>> {
    const open = this.#open.get(question) as SharedSnapshot<T> | undefined;
    if (this.#fits(open, lease)) return open;
    const taking = this.#taking.get(question) as Promise<SharedSnapshot<T> | undefined> | undefined;
    // Without a wait if none is being taken: a list of the same turn must find the snapshot of this one.
    const other = taking === undefined ? undefined : await taking;
    if (this.#fits(other, lease)) return other;
    this.#taken += 1;
    const key = `${this.#taken}`;
    const own = take().then((matches) => new SharedSnapshot(key, question, matches, this.#monotonic()));
    const offered = own.catch(() => undefined);
    this.#taking.set(question, offered);
    try {
      return await own;
    } finally {
      if (this.#taking.get(question) === offered) this.#taking.delete(question);
    }
  }

  /** May a list with this lease join the snapshot? */
  #fits<T extends TakenSnapshot>(known: SharedSnapshot<T> | undefined, lease: Lease): known is SharedSnapshot<T> {
    if (known === undefined || this.#monotonic() - known.takenAt >= mostAgeMs) return false;
    return known.taken.epoch === lease.epoch && known.taken.revision <= lease.revision;
  }

  /**
   * A list begins to send the snapshot. From now on, others may join it. Not a part of `join`, because a lease that times out runs its work
   * again. Each call needs one `leave`.
   */
  enter(snapshot: SharedSnapshot): void {
    snapshot.senders += 1;
    const known = this.#open.get(snapshot.question);
    if (known === undefined || known.takenAt < snapshot.takenAt) this.#open.set(snapshot.question, snapshot);
    if (this.#sent.has(snapshot)) return;
    this.#sent.add(snapshot);
    this.#held += snapshot.taken.objects.length;
    for (const oldest of this.#sent) {
      if (this.#held <= this.#mostHeld || oldest === snapshot) break;
      this.#letGo(oldest);
    }
  }

  leave(snapshot: SharedSnapshot): void {
    snapshot.senders -= 1;
    if (snapshot.senders > 0) return;
    this.#letGo(snapshot);
    for (const from of snapshot.ends.keys()) this.#chunks.delete(chunkKey(snapshot, from));
  }

  #letGo(snapshot: SharedSnapshot): void {
    this.close(snapshot);
    if (!this.#sent.delete(snapshot)) return;
    this.#held -= snapshot.taken.objects.length;
    snapshot.taken.objects.letGo();
  }

  /** No more lists join it. Called when it can no longer be sent to its end. */
  close(snapshot: SharedSnapshot): void {
    if (this.#open.get(snapshot.question) === snapshot) this.#open.delete(snapshot.question);
  }

  /**
   * The chunk that begins at the match `from`. Null if it cannot be read any more.
   * @param last the chunk before it
   * @param most the most objects in a chunk
   * @param read reads the matches from `from` to `end`
   */
  chunk(
    snapshot: SharedSnapshot,
    from: number,
    { last, most }: { readonly last: SnapshotChunk | null; readonly most: number },
    read: (end: number) => Promise<SnapshotChunk | null>,
  ): Promise<SnapshotChunk | null> {
    const key = chunkKey(snapshot, from);
    const kept = this.#chunks.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const end = snapshot.ends.get(from) ?? Math.min(snapshot.taken.objects.length, from + size(last, most));
    snapshot.ends.set(from, end);
    const begin = (): Promise<SnapshotChunk | null> =>
      this.read(() => read(end)).finally(() => snapshot.reading.delete(from));
    const reading =
      snapshot.reading.get(from) ??
      begin().then((chunk) => {
        if (chunk !== null && snapshot.senders > 0) this.#chunks.set(key, chunk, chunk.characters + 1);
        return chunk;
      });
    snapshot.reading.set(from, reading);
    return reading;
  }
}

function chunkKey({ key }: SharedSnapshot, from: number): string {
  return `${key} ${from}`;
}

/** Objects of the next chunk. */
function size(last: SnapshotChunk | null, most: number): number {
  if (last === null) return Math.min(most, firstChunk);
  const objects = last.message.changes.length;
  const fitting = Math.floor((objects * chunkCharacters) / Math.max(1, last.characters));
  // Large objects may follow small ones.
  return Math.max(1, Math.min(most, fitting, objects * 2));
}
