/**
 * Opens the store file for its single writer: creates, checks or rebuilds the file, and locks it.
 *
 *   lock -> inspect the file -> (new | resume | unclean: check | older format or damaged: rebuild | newer format: set aside) -> tables
 *
 * Never removes the file of another program: a foreign file is an error. Where a store of Portolan has been before, it is set aside, and
 * the gateway goes on. A rebuild costs only time, because the API server has the data. It is logged as a warning and starts a new epoch,
 * so that old cursors get GAP. A file of a newer version is kept under another name, for a return to that version.
 *
 * A running writer whose file is damaged or changed leaves a note beside the file, because a check does not find all damage. The next
 * opening then rebuilds the file. In a folder that cannot be written there is no note: the caller says `lost`. A new file is filled without
 * syncs, and rebuilt if the machine crashes meanwhile (unsynced-fill.ts).
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { applicationId, formatVersion, schemaStatements, stagingStatements } from '../sqlite/schema.ts';
import { refuseOldSqlite } from '../sqlite/sqlite-version.ts';
import { folderFaultOf } from './folder-fault.ts';
import { makePrivate, makePrivateFile, makePrivateFolder } from './private-file.ts';
import { beginUnsyncedFill, thisBoot, unsyncedFillOf } from './unsynced-fill.ts';

/** See sqlite.org/fileformat2.html: the application id is at offset 68. */
const headerBytes = 100;

export interface OpenStoreOptions {
  readonly log: Logger;
  /** Creates the epoch of a new file; default a random UUID. */
  readonly newEpoch?: () => string;
  /** Milliseconds to wait for another process to release the file; default 2,000. */
  readonly lockWaitMs?: number;
  /** KiB of pages that the connection keeps in memory; default 48,000. */
  readonly cacheKib?: number;
  /** The id of this boot of the machine; null where it has none. Default: the kernel's boot id. */
  readonly boot?: string | null;
  /** Why whatever is at the path must be made anew, or null. */
  readonly lost?: string | null;
  /** Only this process reads the file while it is open: the index of its log loses its name. Default false. */
  readonly ownProcessOnly?: boolean;
}

export interface OpenedStore {
  readonly database: Database;
  readonly epoch: string;
  readonly outcome: 'created' | 'resumed' | 'rebuilt';
  /** The file is being filled for the first time, without syncs (unsynced-fill.ts). */
  readonly unsyncedFill: boolean;
  /** Marks the file as properly closed, and releases it. */
  close(): void;
  /** Releases a damaged file, and leaves the note that makes the next start rebuild it. Never throws. */
  abandon(reason: string): void;
}

/**
 * Opens `file` as a store with its staging file attached as `staging`.
 * @throws PortolanError CONFIGURATION for a foreign or a locked file, and for a folder with a fault.
 */
export function openStore(file: string, options: OpenStoreOptions): OpenedStore {
  try {
    return open(file, options);
  } catch (error) {
    throw error instanceof PortolanError ? error : (folderFaultOf(file, error) ?? error);
  }
}

function open(file: string, options: OpenStoreOptions): OpenedStore {
  makeRoomFor(file);
  const lost = options.lost ?? null;
  const known = lost !== null || wasStore(file);
  if (!known) refuseForeign(file);
  const lock = takeLock(file, options.lockWaitMs ?? 2000);
  let database: Database | null = null;
  try {
    let outcome: OpenedStore['outcome'] = 'created';
    const boot = options.boot === undefined ? thisBoot() : options.boot;
    const filled = unsyncedFillOf(file, boot);
    if (existsSync(file) && statSync(file).size > 0) {
      const fault = damageOf(file, lost) ?? (filled === 'lost' ? lostInFill : inspect(file, options.log, known));
      outcome = fault === null ? 'resumed' : 'rebuilt';
      if (fault !== null) clear(file, fault, options.log);
    } else {
      // A log without its file is the log of another file.
      remove(file);
    }
    rmSync(noteOf(file), { force: true });
    const unsyncedFill = outcome === 'resumed' ? filled === 'goes on' : beginUnsyncedFill(file, boot);
    makePrivateFile(file);
    makePrivate(`${file}-wal`, `${file}-shm`, `${file}-filling`, noteOf(file));
    database = new Database(file, { log: options.log });
    configure(database, file, options.cacheKib ?? 48_000);
    if (outcome !== 'resumed') create(database, options.newEpoch ?? randomUUID);
    attachStaging(database, file);
    database.statement(`INSERT OR REPLACE INTO meta VALUES ('clean', 0)`).run();
    if (options.ownProcessOnly === true) hideLogIndex(file);
    const epoch = String(database.statement(`SELECT value FROM meta WHERE key = 'epoch'`).get()?.[0]);
    options.log.info({ file, epoch, outcome }, 'the store is open');
    const opened = database;
    const inode = statSync(file).ino;
    return {
      database,
      epoch,
      outcome,
      unsyncedFill,
      close: () => close(opened, file, lock),
      abandon: (reason) => abandon({ database: opened, file, lock, inode }, reason, options.log),
    };
  } catch (error) {
    database?.close();
    lock.close();
    throw error;
  }
}

