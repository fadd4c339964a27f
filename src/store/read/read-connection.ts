/**
 * One read-only connection to a store file: of a reader thread (reader.worker.ts), or of the serve thread (pages-now.ts).
 *
 *   begin: BEGIN, and the first read is the state row, so the snapshot is fixed before anything is answered
 *   all, fill: statements in that snapshot
 *   pages: all of that at once: begin, statements, pages written as text (page-writer.ts), end; while nothing is committed, what was
 *     known at the last begin holds, and is not read again
 *   end: ROLLBACK, at once, so that the WAL is not held
 *
 * Never writes. Opens the file with the first snapshot, and anew when another file stands in its place (a rebuilt store). How long a
 * statement may run is its owner's to say, by the `tick` that every scan loop calls.
 */
import { statSync } from 'node:fs';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { firstLines, pageRow } from '../pages/page-lines.ts';
import type { PageTemplate } from '../pages/page-template.ts';
import { type PageWriter, pageWriter } from '../pages/page-writer.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { applicationId, formatVersion } from '../sqlite/schema.ts';
import { registerSqlFunctions } from '../sqlite/sql-functions.ts';
import type { PageRequest, PagesRead, PageText } from '../types/page-reader.ts';
import type { Row, Statement } from '../types/statement.ts';
import { type FileDamage, faultOfCode } from '../types/store-fault.ts';
import type { Snapshot } from './reader-messages.ts';

export interface ReadConnectionOptions {
  readonly file: string;
  readonly cachedStatements: number;
  readonly cacheKib: number;
  /** A statement of `all` that gives more rows than this fails. */
  readonly maxRows: number;
  /** Milliseconds to wait for another connection's lock; default 5,000. */
  readonly busyMs?: number;
  readonly clock?: Clock;
  /** Throws when the running statement must end; called by every scan loop, and before each statement. */
  readonly tick: () => void;
}

/** What has been read since the last commit. */
interface Known {
  /** `dataVersion` when it was read. */
  readonly version: number;
  /** When that version was first seen, by the monotonic clock. */
  readonly since: number;
  readonly snapshot: Snapshot;
  readonly rows: WeakMap<Statement, readonly Row[]>;
}

/** Milliseconds that the file is taken to stand in its place without another look. */
const stateValidMs = 10;
/** Milliseconds without a commit after which none is expected; so of all pages few are read for nothing, whatever the rate of commits. */
const sinceCommitMs = 100;
/** Templates made ready that a connection keeps. */
const keptWriters = 500;

export class ReadConnection {
  readonly #options: ReadConnectionOptions;
  readonly #clock: Clock;
  /** Page writers by their template's text. */
  readonly #writers = new BoundedCache<PageWriter>({ entries: keptWriters, weight: keptWriters });
  #open: { readonly database: Database; readonly inode: number } | null = null;
  #known: Known | null = null;
  /** When the file was last looked for, by the monotonic clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReadConnectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** @throws PortolanError CACHE_NOT_READY while there is no store. */
  begin(): Snapshot {
    this.end();
    const database = this.#connect();
    database.statement('BEGIN').run();
    try {
      const version = dataVersion(database);
      if (this.#known?.version !== version) {
        this.#known = { version, since: this.#lookedAt, snapshot: readSnapshot(database), rows: new WeakMap() };
      }
      return this.#known.snapshot;
    } catch (error) {
      database.statement('ROLLBACK').run();
      throw error;
    }
  }

  /** Idempotent. */
  end(): void {
    if (this.#open?.database.inTransaction === true) this.#open.database.statement('ROLLBACK').run();
  }

  /** The statement's rows. @throws PortolanError QUERY_TOO_COSTLY where there are more than allowed. */
  all({ sql, params }: Statement): readonly Row[] {
    this.#options.tick();
    const { maxRows } = this.#options;
    const rows = this.#database().statement(sql).upTo(maxRows, params);
    if (rows === null) {
      throw new PortolanError('QUERY_TOO_COSTLY', `The read gives more than ${maxRows} rows; ask for fewer at a time.`);
    }
    return rows;
  }

  /** Runs the statements in turn until `limit` rows are there. Each limits its rows by itself, so they are read in one go. */
  fill(statements: readonly Statement[], limit: number): readonly Row[] {
    const rows: Row[] = [];
    for (const statement of statements) {
      if (rows.length >= limit) break;
      for (const row of this.#readWhole(statement)) rows.push(row);
    }
    return rows.length > limit ? rows.slice(0, limit) : rows;
  }

  /** The lines of a page's statements (page-lines.ts), run in turn as in `fill`. */
  #lines(statements: readonly Statement[], limit: number): { found: number; lines: string; refused: boolean } {
    let found = 0;
    let refused = false;
    const lines: string[] = [];
    for (const statement of statements) {
      if (found >= limit) break;
      const [row] = this.#readWhole(statement);
      found += Number(row?.[pageRow.found]);
      refused ||= row?.[pageRow.refused] !== 0;
      const some = row?.[pageRow.lines];
      if (typeof some === 'string') lines.push(some);
    }
    return { found: Math.min(found, limit), lines: lines.join('\n'), refused };
  }

  /** The same statement says the same again until something has been committed. */
  #readOnce(statement: Statement): readonly Row[] {
    const { rows } = must(this.#known, 'a statement runs in a snapshot');
    const known = rows.get(statement) ?? this.#readWhole(statement);
    rows.set(statement, known);
    return known;
  }

  /** For few rows: an iterator, which could stop in between, costs as much as many a page. */
  #readWhole({ sql, params }: Statement): readonly Row[] {
    this.#options.tick();
    return this.#database()
      .statement(sql)
      .all(...params);
  }

