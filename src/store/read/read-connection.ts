/**
 * One read-only connection to a store file: of a reader thread (reader.worker.ts), or of the serve thread (pages-now.ts).
 *
 *   begin      BEGIN, then the state row is read, which fixes the snapshot
 *   all, fill  statements in that snapshot
 *   pages      begin, statements, pages written as text (page-writer.ts), end; rows of statements are cached until the next commit
 *   end        ROLLBACK at once, because a snapshot prevents the WAL from restarting
 *
 * Never writes. Opens the file with the first snapshot, and again when another file has replaced it (a rebuilt store). The owner limits
 * the time of a statement by the `tick` that every scan loop calls.
 *
 * Looks at the seal after each read (src/store/file/file-seal.ts): what was read from a file that another program changed is never
 * returned.
 */
import { statSync } from 'node:fs';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { FileSeal, type SealMemory } from '../file/file-seal.ts';
import { firstLines, pageRow } from '../pages/page-lines.ts';
import type { PageTemplate } from '../pages/page-template.ts';
import { type PageWriter, pageWriter, type RelatedLines, type RelatedReader } from '../pages/page-writer.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { applicationId, formatVersion } from '../sqlite/schema.ts';
import { registerSqlFunctions } from '../sqlite/sql-functions.ts';
import type { PageRequest, PagesRead, PageText, RelatedRequest } from '../types/page-reader.ts';
import type { Row, Statement } from '../types/statement.ts';
import { type FileDamage, faultOfCode } from '../types/store-fault.ts';
import type { Snapshot } from './reader-messages.ts';

export interface ReadConnectionOptions {
  readonly file: string;
  readonly cacheKib: number;
  /** A statement of `all` that returns more rows than this fails. */
  readonly maxRows: number;
  /** Milliseconds to wait for another connection's lock; default 5,000. */
  readonly busyMs?: number;
  readonly clock?: Clock;
  /** Shared with the writer of the file; without it, another program's writes are not noticed here. */
  readonly seal?: SealMemory | undefined;
  /** Throws when the running statement must end; called by every scan loop, and before each statement. */
  readonly tick: () => void;
}

/** The snapshot and the rows that were read since the last commit. */
interface Known {
  /** The `dataVersion` of the snapshot. */
  readonly version: number;
  /** As the statements of pages tell it (pageRow.state). */
  readonly state: string;
  /** The time when that version was first seen, by the monotonic clock. */
  readonly since: number;
  readonly snapshot: Snapshot;
  readonly rows: WeakMap<Statement, readonly Row[]>;
}

/** The files are not those of the store any more. */
class FilesLost extends PortolanError {
  readonly reason: string;

  constructor(reason: string) {
    super('CACHE_NOT_READY', `The store is made anew, because ${reason}; try again in a moment.`);
    this.reason = reason;
  }
}

/** Thrown by a page that was read after a commit; never leaves this file. */
const otherState = new Error('the page is of another state of the store');

/** Milliseconds for which the result of the last check of the file is valid. */
const stateValidMs = 10;
/**
 * Pages are read without a transaction only if no commit was seen for this many milliseconds. A commit during the read makes it
 * useless, so this wait keeps the share of useless reads small at any rate of commits.
 */
const sinceCommitMs = 100;
/** Compiled templates that a connection keeps. */
const keptWriters = 500;

