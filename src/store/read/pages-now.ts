/**
 * Reads pages on the calling thread. For pages that scan few rows: a message to a reader thread and back would cost more.
 *
 *   begin -> statements, within a budget of rows and time -> end, all in one turn of the event loop
 *
 * Invariants: a read stops after about `mostRows` rows or at its time limit, so that it does not block the event loop. A snapshot
 * never outlives the turn, so it never blocks a checkpoint. Nothing here waits for a lock.
 * Rows are counted by `tick()`, which the loops of such pages call at one of eight rows (src/query/sql/kind-tables.ts).
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import type { PageRequest, PagesRead } from '../types/page-reader.ts';
import type { Statement } from '../types/statement.ts';
import { ReadConnection, type ReadConnectionOptions } from './read-connection.ts';

interface PagesNowOptions extends Omit<ReadConnectionOptions, 'tick' | 'busyMs'> {
  /** Longest time of a read in milliseconds. */
  readonly mostMs: number;
}

const mostRows = 1024;
const rowsPerTick = 8;

/** Thrown when a read exceeds its budget; never leaves this file. */
class BudgetSpent extends Error {}

/** A shared instance, since its stack is not used. */
const spent = new BudgetSpent();

export class PagesNow {
  readonly #connection: ReadConnection;
  readonly #clock: Clock;
  readonly #mostMs: number;
  #ticks = 0;
  #until = 0;

  constructor({ clock = systemClock, mostMs, ...options }: PagesNowOptions) {
    this.#clock = clock;
    this.#mostMs = mostMs;
    this.#connection = new ReadConnection({ ...options, clock, busyMs: 0, tick: () => this.#tick() });
  }

  /** Reads the pages. `spent` when the budget is used up. Null after an error, which a reader thread can reproduce and report. */
  read(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | 'spent' | null {
    this.#ticks = mostRows / rowsPerTick;
    this.#until = this.#clock.monotonic() + this.#mostMs;
    try {
      return this.#connection.pages(statements, pages);
    } catch (error) {
      return error === spent ? 'spent' : null;
    }
  }

  /** Bytes of the write-ahead log; 0 once all of it is written back, and 0 while no store can be read. */
  logBytes(): number {
    try {
      return this.#connection.logBytes();
    } catch {
      return 0;
    }
  }

  close(): void {
    this.#connection.close();
  }

  #tick(): void {
    this.#ticks -= 1;
    if (this.#ticks < 0 || this.#clock.monotonic() > this.#until) throw spent;
  }
}
