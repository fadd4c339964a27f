/**
 * Wraps one SQLite connection. Only this file imports better-sqlite3.
 *
 * Owns: a bounded cache of prepared statements, the statement text in every error, and the log of slow statements.
 * Never logs parameters, because they contain bodies.
 */
import BetterSqlite from 'better-sqlite3';
import type { Logger } from '../../base/log.ts';
import { silentLogger } from '../../base/log.ts';
import type { Row, SqlValue } from '../types/statement.ts';
import { StoreFault } from '../types/store-fault.ts';

interface DatabaseOptions {
  readonly readonly?: boolean;
  readonly mustExist?: boolean;
  /** Milliseconds that SQLite waits for another connection's lock; default 5,000. */
  readonly busyMs?: number;
  readonly log?: Logger;
  /** Statements that take longer are logged; default one second. */
  readonly slowMs?: number;
}

/** Prepared statements that a connection keeps. */
const mostStatements = 500;
/** Milliseconds for which a transaction tries to begin. */
const beginWaitMs = 5000;
/** Size of the header before each page in the log. */
const frameHeaderBytes = 24;
/** Never notified; used only to sleep. */
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** An application-defined SQL function. */
type SqlFunction = (...args: readonly SqlValue[]) => SqlValue;

/** An application-defined aggregate over the rows of a group. */
interface SqlAggregate<State> {
  readonly start: () => State;
  readonly step: (state: State, ...args: readonly SqlValue[]) => void;
  readonly result: (state: State) => SqlValue;
}

/** Size of the write-ahead log up to its last frame, and of the part that is not in the database file yet. */
interface LogSize {
  readonly bytes: number;
  readonly pendingBytes: number;
  /** `bytes`, or 0 once all is written back. The next commit then restarts the log, unless a snapshot still reads from it. */
  readonly heldBytes: number;
}

/** Values of named parameters (`@name`). They follow the positional ones. */
export type NamedValues = Readonly<Record<string, SqlValue>>;

interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number;
}

/** An error of SQLite with its code (`SQLITE_BUSY`) and the statement it came from. */
export class DatabaseError extends Error {
  readonly sqliteCode: string;
  readonly sql: string;

  constructor(cause: Error & { code: string }, sql: string) {
    super(`${cause.message} (${cause.code}) in: ${sql.length > 400 ? `${sql.slice(0, 400)}…` : sql}`, { cause });
    this.name = 'DatabaseError';
    this.sqliteCode = cause.code;
    this.sql = sql;
  }
}

/** The SQLite code of a thrown value, or null when it is no error of SQLite. */
export function sqliteCodeOf(error: unknown): string | null {
  if (error instanceof StoreFault) return sqliteCodeOf(error.cause);
  if (error instanceof DatabaseError) return error.sqliteCode;
  return error instanceof BetterSqlite.SqliteError ? error.code : null;
}

/** Limits of SQLite on one statement. They have no codes of their own. */
const statementLimits =
  /too large|too many|too big|too long|too complex|stack overflow|recursion limit|at most \d+ tables|nested too deep|variable number/i;

/** Whether the statement is more than SQLite takes: its depth, terms, columns, parameters or length. */
export function exceedsLimits(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || !(error.cause instanceof Error)) return false;
  return (
    error.sqliteCode === 'SQLITE_TOOBIG' ||
    (error.sqliteCode === 'SQLITE_ERROR' && statementLimits.test(error.cause.message))
  );
}

/** Whether SQLite refused a JSON text, for example because it is too deep. SQLite has no error code for it. */
export function refusesJson(error: unknown): boolean {
  return error instanceof DatabaseError && error.cause instanceof Error && error.cause.message === 'malformed JSON';
}

/** A prepared statement; rows are arrays. */
class PreparedStatement {
  readonly sql: string;
  readonly #statement: BetterSqlite.Statement<unknown[], unknown>;
  readonly #database: Database;

  constructor(database: Database, statement: BetterSqlite.Statement<unknown[], unknown>, sql: string) {
    this.#database = database;
    this.#statement = statement;
    this.sql = sql;
    if (statement.reader) statement.raw(true);
  }

  run(...params: readonly (SqlValue | NamedValues)[]): RunResult {
    const started = performance.now();
    try {
      const result = this.#statement.run(...params);
      return { changes: result.changes, lastInsertRowid: Number(result.lastInsertRowid) };
    } catch (error) {
      throw this.#database.explain(error, this.sql);
    } finally {
      this.#database.watch(started, this.sql);
    }
  }