export class ReadConnection {
  readonly #options: ReadConnectionOptions;
  readonly #clock: Clock;
  readonly #seal: FileSeal;
  /** Page writers by their template's text. */
  readonly #writers = new BoundedCache<PageWriter>({ entries: keptWriters, weight: keptWriters });
  #open: { readonly database: Database; readonly inode: number } | null = null;
  #known: Known | null = null;
  /** Pages that were read in the state of the known snapshot, since the start. */
  #pagesProved = 0;
  /** The time of the last check of the file, by the monotonic clock. */
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReadConnectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#seal = new FileSeal(options.file, options.seal);
  }

  /** @throws PortolanError CACHE_NOT_READY while there is no store. */
  begin(): Snapshot {
    this.end();
    const database = this.#connect();
    database.statement('BEGIN').run();
    return database.finish(() => {
      const version = dataVersion(database);
      if (this.#known?.version !== version) {
        const snapshot = readSnapshot(database);
        const state = `${snapshot.revision} ${snapshot.layoutVersion}`;
        this.#known = { version, state, since: this.#checkedAt, snapshot, rows: new WeakMap() };
      }
      return this.#known.snapshot;
    });
  }

  /** Idempotent. */
  end(): void {
    if (this.#open?.database.inTransaction === true) this.#open.database.statement('ROLLBACK').run();
  }

  /** The statement's rows. @throws PortolanError QUERY_TOO_COSTLY for more than `maxRows`. */
  all({ sql, params }: Statement): readonly Row[] {
    this.#options.tick();
    const { maxRows } = this.#options;
    const rows = this.#sealed(() => this.#database().statement(sql).upTo(maxRows, params));
    if (rows === null) {
      throw new PortolanError('QUERY_TOO_COSTLY', `The read gives more than ${maxRows} rows; ask for fewer at a time.`);
    }
    return rows;
  }

  /** Runs the statements in turn until they have returned `limit` rows. Each statement has its own LIMIT, so all its rows are read. */
  fill(statements: readonly Statement[], limit: number): readonly Row[] {
    return this.#sealed(() => this.#fill(statements, limit));
  }

  #fill(statements: readonly Statement[], limit: number): readonly Row[] {
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
      const row = this.#readPage(statement);
      found += Number(row[pageRow.found]);
      refused ||= row[pageRow.refused] !== 0;
      const some = row[pageRow.lines];
      if (typeof some === 'string') lines.push(some);
    }
    return { found: Math.min(found, limit), lines: lines.join('\n'), refused };
  }

  /** The statement's rows, cached by the statement object until the next commit. */
  #readOnce(statement: Statement): readonly Row[] {
    const { rows } = must(this.#known, 'a statement runs in a snapshot');
    const known = rows.get(statement) ?? this.#readWhole(statement);
    rows.set(statement, known);
    return known;
  }

  /** The one row of a page's statement (pageRow). @throws otherState unless it read the known snapshot */
  #readPage(statement: Statement): Row {
    const row = must(this.#readWhole(statement)[0], 'the row of a page');
    if (row[pageRow.state] !== this.#known?.state) throw otherState;
    this.#pagesProved += 1;
    return row;
  }

  /** Reads all rows at once. For few rows: an iterator, which could stop early, takes as long as reading a short page. */
  #readWhole({ sql, params }: Statement): readonly Row[] {
    this.#options.tick();
    return this.#database()
      .statement(sql)
      .all(...params);
  }

  /** Reads the statements and pages in one snapshot, and ends the snapshot. */
  pages(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    return this.#sealed(() => this.#pages(statements, pages));
  }

  #pages(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    const direct = this.#pagesWithoutTransaction(statements, pages);
    if (direct !== null) return direct;
    const snapshot = this.begin();
    try {
      return this.#pagesIn(snapshot, statements, pages);
    } finally {
      this.end();
    }
  }

  /**
   * The same without a transaction, which takes less time. Each statement of a page tells the state that it read, and the rows of the
   * other statements must be known. If no page was read, an equal data version proves that there was no commit. Null if there was a commit
   * meanwhile, or one is likely.
   */
  #pagesWithoutTransaction(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | null {
    const known = this.#known;
    if (this.#open === null || known === null) return null;
    const now = this.#clock.monotonic();
    if (now - known.since < sinceCommitMs || now - this.#checkedAt > stateValidMs) return null;
    if (!statements.every((statement) => known.rows.has(statement))) return null;
    const before = this.#pagesProved;
    let read: PagesRead;
    try {
      read = this.#pagesIn(known.snapshot, statements, pages);
    } catch (error) {
      if (error === otherState) return null;
      throw error;
    }
    const isProved = this.#pagesProved > before || dataVersion(this.#open.database) === known.version;
    return isProved ? read : null;
  }

  /** The same in an open snapshot, or in a known one. */
  pagesIn(snapshot: Snapshot, statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    return this.#sealed(() => this.#pagesIn(snapshot, statements, pages));
  }

  #pagesIn(snapshot: Snapshot, statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    let bytes = 0;
    const rows = statements.map((statement) => this.#readOnce(statement));
    const texts = pages.map((page) => {
      const charge = (characters: number): void => {
        bytes += characters;
        if (bytes > page.mostCharacters) {
          throw new PortolanError('QUERY_TOO_COSTLY', `The answer has more than ${page.mostCharacters} characters.`);
        }
      };
      const related = page.related.map((request) => this.#relatedReader(request, charge));
      const writer = this.#writerOf(page.template);
      const write = (full: boolean): PageText | null => {
        const { found, lines, refused } = this.#lines(full ? page.fullStatements : page.statements, page.limit);
        bytes += lines.length;
        if (refused && !full) return null;
        const shown = found > page.shown ? firstLines(lines, page.shown) : lines;
        const inOrder = page.reversed ? shown.split('\n').reverse().join('\n') : shown;
        return writer.write({ found, lines: inOrder, full }, related);
      };
      return (writer.needsFullLines ? null : write(false)) ?? must(write(true), 'the text of full lines');
    });
    return { ...snapshot, rows, pages: texts, bytes };
  }

  #relatedReader(
    { statement, fullStatement, shown, related }: RelatedRequest,
    charge: (characters: number) => void,
  ): RelatedReader {
    return {
      shown,
      charge,
      related: related.map((request) => this.#relatedReader(request, charge)),
      read: (ids, full): RelatedLines => {
        const { sql, params } = full ? fullStatement : statement;
        const row = this.#readPage({ sql, params: [JSON.stringify(ids), ...params.slice(1)] });
        return {
          lines: String(row[pageRow.lines] ?? ''),
          ids: JSON.parse(String(row[pageRow.ids] ?? '[]')) as readonly (readonly number[])[],
          refused: row[pageRow.refused] !== 0,
        };
      },
    };
  }

  /** Bytes of the write-ahead log; 0 once all of it is written back. Call between snapshots only. @throws as `begin` does. */
  logBytes(): number {
    return this.#connect().log().heldBytes;
  }

  /** The result of `read`, if the files are still those of the store. An error that comes of changed files is replaced. */
  #sealed<T>(read: () => T): T {
    let result: T;
    try {
      result = read();
    } catch (error) {
      this.#refuseIfLost();
      throw error;
    }
    this.#refuseIfLost();
    return result;
  }

  #refuseIfLost(): void {
    const broken = this.#seal.broken();
    if (broken !== null) throw new FilesLost(broken);
  }

  /** The damage of the file that an error reports; null for any other error, and for what the process that writes the file finds itself. */
  damageIn(error: unknown): FileDamage | null {
    if (error instanceof FilesLost) {
      return this.#seal.isOfOther ? null : this.#open && { inode: this.#open.inode, reason: error.reason };
    }
    const code = sqliteCodeOf(error);
    if (code === null || this.#open === null || faultOfCode(code) !== 'lost') return null;
    return { inode: this.#open.inode, reason: messageOf(error) };
  }

  close(): void {
    this.end();
    this.#open?.database.close();
    this.#seal.release();
    this.#open = null;
    this.#known = null;
  }

  #database(): Database {
    return must(this.#open, 'a statement runs in a snapshot').database;
  }

  #connect(): Database {
    const { file, cacheKib, busyMs = 5000, tick } = this.#options;
    this.#checkedAt = this.#clock.monotonic();
    if (this.#seal.isLost) this.#refuseIfLost();
    const inode = this.#inodeAt(file);
    if (inode === undefined) {
      this.#refuseIfLost();
      throw notReady();
    }
    if (this.#open?.inode === inode) return this.#open.database;
    this.close();
    const slowMs = Number.POSITIVE_INFINITY;
    const database = new Database(file, { readonly: true, busyMs, slowMs });
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

  /** Undefined where there is no file. While the path may not be looked at, the file that is open is the one. */
  #inodeAt(file: string): number | undefined {
    try {
      return statSync(file, { throwIfNoEntry: false })?.ino;
    } catch (error) {
      if (this.#open !== null) return this.#open.inode;
      throw error;
    }
  }

  #writerOf(template: string): PageWriter {
    const known = this.#writers.get(template);
    if (known !== undefined) return known;
    const made = pageWriter(JSON.parse(template) as PageTemplate);
    this.#writers.set(template, made, 1);
    return made;
  }
}

/** Comparable only within this connection. It changes when the connection sees commits of another one. */
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
