/**
 * Bounds the disk use of the store, and decides when housekeeping must remove data.
 *
 * The budget is divided once. The write-ahead log gets twice `walGateBytes`, by default 64 MiB. The staging file of lists gets an eighth
 * of the remainder, and the database file gets the other seven eighths. SQLite enforces the size of both files (`max_page_count`), so
 * the store never exceeds the budget. This class frees space before that limit.
 *
 *   ample  -> 85 % used, or SQLITE_FULL from the file or the disk -> tight: housekeeping removes data, in its order (housekeeping.ts)
 *   tight  -> below 80 %                                          -> ample
 *   90 %: bulk work (first syncs, wholesale replaces) is refused with a StoreFault, so that one large resource leaves space for
 *         the events of all others
 *
 * Never removes an object that the API server has, except Events. The file does not shrink; its free pages are reused. A file that
 * is larger than its share from an earlier start keeps its size, with a warning.
 */

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../sqlite/database.ts';
import { StoreFault } from '../types/store-fault.ts';
import type { DiskUse } from '../types/writer.ts';
import { diskIsFull } from './folder-fault.ts';

interface DiskBudgetOptions {
  /** Limit of all files of the store together; null without a limit. */
  readonly maxBytes: number | null;
  readonly walGateBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const tightAt = 0.85;
const ampleAt = 0.8;
const bulkAt = 0.9;
/** Milliseconds for which the store stays tight after an SQLITE_FULL. */
const fullMs = 30_000;

export class DiskBudget {
  readonly #database: Database;
  readonly #options: DiskBudgetOptions;
  readonly #pageSize: number;
  /** Pages of the database file; null without a budget. */
  readonly #maxPages: number | null;
  readonly #shed = { changes: 0, events: 0 };
  #usedBytes = 0;
  #tight = false;
  #fullUntil = Number.NEGATIVE_INFINITY;

  constructor(database: Database, options: DiskBudgetOptions) {
    this.#database = database;
    this.#options = options;
    this.#pageSize = Number(database.pragma('page_size'));
    const { log, maxBytes, walGateBytes } = options;
    if (maxBytes === null) {
      this.#maxPages = null;
      return;
    }
    const pages = Math.max(1, Math.floor((maxBytes - 2 * walGateBytes) / this.#pageSize));
    const staging = Math.floor(pages / 8);
    this.#maxPages = pages - staging;
    database.pragma(`staging.max_page_count = ${staging}`);
    const granted = Number(database.pragma(`main.max_page_count = ${this.#maxPages}`));
    if (granted <= this.#maxPages) return;
    log.warn(
      { fileBytes: granted * this.#pageSize, maxBytes: this.#maxPages * this.#pageSize },
      'the store file is larger than its share of the disk budget, and does not shrink; remove it to begin anew',
    );
  }

  /** Is there a budget? */
  get isBounded(): boolean {
    return this.#maxPages !== null;
  }

  /** The result of the last call of `tight`. */
  get wasTight(): boolean {
    return this.#tight;
  }

  /** True while housekeeping must free space. Reads the file's size, and logs each change of the state. */
  tight(): boolean {
    const { clock, log } = this.#options;
    const used = this.#usedPages();
    const share = this.#maxPages === null ? 0 : used / this.#maxPages;
    const full = clock.monotonic() < this.#fullUntil;
    const tight = full || share >= (this.#tight ? ampleAt : tightAt);
    if (tight !== this.#tight) {
      this.#tight = tight;
      const fields = { ...this.use(), usedShare: Number(share.toFixed(2)) };
      if (tight) log.warn(fields, 'the store runs out of room; the change log and then Events are given up for it');
      else log.info(fields, 'the store has room again');
    }
    return tight;
  }

  /** @throws StoreFault (`full`) when bulk work must not start. */
  admitBulk(): void {
    if (this.#maxPages === null || this.#usedPages() < this.#maxPages * bulkAt) return;
    throw this.full(null);
  }

  /** The error to throw for SQLITE_FULL. The store counts as tight from then on. */
  full(cause: unknown): StoreFault {
    const { clock } = this.#options;
    const { maxBytes } = this.use();
    // With free pages in the database file, the staging file was full: removing rows would not help.
    const helps = this.#maxPages === null || this.#usedPages() >= this.#maxPages * ampleAt;
    if (helps) this.#fullUntil = clock.monotonic() + fullMs;
    return new StoreFault(
      'full',
      maxBytes === null
        ? diskIsFull
        : () =>
            `There is no room for this resource in the disk budget${helps ? '' : ' while its list is compared'}; raise --max-disk, or leave resources out with --exclude.`,
      { file: this.#database.file, cause },
    );
  }

  /** Counts removed data. */
  gaveUp(what: keyof DiskUse['shed'], count: number): void {
    this.#shed[what] += count;
  }

  /** Never throws: while the file cannot be read, its last known size is returned. */
  use(): DiskUse {
    try {
      this.#usedBytes = this.#usedPages() * this.#pageSize;
    } catch {
      // The listener for faults has the error.
    }
    return {
      usedBytes: this.#usedBytes,
      maxBytes: this.#maxPages === null ? null : this.#maxPages * this.#pageSize,
      tight: this.#tight || this.#options.clock.monotonic() < this.#fullUntil,
      shed: { ...this.#shed },
    };
  }

  #usedPages(): number {
    const row = this.#database
      .statement('SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count')
      .get();
    return Number(row?.[0]);
  }
}
