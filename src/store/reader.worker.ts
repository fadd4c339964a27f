/**
 * A reader thread: one read-only connection, lent to one lease at a time.
 *
 *   begin: BEGIN, and the first read is the state row, so the snapshot is fixed before anything is answered
 *   all, fill: statements in that snapshot; `tick()` ends them when the lease is cancelled, over its time, or the thread must end
 *   pages: all of that in one message: BEGIN, statements, pages written as text (page-text.ts), ROLLBACK
 *   end, or the lease's time is up: ROLLBACK, at once, so that the WAL is not held
 *
 * Never writes. Opens the file with the first lease, and anew when another file stands in its place (a rebuilt store).
 */
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { BoundedCache } from '../base/bounded-cache.ts';
import { type ErrorCode, messageOf, PortolanError } from '../base/errors.ts';
import { must } from '../base/must.ts';
import { Database, sqliteCodeOf } from './database.ts';
import { type PageTemplate, pageWriter } from './page-text.ts';
import {
  type FileDamage,
  flags as places,
  type ReaderReply,
  type ReaderRequest,
  type ReaderWorkerData,
  type Snapshot,
} from './reader-messages.ts';
import { applicationId, formatVersion } from './schema.ts';
import { registerSqlFunctions } from './sql-functions.ts';
import { faultOfCode } from './store-fault.ts';
import type { PageRequest, PagesRead, PageText, Row, Statement } from './types.ts';

const port = must(parentPort, 'the port of a worker thread');
const { file, flags, cachedStatements, cacheKib, maxRows } = workerData as ReaderWorkerData;

let open: { readonly database: Database; readonly inode: number } | null = null;
/** Number of the running lease; 0 when there is none. */
let current = 0;
let deadline = 0;
let cut: NodeJS.Timeout | null = null;

port.on('message', (request: ReaderRequest) => {
  switch (request.op) {
    case 'begin':
      return answer(request.call, () => ({
        kind: 'begun',
        call: request.call,
        snapshot: begin(request.lease, request.timeoutMs),
      }));
    case 'all':
      return answer(request.call, () => {
        const { call, lease, statement } = request;
        return { kind: 'rows', call, rows: all(lease, statement) };
      });
    case 'fill':
      return answer(request.call, () => {
        const { call, lease, statements, limit } = request;
        return { kind: 'rows', call, rows: fill(lease, statements, limit) };
      });
    case 'pages':
      return answer(request.call, () => ({ kind: 'pages', call: request.call, read: readPages(request) }));
    case 'end':
      if (request.lease === current) end();
      return;
    case 'close':
      end();
      open?.database.close();
      port.close();
  }
});

function answer(call: number, work: () => ReaderReply): void {
  let reply: ReaderReply;
  try {
    reply = work();
  } catch (error) {
    const damage = damageIn(error);
    reply = {
      kind: 'failed',
      call,
      code: codeFor(error),
      message:
        damage === null ? messageOf(error) : 'The store is damaged and is being made anew; try again in a moment.',
      ...(damage === null ? {} : { damage }),
    };
  }
  port.postMessage(reply);
}

function codeFor(error: unknown): ErrorCode {
  if (error instanceof PortolanError) return error.code;
  // These pass by themselves: the store is being rebuilt, or will be for this error, or a table was made just now.
  const code = sqliteCodeOf(error);
  return code !== null && /^SQLITE_(BUSY|SCHEMA|CANTOPEN|NOTADB|CORRUPT)/.test(code)
    ? 'CACHE_NOT_READY'
    : 'INTERNAL_SERVER_ERROR';
}

function damageIn(error: unknown): FileDamage | null {
  const code = sqliteCodeOf(error);
  if (code === null || open === null || faultOfCode(code) !== 'corrupt') return null;
  return { inode: open.inode, reason: messageOf(error) };
}