  get(...params: readonly SqlValue[]): Row | undefined {
    const started = performance.now();
    try {
      return this.#statement.get(...params) as Row | undefined;
    } catch (error) {
      throw this.#database.explain(error, this.sql);
    } finally {
      this.#database.watch(started, this.sql);
    }
  }

  all(...params: readonly SqlValue[]): Row[] {
    const started = performance.now();
    try {
      return this.#statement.all(...params) as Row[];
    } catch (error) {
      throw this.#database.explain(error, this.sql);
    } finally {
      this.#database.watch(started, this.sql);
    }
  }

  /** Reads at most `limit` rows; null when there are more. */
  upTo(limit: number, params: readonly SqlValue[]): Row[] | null {
    const started = performance.now();
    try {
      const rows: Row[] = [];
      for (const row of this.#statement.iterate(...params)) {
        if (rows.length === limit) return null;
        rows.push(row as Row);
      }
      return rows;
    } catch (error) {
      throw this.#database.explain(error, this.sql);
    } finally {
      this.#database.watch(started, this.sql);
    }
  }
}

export class Database {
  readonly file: string;
  readonly #connection: BetterSqlite.Database;
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #slowMs: number;
  readonly #log: Logger;
  #frameBytes: number | null = null;
  #translate: (error: DatabaseError) => Error = (error) => error;