function makeRoomFor(file: string): void {
  const wrong = (why: string, cause?: unknown): PortolanError =>
    new PortolanError('CONFIGURATION', `${file} cannot be the store: ${why}; give --data the path of a file.`, {
      cause,
    });
  try {
    makePrivateFolder(dirname(file));
  } catch (error) {
    throw wrong(messageOf(error), error);
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw wrong('it is a directory');
  if (found?.isFile() === false) throw wrong('it is no regular file');
  // SQLite follows a link of the file itself, and has its log beside where that leads.
  const own = found === undefined ? file : realpathSync(file);
  const link = filesBeside
    .flatMap((end) => [`${file}${end}`, `${own}${end}`])
    .find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link !== undefined) throw wrong(`${link} is a symbolic link, and would lead writes elsewhere`);
}

/** All that the store writes beside its file, by their ends. */
export const filesBeside = [
  ...['-wal', '-shm', '-journal', '-lock', '-lock-journal', '-filling', '-damaged', '-probe'],
  ...['-staging', '-staging-journal'],
];

/** The lock is an exclusive transaction on a separate file. The kernel releases it however the process ends. */
function takeLock(file: string, waitMs: number): Database {
  makePrivateFile(`${file}-lock`);
  const lock = new Database(`${file}-lock`, { busyMs: waitMs, slowMs: Number.POSITIVE_INFINITY });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (sqliteCodeOf(error) !== 'SQLITE_BUSY') throw error;
    throw new PortolanError(
      'CONFIGURATION',
      `Another process uses the store ${file}; stop it, or choose another file.`,
      {
        cause: error,
      },
    );
  }
}

/** Why a file cannot be used. */
interface Fault {
  readonly reason: string;
  /** The suffix of the name of a file that is kept: of a newer version, or perhaps of another program. */
  readonly aside?: string;
}

/** The fault of a file whose first fill a crash of the machine interrupted. Any page may be torn, so SQLite does not open the file. */
const lostInFill: Fault = { reason: 'the machine went down while it was filled for the first time' };

/** The suffix of the name of a file that is no store, where a store has been before. */
const unknownFile = 'unknown';

/** Has a store been opened at this path before? Its lock or a note is still beside it. */
function wasStore(file: string): boolean {
  return existsSync(`${file}-lock`) || existsSync(noteOf(file));
}

/** Throws for the file of another program, before anything is written beside it. */
function refuseForeign(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0 && isForeign(file)) throw foreignFile(file);
}

/** True if the header is that of another program's file. The header and the application id are zero until they are written. */
function isForeign(file: string): boolean {
  const header = Buffer.alloc(headerBytes);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, headerBytes, 0);
  } finally {
    closeSync(descriptor);
  }
  const isSqlite =
    header.subarray(0, 16).equals(Buffer.from('SQLite format 3\0')) || header.every((byte) => byte === 0);
  const id = header.readInt32BE(68);
  return !isSqlite || (id !== applicationId && id !== 0);
}

function noteOf(file: string): string {
  return `${file}-damaged`;
}

/** The content of a note: why the file must be made anew, and the inode of that file. */
const noteLine = /^(\d+) (.*)$/s;

/**
 * The fault by the note of the writer that had the file open, or by its word where it could leave no note; else null. A file that is
 * not the one of that writer, and no store either, is kept.
 */
function damageOf(file: string, lost: string | null): Fault | null {
  const note = existsSync(noteOf(file)) ? readFileSync(noteOf(file), 'utf8') : null;
  if (note === null && lost === null) return null;
  const [, inode, reason = note ?? ''] = noteLine.exec(note ?? '') ?? [];
  const fault = { reason: lost ?? reason };
  return isForeign(file) && Number(inode) !== statSync(file).ino ? { ...fault, aside: unknownFile } : fault;
}

/**
 * Removes the name of the log's index. All connections are in this process and share the open index. It is mapped into memory: if another
 * program shortened the file, the process would end by SIGBUS. A copy of an older folder over this one would do so.
 *
 * A connection of another process makes an index of its own. Its locks do not hold a checkpoint back, so a checkpoint writes pages that it
 * reads.
 */
function hideLogIndex(file: string): void {
  rmSync(`${file}-shm`, { force: true });
}

