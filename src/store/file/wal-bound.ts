/**
 * Keeps the write-ahead log bounded from the writer's side, whatever the scheduler does to others.
 *
 * Commonly the checkpoint thread (checkpointer.worker.ts) writes the log back whole at the gate, so that it begins anew, while the
 * reader's gate (wal-gate.ts) holds new leases back. Where that thread does not get its turn, the writer does the same before a
 * transaction begins: with little patience at first, and the more the longer the log is, so that it rather waits than writes on.
 * Leases end by themselves, or are cut past the reader's limit; only somebody else's snapshot can outlast the patience, and that is said.
 *
 *   gate        1.25 gates         1.5 gates          1.75 gates                    2 gates
 *   the thread  the writer tries   leases are cut     the writer waits for readers  never reached by our own readers
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../sqlite/database.ts';

interface WalBoundOptions {
  /** Size at which the checkpoint thread writes all of it back and new leases wait. */
  readonly gateBytes: number;
  /** Milliseconds to wait for readers where nothing less has helped; longer than a lease lasts. Default 2,000. */
  readonly patienceMs?: number;
  /** Commits what is open. */
  readonly settle: () => void;
  /** Does nobody wait for the disk (unsynced-fill.ts)? Default never. */
  readonly unsynced?: () => boolean;
  readonly log: Logger;
}

/** Milliseconds of patience from 1.25 and from 1.5 gates on. */
const triesMs = 5;
const waitsMs = 100;
/** Milliseconds for a checkpoint of the thread that is under way, where none waits for the disk. */
const waitsUnsyncedMs = 10;
/** Milliseconds between two looks whether the log was emptied. */
const looksMs = 3;
/** Bytes by which a writer might make it longer in a millisecond: more than disks take. */
const fastestPerMs = 1_000_000;

export class WalBound {
  readonly #database: Database;
  readonly #gate: number;
  readonly #patienceMs: number;
  readonly #settle: () => void;
  readonly #unsynced: () => boolean;
  readonly #log: Logger;
  /** As last seen. */
  #bytes = 0;
  /** Monotonic milliseconds until which it cannot have come near its gate. */
  #shortUntil = 0;
  /** Size up to which another try would be in vain: somebody was in the way a moment ago. */
  #triedAt = 0;
  #said = false;

  constructor(
    database: Database,
    { gateBytes, patienceMs = 2000, settle, unsynced = () => false, log }: WalBoundOptions,
  ) {
    this.#database = database;
    this.#gate = gateBytes;
    this.#patienceMs = patienceMs;
    this.#settle = settle;
    this.#unsynced = unsynced;
    this.#log = log;
    // A file that grew longer, by a snapshot that nobody could cut, is cut to this when the log begins anew.
    database.pragma(`main.journal_size_limit = ${Math.round(gateBytes * 1.25)}`);
  }

  /**
   * Size of the log while any of it is not written back. Inside a transaction, as it was before: only the writer makes it longer, by
   * committing.
   */
  bytes(): number {
    if (!this.#database.inTransaction) this.#bytes = this.#database.log().heldBytes;
    return this.#bytes;
  }

  /**
   * For bulk work, between its slices: it outruns the checkpoint thread, and is the one that should wait. Resolves when the thread has
   * emptied the log, without holding up what else the writer has to do; where the thread does not come to it, the writer empties it.
   */
  async room(): Promise<void> {
    if (this.bytes() <= this.#gate) return;
    if (this.#unsynced()) {
      // The thread has left little of it, and to write that takes less time than to hear that somebody else has done so.
      this.#settle();
      if (this.#database.restartLog(waitsUnsyncedMs)) return;
    }
    const { monotonic } = systemClock;
    const until = monotonic() + this.#patienceMs / 4;
    do {
      // What is open holds the lock, and the thread could not come to it.
      this.#settle();
      if (this.bytes() <= this.#gate) return;
      await sleep(looksMs);
    } while (monotonic() < until);
    this.#relieve(this.#gate);
  }

  /** The same for who cannot wait. */
  relieve(): void {
    this.#relieve(this.#gate * 1.25);
  }

  #relieve(bound: number): void {
    const size = this.bytes();
    if (size > bound && !this.#database.inTransaction) this.#restart(size, size > this.#gate * 1.25 ? 500 : 20);
  }

  /** Before a transaction that will write about `expected` bytes; none where it is a common one. */
  hold(expected = 0): void {
    const now = systemClock.monotonic();
    if (expected === 0 && now < this.#shortUntil) return;
    const { bytes: size, heldBytes } = this.#database.log();
    this.#bytes = heldBytes;
    this.#shortUntil = now + (this.#gate - size) / fastestPerMs;
    const ahead = size + expected;
    // What is all written back begins anew with a commit, but for a snapshot that still reads from it: a large one makes sure.
    if (ahead <= this.#gate * 1.25 || size === 0 || (heldBytes === 0 && expected === 0)) return;
    const patience =
      ahead <= this.#gate * 1.5 ? triesMs : ahead <= this.#gate * 1.75 ? waitsMs : Math.max(waitsMs, this.#patienceMs);
    if (expected === 0 && size < this.#triedAt + this.#gate / 32) return;
    this.#restart(size, patience);
  }

  #restart(size: number, patienceMs: number): void {
    if (this.#database.restartLog(patienceMs)) {
      this.#triedAt = 0;
      this.#said = false;
      return;
    }
    this.#triedAt = size;
    if (this.#said || patienceMs < this.#patienceMs) return;
    this.#said = true;
    this.#log.warn(
      { walBytes: size },
      'the write-ahead log grows past its bound: somebody reads the store file for longer than a lease lasts',
    );
  }
}