  constructor(file: string, options: DatabaseOptions = {}) {
    this.file = file;
    this.#log = options.log ?? silentLogger;
    this.#slowMs = options.slowMs ?? 1000;
    this.#connection = new BetterSqlite(file, {
      readonly: options.readonly ?? false,
      fileMustExist: options.mustExist ?? options.readonly ?? false,
      timeout: options.busyMs ?? 5000,
    });
  }

  /** Sets the function that maps each SQLite error to the error to throw. */
  onError(translate: (error: DatabaseError) => Error): void {
    this.#translate = translate;
  }

  get inTransaction(): boolean {
    return this.#connection.inTransaction;
  }

  /**
   * Returns the prepared statement of this text, from an LRU cache. Write a parameter of a LIMIT as `+?`: with a bare one SQLite
   * plans the statement again whenever its value changes.
   */
  statement(sql: string): PreparedStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) {
      if (this.#statements.size > mostStatements / 2) {
        this.#statements.delete(sql);
        this.#statements.set(sql, known);
      }
      return known;
    }
    let prepared: PreparedStatement;
    try {
      prepared = new PreparedStatement(this, this.#connection.prepare(sql), sql);
    } catch (error) {
      throw this.explain(error, sql);
    }
    if (this.#statements.size >= mostStatements) {
      for (const oldest of this.#statements.keys()) {
        this.#statements.delete(oldest);
        break;
      }
    }
    this.#statements.set(sql, prepared);
    return prepared;
  }

  /** Runs statements that have no parameters and return no rows. */
  exec(sql: string): void {
    const started = performance.now();
    try {
      this.#connection.exec(sql);
    } catch (error) {
      throw this.explain(error, sql);
    } finally {
      this.watch(started, sql);
    }
  }

  /** The first column of the first row of a pragma's result. */
  pragma(text: string): unknown {
    try {
      return this.#connection.pragma(text, { simple: true });
    } catch (error) {
      throw this.explain(error, `PRAGMA ${text}`);
    }
  }

  pragmaRow(text: string): Readonly<Record<string, unknown>> {
    try {
      const rows = this.#connection.pragma(text) as readonly Record<string, unknown>[];
      return rows[0] ?? {};
    } catch (error) {
      throw this.explain(error, `PRAGMA ${text}`);
    }
  }

  /** Makes a function callable from SQL. A deterministic one must always return the same result for the same arguments. */
  define(name: string, options: { readonly deterministic: boolean; readonly arity: number }, body: SqlFunction): void {
    const wrapped = Object.defineProperty((...args: SqlValue[]) => body(...args), 'length', { value: options.arity });
    this.#connection.function(name, { deterministic: options.deterministic, varargs: false }, wrapped);
  }

  /** Makes a deterministic aggregate callable from SQL: a state for each group, `step` for each row, `result` at the end. */
  defineAggregate<State>(name: string, arity: number, { start, step, result }: SqlAggregate<State>): void {
    const wrapped = Object.defineProperty(
      (state: State, ...args: unknown[]) => {
        step(state, ...(args as SqlValue[]));
      },
      'length',
      { value: arity + 1 },
    );
    this.#connection.aggregate(name, { start, step: wrapped, result, deterministic: true, varargs: false });
  }

  /** Makes a table of the rows that a function gives for one argument: `SELECT … FROM name(argument)`. */
  defineTable(name: string, columns: readonly string[], rows: (argument: SqlValue) => Iterable<Row>): void {
    this.#connection.table(name, {
      columns: [...columns],
      parameters: ['argument'],
      *rows(argument: unknown) {
        yield* rows(argument as SqlValue) as Iterable<unknown[]>;
      },
    });
  }

  /** Runs `work` in one write transaction; an error rolls it back. */
  transaction<T>(work: () => T): T {
    this.begin();
    return this.finish(() => {
      const result = work();
      this.commit();
      return result;
    });
  }

  /** Runs `work` inside the open transaction, which `work` may commit. An error rolls the transaction back. */
  finish<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // SQLite has rolled back by itself after some errors (disk full, I/O).
      if (this.#connection.inTransaction) this.#rollback();
      throw error;
    }
  }

  #rollback(): void {
    try {
      this.#connection.exec('ROLLBACK');
    } catch (error) {
      // The caller gets the first error. A connection that cannot roll back loses its transaction with its next lock.
      this.#log.warn({ error: error instanceof Error ? error.message : String(error) }, 'a rollback failed');
    }
  }

  commit(): void {
    this.statement('COMMIT').run();
  }

  /**
   * Takes the write lock. SQLite's busy handler sleeps up to 100 ms between two tries; a checkpoint holds the lock far shorter.
   * A connection without the handler (`PRAGMA busy_timeout = 0`) therefore tries every millisecond here.
   */
  begin(): void {
    const begin = this.statement('BEGIN IMMEDIATE');
    const deadline = performance.now() + beginWaitMs;
    for (;;) {
      try {
        begin.run();
        return;
      } catch (error) {
        if (sqliteCodeOf(error) !== 'SQLITE_BUSY' || performance.now() > deadline) throw error;
      }
      Atomics.wait(sleeping, 0, 0, 1);
    }
  }

  /**
   * The size of the write-ahead log. Call it outside a transaction only; inside one SQLite fails with SQLITE_LOCKED.
   * SQLite reads the header of the log's index (https://sqlite.org/walformat.html), so the call is cheap.
   */
  log(): LogSize {
    const [, frames = 0, backfilled = 0] = (this.statement('PRAGMA main.wal_checkpoint(NOOP)').get() ?? []).map(Number);
    this.#frameBytes ??= Number(this.pragma('page_size')) + frameHeaderBytes;
    const bytes = Math.max(0, frames) * this.#frameBytes;
    const pendingBytes = Math.max(0, frames - backfilled) * this.#frameBytes;
    return { bytes, pendingBytes, heldBytes: pendingBytes === 0 ? 0 : bytes };
  }

  /**
   * Writes the whole log back, so that the next commit restarts it; false when other connections blocked it for `patienceMs`.
   * The log file keeps its size and is overwritten; truncating it would hold the lock many times as long.
   * For a connection without SQLite's busy handler, as in `begin`. SQLite refuses a second checkpoint at once, whatever the busy
   * timeout, so this method waits for a running one.
   */
  restartLog(patienceMs: number): boolean {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        this.#connection.pragma(`busy_timeout = ${Math.max(1, Math.round(deadline - performance.now()))}`);
        const [row] = this.#connection.pragma('main.wal_checkpoint(RESTART)') as readonly { busy: number }[];
        if (row?.busy === 0) return true;
      } catch (error) {
        if (!(sqliteCodeOf(error)?.startsWith('SQLITE_BUSY') ?? false)) throw this.explain(error, 'wal_checkpoint');
      } finally {
        this.#connection.pragma('busy_timeout = 0');
      }
      if (performance.now() >= deadline) return false;
      Atomics.wait(sleeping, 0, 0, 1);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  /** Maps an error that a statement threw: SQLite's errors get the statement's text, all others stay as they are. */
  explain(error: unknown, sql: string): unknown {
    return error instanceof BetterSqlite.SqliteError ? this.#translate(new DatabaseError(error, sql)) : error;
  }

  watch(started: number, sql: string): void {
    const took = performance.now() - started;
    if (took > this.#slowMs) this.#log.warn({ sql: sql.slice(0, 400), ms: Math.round(took) }, 'a statement was slow');
  }
}