  /** What one snapshot says to the statements and pages; it is over when this returns. */
  pages(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    const calm = this.#pagesInCalm(statements, pages);
    if (calm !== null) return calm;
    const snapshot = this.begin();
    try {
      return this.pagesIn(snapshot, statements, pages);
    } finally {
      this.end();
    }
  }

  /**
   * The same without a transaction, which costs more than to see afterwards that nothing has been committed meanwhile: then all was
   * read of the snapshot that is known. Null where something has, or is likely to.
   */
  #pagesInCalm(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | null {
    const known = this.#known;
    if (this.#open === null || known === null) return null;
    const now = this.#clock.monotonic();
    if (now - known.since < sinceCommitMs || now - this.#lookedAt > stateValidMs) return null;
    const read = this.pagesIn(known.snapshot, statements, pages);
    return dataVersion(this.#open.database) === known.version ? read : null;
  }

  /** The same in a snapshot that has begun. */
  pagesIn(snapshot: Snapshot, statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    let bytes = 0;
    const rows = statements.map((statement) => this.#readOnce(statement));
    const texts = pages.map((page) => {
      const writer = this.#writerOf(page.template);
      const write = (full: boolean): PageText | null => {
        const { found, lines, refused } = this.#lines(full ? page.fullStatements : page.statements, page.limit);
        bytes += lines.length;
        if (refused && !full) return null;
        const shown = found > page.shown ? firstLines(lines, page.shown) : lines;
        return writer.write({ found, lines: page.reversed ? shown.split('\n').reverse().join('\n') : shown, full });
      };
      return (writer.needsFullLines ? null : write(false)) ?? must(write(true), 'lines that tell all');
    });
    return { ...snapshot, rows, pages: texts, bytes };
  }

  /** Bytes of the write-ahead log while any of it is not written back; between snapshots only. @throws as `begin` does. */
  logBytes(): number {
    return this.#connect().log().heldBytes;
  }

  /** What an error says of the file itself; null where it says nothing. */
  damageIn(error: unknown): FileDamage | null {
    const code = sqliteCodeOf(error);
    if (code === null || this.#open === null || faultOfCode(code) !== 'corrupt') return null;
    return { inode: this.#open.inode, reason: messageOf(error) };
  }

  close(): void {
    this.end();
    this.#open?.database.close();
    this.#open = null;
    this.#known = null;
  }

  #database(): Database {
    return must(this.#open, 'a statement runs in a snapshot').database;
  }

  #connect(): Database {
    const { file, cachedStatements, cacheKib, busyMs = 5000, tick } = this.#options;
    this.#lookedAt = this.#clock.monotonic();
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (inode === undefined) throw notReady();
    if (this.#open?.inode === inode) return this.#open.database;
    this.close();
    const slowMs = Number.POSITIVE_INFINITY;
    const database = new Database(file, { readonly: true, cachedStatements, busyMs, slowMs });
    try {
      if (database.pragma('application_id') !== applicationId || database.pragma('user_version') !== formatVersion) {
        throw notReady();
      }
      database.pragma(`cache_size = -${cacheKib}`);
      database.pragma('temp_store = MEMORY');
      database.pragma('query_only = 1');
      registerSqlFunctions(database, { tick });
    } catch (error) {
      database.close();
      throw error;
    }
    this.#open = { database, inode };
    return database;
  }

  #writerOf(template: string): PageWriter {
    const known = this.#writers.get(template);
    if (known !== undefined) return known;
    const made = pageWriter(JSON.parse(template) as PageTemplate);
    this.#writers.set(template, made, 1);
    return made;
  }
}

/** Of this connection alone: another one after each commit that it comes to see. */
function dataVersion(database: Database): number {
  return Number(must(database.statement('PRAGMA data_version').get(), 'the data version')[0]);
}

function readSnapshot(database: Database): Snapshot {
  const state = database
    .statement(`SELECT s.revision, (SELECT value FROM meta WHERE key = 'epoch'), s.layout_version FROM state s`)
    .get();
  const [revision, epoch, layoutVersion] = must(state, 'the state row');
  return { revision: Number(revision), epoch: String(epoch), layoutVersion: Number(layoutVersion) };
}

function notReady(): PortolanError {
  return new PortolanError('CACHE_NOT_READY', 'The store is not open yet; try again in a moment.');
}
