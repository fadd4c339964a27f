/**
 * Decides when the checkpoint thread writes the write-ahead log back, and does it.
 *
 * SQLite syncs the database file only at the end of a checkpoint that reaches the end of the log. While the writer commits, this checkpoint
 * restarts the log, and it holds the writer's lock. So the thread syncs the file shortly before: little is left for SQLite to sync then.
 *
 *   15/16 of the gate    write back, sync the file        the writer commits meanwhile
 *   the gate             write back, restart the log      the writer waits
 *
 * The thread checks many times in a second, so each statement is prepared once. The library better-sqlite3 frees a statement's memory in
 * the event loop, some kilobytes each.
 */
import { type Database, sqliteCodeOf } from '../sqlite/database.ts';
import type { FileSeal } from './file-seal.ts';

/** Milliseconds until the next check of the log, if this one ran a checkpoint because much was pending. */
const busyMs = 10;
/** Milliseconds until the next check of the log, if little is pending. */
const idleMs = 50;
/** Milliseconds until the next check of the log, while it is longer than the gate. */
const gatedMs = 3;
/** Checks without a commit after which a small remainder is written back too. */
const quietChecks = 40;

/** The share of the gate from which the file is synced, once before each restart of the log. */
const syncShare = 15 / 16;
/** Most pending bytes for a restart of the log. Writing them back takes little time, and holds the writer's lock meanwhile. */
const leftOver = 1024 * 1024;

interface LogBounds {
  /** Bytes in the log from which a passive checkpoint runs. */
  readonly passiveBytes: number;
  /** Above this size the whole log is written back, so that it restarts. */
  readonly gateBytes: number;
}

/**
 * Returns a function that checks the log, runs checkpoints as needed, and returns the milliseconds until the next check.
 * `force` runs a passive checkpoint in any case.
 * @param syncFile syncs the database file, where it is written with syncs
 */
export function logChecker(
  database: Database,
  { passiveBytes, gateBytes }: LogBounds,
  seal: FileSeal,
  syncFile: () => void,
): (force: boolean) => number {
  const checkpoint = (mode: 'PASSIVE' | 'RESTART'): void => seal.writing('file', () => runCheckpoint(database, mode));
  let quiet = 0;
  let seen: unknown = null;
  /** Since the last restart of the log. */
  let isSynced = false;
  return (force) => {
    const version = database.statement('PRAGMA data_version').get()?.[0];
    quiet = version === seen ? quiet + 1 : 0;
    seen = version;
    const found = database.log();
    let { bytes, pendingBytes } = found;
    const gated = found.heldBytes > gateBytes;
    const isNear = found.heldBytes > gateBytes * syncShare;
    const syncs = isNear && !isSynced;
    isSynced = isNear;
    const worthIt = pendingBytes >= passiveBytes || (gated && pendingBytes > leftOver);
    if (worthIt || force || syncs || (quiet === quietChecks && pendingBytes > 0)) {
      checkpoint('PASSIVE');
      if (syncs) syncFile();
      ({ bytes, pendingBytes } = database.log());
    }
    // While much is pending, a reader's snapshot blocks the restart, and a try would only delay the writer.
    // The longer the log is beyond the gate, the more pending bytes are accepted.
    const bearable = leftOver + (bytes - gateBytes) / 4;
    if (gated && pendingBytes <= bearable) checkpoint('RESTART');
    return gated ? gatedMs : worthIt ? busyMs : idleMs;
  };
}

function runCheckpoint(database: Database, mode: 'PASSIVE' | 'RESTART'): void {
  try {
    database.statement(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (error) {
    if (!(sqliteCodeOf(error)?.startsWith('SQLITE_BUSY') ?? false)) throw error;
  }
}
