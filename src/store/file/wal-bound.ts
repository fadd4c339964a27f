/**
 * Keeps the write-ahead log bounded from the writer's side, even when the scheduler starves other threads.
 *
 * Usually the checkpoint thread (checkpointer.worker.ts) writes the whole log back at the gate, so that it restarts. Meanwhile the
 * reader's gate (wal-gate.ts) delays new leases. If that thread does not run in time, the writer does the same before a transaction.
 * It waits briefly at first, and longer as the log grows. Leases end by themselves, or are cancelled past the reader's limit. Only
 * another program's snapshot can last longer than the wait, and the writer logs a warning about it.
 *
 *   size of the log   what happens
 *   1 gate            the checkpoint thread writes the whole log back, and new leases wait
 *   1.25 gates        short reads wait too; the writer tries to write the whole log back, for a few milliseconds
 *   1.5 gates         the readers end running leases; the writer waits for up to `waitsMs`
 *   1.75 gates        the writer waits for readers, for up to `patienceMs`
 *   2 gates           Portolan's own readers never let the log reach this size
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../sqlite/database.ts';
import type { FileSeal } from './file-seal.ts';

interface WalBoundOptions {
  /** Size at which the checkpoint thread writes all of it back and new leases wait. */
  readonly gateBytes: number;
  /** Longest wait for readers in milliseconds; longer than a lease. Default 2,000. */
  readonly patienceMs?: number;
  /** Commits the open transaction. */
  readonly settle: () => void;
  /** Whether the file is written without syncs (unsynced-fill.ts). Default: never. */
  readonly unsynced?: () => boolean;
  readonly seal: FileSeal;
  readonly log: Logger;
}

/** Milliseconds to wait above 1.25 gates. */
const triesMs = 5;
/** Milliseconds to wait above 1.5 gates. */
const waitsMs = 100;
/** Milliseconds to wait for a running checkpoint of the thread, while the file is written without syncs. */
const waitsUnsyncedMs = 10;
/** Milliseconds between two checks of the log's size. */
const pollMs = 3;
/** Upper bound of the log's growth in bytes per millisecond: faster than disks write. */
const fastestPerMs = 1_000_000;

export class WalBound {
  readonly #database: Database;
  readonly #gate: number;
  readonly #patienceMs: number;
  readonly #settle: () => void;
  readonly #unsynced: () => boolean;
  readonly #seal: FileSeal;
  readonly #log: Logger;
  /** Held bytes of the log at the last check. */
  #bytes = 0;
  /** Monotonic milliseconds until which the log cannot have reached its gate. */
  #shortUntil = 0;
  /** Size of the log at the last failed try; 0 after a successful one. The next try waits until the log has grown further. */
  #triedAt = 0;
  #warned = false;

  constructor(
    database: Database,
    { gateBytes, patienceMs = 2000, settle, unsynced = () => false, seal, log }: WalBoundOptions,
  ) {
    this.#database = database;
    this.#gate = gateBytes;
    this.#patienceMs = patienceMs;
    this.#settle = settle;
    this.#unsynced = unsynced;
    this.#seal = seal;
    this.#log = log;
    // A foreign snapshot can make the file longer. SQLite truncates it to this size when the log restarts.
    database.pragma(`main.journal_size_limit = ${Math.round(gateBytes * 1.25)}`);
  }

  /**
   * Size of the log, or 0 once all of it is written back. Inside a transaction it is the size from before: only a commit of the
   * writer makes the log longer.
   */
  bytes(): number {
    if (!this.#database.inTransaction) this.#bytes = this.#database.log().heldBytes;
    return this.#bytes;
  }

  /**
   * Call between slices of bulk work, which writes faster than the checkpoint thread and so should wait for it.
   * Resolves when the thread has written the log back, and does not block other work of the writer meanwhile. After a quarter of
   * the longest wait the writer writes the log back itself.
   */
  async room(): Promise<void> {
    if (this.bytes() <= this.#gate) return;
    if (this.#unsynced()) {
      // During an unsynced fill the thread leaves few frames. The writer writes them back itself, which is faster than waiting for
      // the thread.
      this.#settle();
      if (this.#restartLog(waitsUnsyncedMs)) return;
    }
    const { monotonic } = systemClock;
    const until = monotonic() + this.#patienceMs / 4;
    do {
      // An open transaction holds the lock, which the thread needs.
      this.#settle();
      if (this.bytes() <= this.#gate) return;
      await sleep(pollMs);
    } while (monotonic() < until);
    this.#relieve(this.#gate);
  }

  /** The synchronous form of `room`, for callers that cannot await. */
  relieve(): void {
    this.#relieve(this.#gate * 1.25);
  }

  #relieve(bound: number): void {
    const size = this.bytes();
    if (size > bound && !this.#database.inTransaction) this.#restart(size, size > this.#gate * 1.25 ? 500 : 20);
  }

  /** Call before a transaction that will write about `expected` bytes; 0 for an ordinary one. */
  hold(expected = 0): void {
    const now = systemClock.monotonic();
    if (expected === 0 && now < this.#shortUntil) return;
    // SQLite does not tell the log's size inside a transaction.
    if (this.#database.inTransaction) this.#settle();
    const { bytes: size, heldBytes } = this.#database.log();
    this.#bytes = heldBytes;
    this.#shortUntil = now + (this.#gate - size) / fastestPerMs;
    const ahead = size + expected;
    // The next commit restarts a log that is completely written back, unless a snapshot still reads from it.
    // Only a large write makes sure of the restart here.
    if (ahead <= this.#gate * 1.25 || size === 0 || (heldBytes === 0 && expected === 0)) return;
    const patience =
      ahead <= this.#gate * 1.5 ? triesMs : ahead <= this.#gate * 1.75 ? waitsMs : Math.max(waitsMs, this.#patienceMs);
    if (expected === 0 && size < this.#triedAt + this.#gate / 32) return;
    this.#restart(size, patience);
  }

  #restartLog(patienceMs: number): boolean {
    return this.#seal.writing('file', () => this.#database.restartLog(patienceMs));
  }

  #restart(size: number, patienceMs: number): void {
    if (this.#restartLog(patienceMs)) {
      this.#triedAt = 0;
      this.#warned = false;
      return;
    }
    this.#triedAt = size;
    if (this.#warned || patienceMs < this.#patienceMs) return;
    this.#warned = true;
    this.#log.warn(
      { walBytes: size },
      'the write-ahead log grows past its bound: somebody reads the store file for longer than a lease lasts',
    );
  }
}