function begin(lease: number, timeoutMs: number): Snapshot {
  end();
  const database = connect();
  database.statement('BEGIN').run();
  try {
    const state = database
      .statement(`SELECT s.revision, (SELECT value FROM meta WHERE key = 'epoch'), s.layout_version FROM state s`)
      .get();
    const [revision, epoch, layoutVersion] = must(state, 'the state row');
    current = lease;
    deadline = performance.now() + timeoutMs;
    cut = setTimeout(end, timeoutMs);
    return { revision: Number(revision), epoch: String(epoch), layoutVersion: Number(layoutVersion) };
  } catch (error) {
    database.statement('ROLLBACK').run();
    throw error;
  }
}

function end(): void {
  current = 0;
  if (cut !== null) clearTimeout(cut);
  cut = null;
  if (open?.database.inTransaction === true) open.database.statement('ROLLBACK').run();
}

function connect(): Database {
  const inode = statSync(file, { throwIfNoEntry: false })?.ino;
  if (inode === undefined) throw notReady();
  if (open?.inode === inode) return open.database;
  open?.database.close();
  open = null;
  const database = new Database(file, { readonly: true, cachedStatements, slowMs: Number.POSITIVE_INFINITY });
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
  open = { database, inode };
  return database;
}

function notReady(): PortolanError {
  return new PortolanError('CACHE_NOT_READY', 'The store is not open yet; try again in a moment.');
}

function tick(): void {
  if (Atomics.load(flags, places.cancelled) === current || Atomics.load(flags, places.closing) === 1) {
    throw new PortolanError('TIMEOUT', 'The read was cancelled.');
  }
  if (performance.now() > deadline) throw timeIsUp();
}

function timeIsUp(): PortolanError {
  return new PortolanError('TIMEOUT', 'The read took longer than it may; narrow the filter or ask for less.');
}

function ask(lease: number, statement: Statement): Row[] {
  if (lease !== current || open === null) throw timeIsUp();
  tick();
  const rows = open.database.statement(statement.sql).upTo(maxRows, statement.params);
  if (rows === null) {
    throw new PortolanError('QUERY_TOO_COSTLY', `The read gives more than ${maxRows} rows; ask for fewer at a time.`);
  }
  return rows;
}

function all(lease: number, statement: Statement): readonly Row[] {
  return ask(lease, statement);
}

function fill(lease: number, statements: readonly Statement[], limit: number): readonly Row[] {
  const rows: Row[] = [];
  for (const statement of statements) {
    if (rows.length >= limit) break;
    for (const row of ask(lease, statement)) rows.push(row);
  }
  return rows.length > limit ? rows.slice(0, limit) : rows;
}

function readPages(request: Extract<ReaderRequest, { op: 'pages' }>): PagesRead {
  const { lease, statements, pages } = request;
  const snapshot = begin(lease, request.timeoutMs);
  try {
    let bytes = 0;
    const rows = statements.map((statement) => ask(lease, statement));
    const texts = pages.map((page) => {
      const found = fill(lease, page.statements, page.limit);
      for (const row of found) bytes += lengthOf(row);
      return pageText(found, page);
    });
    return { ...snapshot, rows, pages: texts, bytes };
  } finally {
    end();
  }
}

function lengthOf(row: Row): number {
  let length = 0;
  for (const value of row) if (typeof value === 'string') length += value.length;
  return length;
}

function pageText(found: readonly Row[], { shown, reversed, template }: PageRequest): PageText {
  const rows = found.slice(0, shown);
  return writerOf(template)(reversed ? rows.reverse() : rows, found.length);
}

const keptWriters = 500;
/** Writers by their template's text. */
const writers = new BoundedCache<ReturnType<typeof pageWriter>>({ entries: keptWriters, weight: keptWriters });

function writerOf(template: string): ReturnType<typeof pageWriter> {
  const known = writers.get(template);
  if (known !== undefined) return known;
  const made = pageWriter(JSON.parse(template) as PageTemplate);
  writers.set(template, made, 1);
  return made;
}
