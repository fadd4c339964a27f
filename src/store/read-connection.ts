/**
 * One read-only connection to a store file: of a reader thread (reader.worker.ts), or of the serve thread (pages-now.ts).
 *
 *   begin: BEGIN, and the first read is the state row, so the snapshot is fixed before anything is answered
 *   all, fill: statements in that snapshot
 *   pages: all of that at once: begin, statements, pages written as text (page-text.ts), end
 *   end: ROLLBACK, at once, so that the WAL is not held
 *
 * Never writes. Opens the file with the first snapshot, and anew when another file stands in its place (a rebuilt store). How long a
 * statement may run is its owner's to say, by the `tick` that every scan loop calls.
 */
import { statSync } from 'node:fs';
import { BoundedCache } from '../base/bounded-cache.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import { must } from '../base/must.ts';
import { Database, sqliteCodeOf } from './database.ts';
import { type PageTemplate, pageWriter } from './page-text.ts';
import type { FileDamage, Snapshot } from './reader-messages.ts';
import { applicationId, formatVersion } from './schema.ts';
import { registerSqlFunctions } from './sql-functions.ts';
import { faultOfCode } from './store-fault.ts';
import { textLength } from './text-length.ts';
import type { PageRequest, PagesRead, PageText, Row, Statement } from './types.ts';

export interface ReadConnectionOptions {
  readonly file: string;
  readonly cachedStatements: number;
  readonly cacheKib: number;
  /** A statement of `all` that gives more rows than this fails. */
  readonly maxRows: number;
  /** Milliseconds to wait for another connection's lock; default 5,000. */
  readonly busyMs?: number;
  /** Throws when the running statement must end; called by every scan loop, and before each statement. */
  readonly tick: () => void;
}

/** Templates made ready that a connection keeps. */
const keptWriters = 500;

export class ReadConnection {
  readonly #options: ReadConnectionOptions;
  /** Page writers by their template's text. */
  readonly #writers = new BoundedCache<ReturnType<typeof pageWriter>>({ entries: keptWriters, weight: keptWriters });
  #open: { readonly database: Database; readonly inode: number } | null = null;

  constructor(options: ReadConnectionOptions) {
    this.#options = options;
  }

  /** @throws PortolanError CACHE_NOT_READY while there is no store. */
  begin(): Snapshot {
    this.end();
    const database = this.#connect();
    database.statement('BEGIN').run();
    try {
      const state = database
        .statement(`SELECT s.revision, (SELECT value FROM meta WHERE key = 'epoch'), s.layout_version FROM state s`)
        .get();
      const [revision, epoch, layoutVersion] = must(state, 'the state row');
      return { revision: Number(revision), epoch: String(epoch), layoutVersion: Number(layoutVersion) };
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

  /** For few rows: an iterator, which could stop in between, costs as much as many a page. */
  #readWhole({ sql, params }: Statement): readonly Row[] {
    this.#options.tick();
    return this.#database()
      .statement(sql)
      .all(...params);
  }

  /** What one snapshot says to the statements and pages; it is over when this returns. */
  pages(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    const snapshot = this.begin();
    try {
      return this.pagesIn(snapshot, statements, pages);
    } finally {
      this.end();
    }
  }

  /** The same in a snapshot that has begun. */
  pagesIn(snapshot: Snapshot, statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead {
    let bytes = 0;
    const rows = statements.map((statement) => this.#readWhole(statement));
    const texts = pages.map((page) => {
      const found = this.fill(page.statements, page.limit);
      for (const row of found) bytes += textLength(row);
      return this.#pageText(found, page);
    });
    return { ...snapshot, rows, pages: texts, bytes };
  }

  /** Bytes of the write-ahead log while any of it is not written back; between snapshots only. @throws as `begin` does. */
  logBytes(): number {
    const { bytes, pendingBytes } = this.#connect().log();
    return pendingBytes === 0 ? 0 : bytes;
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
  }

  #database(): Database {
    return must(this.#open, 'a statement runs in a snapshot').database;
  }

  #connect(): Database {
    const { file, cachedStatements, cacheKib, busyMs = 5000, tick } = this.#options;
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

  #pageText(found: readonly Row[], { shown, reversed, template }: PageRequest): PageText {
    const rows = found.slice(0, shown);
    return this.#writerOf(template)(reversed ? rows.reverse() : rows, found.length);
  }

  #writerOf(template: string): ReturnType<typeof pageWriter> {
    const known = this.#writers.get(template);
    if (known !== undefined) return known;
    const made = pageWriter(JSON.parse(template) as PageTemplate);
    this.#writers.set(template, made, 1);
    return made;
  }
}

function notReady(): PortolanError {
  return new PortolanError('CACHE_NOT_READY', 'The store is not open yet; try again in a moment.');
}