function clear(file: string, { reason, aside: kept }: Fault, log: Logger): void {
  const what = 'the store is rebuilt; everything is listed anew and cursors lose their place';
  if (kept === undefined) {
    log.warn({ file, reason }, what);
    remove(file);
    return;
  }
  const aside = `${file}.${kept}`;
  log.warn({ file, reason, aside }, `${what}; the file is kept under another name, and may be removed`);
  for (const suffix of ['', '-wal']) {
    rmSync(`${aside}${suffix}`, { force: true });
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${aside}${suffix}`);
    makePrivate(`${aside}${suffix}`);
  }
  remove(file);
}

/**
 * Null when the file is usable, otherwise why it must be rebuilt.
 * @param known a store has been at this path.
 * @throws CONFIGURATION for the file of another program, where no store has been.
 */
function inspect(file: string, log: Logger, known: boolean): Fault | null {
  const foreign = (cause?: unknown): Fault => {
    if (!known) throw foreignFile(file, cause);
    return { reason: 'it is no store of Portolan', aside: unknownFile };
  };
  if (isForeign(file)) return foreign();
  const database = new Database(file, { log, slowMs: Number.POSITIVE_INFINITY });
  try {
    if (database.pragma('application_id') !== applicationId) {
      if (database.statement('SELECT count(*) FROM sqlite_schema').get()?.[0] === 0)
        return { reason: 'it has no tables' };
      return foreign();
    }
    const format = Number(database.pragma('user_version'));
    const reason = `its format is ${format}, and this version writes ${formatVersion}`;
    if (format > formatVersion) return { reason, aside: `format-${format}` };
    if (format !== formatVersion) return { reason };
    const clean = database.statement(`SELECT value FROM meta WHERE key = 'clean'`).get()?.[0] === 1;
    if (!clean) {
      log.warn({ file }, 'the store was not closed in order; checking it');
      const verdict = database.pragma('quick_check(1)');
      if (verdict !== 'ok') return { reason: `the check found: ${String(verdict)}` };
    }
    if (database.statement('SELECT revision FROM state').get() === undefined) return { reason: 'it has no state' };
    return null;
  } catch (error) {
    const code = sqliteCodeOf(error);
    if (code === 'SQLITE_NOTADB') return foreign(error);
    if (
      code === null ||
      code.startsWith('SQLITE_BUSY') ||
      code.startsWith('SQLITE_IOERR') ||
      code === 'SQLITE_CANTOPEN'
    )
      throw error;
    return { reason: `reading it failed: ${messageOf(error)}` };
  } finally {
    database.close();
  }
}

function foreignFile(file: string, cause?: unknown): PortolanError {
  return new PortolanError(
    'CONFIGURATION',
    `${file} is not a store of Portolan; choose another file, or move it away.`,
    { cause },
  );
}

function remove(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function configure(database: Database, file: string, cacheKib: number): void {
  refuseOldSqlite(String(database.statement('SELECT sqlite_version()').get()?.[0]));
  database.pragma('page_size = 4096');
  const mode = database.pragma('journal_mode = WAL');
  if (mode !== 'wal') {
    throw new PortolanError('CONFIGURATION', `${file} is on a file system without shared memory; choose a local disk.`);
  }
  database.pragma(`cache_size = -${cacheKib}`);
  // Sorts of the writer are small; a container may have no writable /tmp.
  database.pragma('temp_store = MEMORY');
}

function create(database: Database, newEpoch: () => string): void {
  database.transaction(() => {
    for (const statement of schemaStatements) database.exec(statement);
    database.statement(`INSERT INTO meta VALUES ('epoch', ?)`).run(newEpoch());
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${formatVersion}`);
  });
}

/** Staged rows are worthless after a crash, so the file starts empty and is written without syncs. */
function attachStaging(database: Database, file: string): void {
  const staging = `${file}-staging`;
  removeStaging(file);
  makePrivateFile(staging);
  database.statement('ATTACH ? AS staging').run(staging);
  database.pragma('staging.journal_mode = MEMORY');
  database.pragma('staging.synchronous = OFF');
  for (const statement of stagingStatements) database.exec(statement);
}

function removeStaging(file: string): void {
  for (const suffix of ['', '-journal']) rmSync(`${file}-staging${suffix}`, { force: true });
}

function close(database: Database, file: string, lock: Database): void {
  try {
    database.statement(`INSERT OR REPLACE INTO meta VALUES ('clean', 1)`).run();
  } finally {
    database.close();
    removeStaging(file);
    lock.close();
  }
}

function abandon(
  { database, file, lock, inode }: { database: Database; file: string; lock: Database; inode: number },
  reason: string,
  log: Logger,
): void {
  const steps = [
    () => writeFileSync(noteOf(file), `${inode} ${reason}`, { mode: 0o600 }),
    () => database.close(),
    () => removeStaging(file),
    () => lock.close(),
  ];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      log.error({ file, error: messageOf(error) }, 'a damaged store could not be left in order');
    }
  }
}
