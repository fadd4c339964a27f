/**
 * The checkpoint thread: writes the write-ahead log back into the database file, while the writer works.
 *
 * Passive checkpoints block no other connection. A log longer than the gate must restart. For a restart all of it must be written
 * back, and no reader may have a snapshot of it. The readers' gate (wal-gate.ts) delays leases for this, and this thread retries
 * until it succeeds. A try fails at once when a reader blocks it, so it holds the writer's lock only for the few remaining frames.
 *
 * A full or failing disk does not end the thread. It reports the failure once, retries with increasing delay, and reports recovery.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { type CheckpointerData, type CheckpointerMessage, checkpointFlags } from './checkpointer.ts';
import { endUnsyncedFill, setSynchronous } from './unsynced-fill.ts';

const { file, flags, passiveBytes, gateBytes, unsyncedFill } = workerData as CheckpointerData;
const port = must(parentPort, 'a parent thread');
const report = (message: CheckpointerMessage): void => port.postMessage(message);

/** Milliseconds until the next check of the log, if this one ran a checkpoint because much was pending. */
const busyMs = 10;
/** Milliseconds until the next check of the log, if little is pending. */
const idleMs = 50;
/** Milliseconds until the next check of the log, while it is longer than the gate. */
const gatedMs = 3;
/** Checks without a commit after which a small remainder is written back too. */
const quietChecks = 40;

/** Most pending bytes for a restart of the log. Writing them back takes little time, and holds the writer's lock meanwhile. */
const leftOver = 1024 * 1024;

/** Milliseconds from the first failure to the next try. The delay doubles with each further failure. */
const retryMs = 100;
/** Maximum milliseconds from a failure to the next try. */
const longestRetryMs = 10_000;

run();

function run(): void {
  Atomics.store(flags, checkpointFlags.started, 1);
  try {
    if (Atomics.load(flags, checkpointFlags.stop) === 0) work();
  } finally {
    Atomics.store(flags, checkpointFlags.stopped, 1);
    Atomics.notify(flags, checkpointFlags.stopped);
  }
}

function work(): void {
  const database = new Database(file, { mustExist: true, busyMs: 5, slowMs: Number.POSITIVE_INFINITY });
  try {
    database.pragma('wal_autocheckpoint = 0');
    setSynchronous(database, !unsyncedFill);
    const checkLog = logChecker(database);
    let failingMs = 0;
    do {
      if (Atomics.exchange(flags, checkpointFlags.firstFillOver, 0) === 1) syncAll(database);
      let pause = 0;
      try {
        pause = checkLog(failingMs > 0);
        if (failingMs > 0) report({ failing: null });
        failingMs = 0;
      } catch (error) {
        if (sqliteCodeOf(error) === null) throw error;
        if (failingMs === 0) report({ failing: messageOf(error) });
        failingMs = Math.min(Math.max(retryMs, failingMs * 2), longestRetryMs);
        pause = failingMs;
      }
      Atomics.wait(flags, checkpointFlags.stop, 0, pause);
    } while (Atomics.load(flags, checkpointFlags.stop) === 0);
  } finally {
    database.close();
  }
}

/** Never retried: after a failed fsync the next one may report success although data is lost. */
function syncAll(database: Database): void {
  setSynchronous(database, true);
  try {
    endUnsyncedFill(file);
  } catch (error) {
    report({ unsynced: messageOf(error) });
  }
}

/**
 * Returns a function that checks the log, runs checkpoints as needed, and returns the milliseconds until the next check.
 * `force` runs a passive checkpoint in any case.
 */
function logChecker(database: Database): (force: boolean) => number {
  let quiet = 0;
  let seen: unknown = null;
  return (force) => {
    const version = database.pragma('data_version');
    quiet = version === seen ? quiet + 1 : 0;
    seen = version;
    const found = database.log();
    let { bytes, pendingBytes } = found;
    const gated = found.heldBytes > gateBytes;
    const worthIt = pendingBytes >= passiveBytes || (gated && pendingBytes > leftOver);
    if (worthIt || force || (quiet === quietChecks && pendingBytes > 0)) {
      checkpoint(database, 'PASSIVE');
      ({ bytes, pendingBytes } = database.log());
    }
    // While much is pending, a reader's snapshot blocks the restart, and a try would only delay the writer.
    // The longer the log is beyond the gate, the more pending bytes are accepted.
    const bearable = leftOver + (bytes - gateBytes) / 4;
    if (gated && pendingBytes <= bearable) checkpoint(database, 'RESTART');
    return gated ? gatedMs : worthIt ? busyMs : idleMs;
  };
}

function checkpoint(database: Database, mode: 'PASSIVE' | 'RESTART'): void {
  try {
    database.pragma(`wal_checkpoint(${mode})`);
  } catch (error) {
    if (!(sqliteCodeOf(error)?.startsWith('SQLITE_BUSY') ?? false)) throw error;
  }
}
