/**
 * The checkpoint thread: writes the log back into the database file, beside the writer.
 *
 * Passive checkpoints hold up nobody. A log that has grown past the gate must begin anew, which needs a moment in which all of it is
 * written back and no reader has a snapshot of it: the reader's gate (wal-gate.ts) makes one, and this thread tries until it finds
 * it. A try fails at once when somebody is in the way, so that the writer's lock is held no longer than the few frames that were
 * left over.
 *
 * A full or failing disk does not end the thread: it says so once, tries again less and less often, and says when it goes on.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { type CheckpointerData, type CheckpointerMessage, checkpointFlags } from './checkpointer.ts';
import { endUnsyncedFill, setSynchronous } from './unsynced-fill.ts';

const { file, flags, passiveBytes, gateBytes, unsyncedFill } = workerData as CheckpointerData;
const port = must(parentPort, 'a parent thread');
const say = (message: CheckpointerMessage): void => port.postMessage(message);

/** Milliseconds between two looks at the log. */
const busyMs = 10;
const idleMs = 50;
const gatedMs = 3;
/** Looks without a commit after which what little is left is written back too. */
const quietLooks = 40;

/** Bytes that the checkpoint at the gate may find left: few enough to hold the writer's lock for. */
const leftOver = 1024 * 1024;

/** Milliseconds until the next try where one has failed: at first, and at most. */
const retryMs = 100;
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
    const look = looker(database);
    let failingMs = 0;
    do {
      if (Atomics.exchange(flags, checkpointFlags.firstFillOver, 0) === 1) syncAll(database);
      let pause = 0;
      try {
        pause = look(failingMs > 0);
        if (failingMs > 0) say({ failing: null });
        failingMs = 0;
      } catch (error) {
        if (sqliteCodeOf(error) === null) throw error;
        if (failingMs === 0) say({ failing: messageOf(error) });
        failingMs = Math.min(Math.max(retryMs, failingMs * 2), longestRetryMs);
        pause = failingMs;
      }
      Atomics.wait(flags, checkpointFlags.stop, 0, pause);
    } while (Atomics.load(flags, checkpointFlags.stop) === 0);
  } finally {
    database.close();
  }
}

/** Not tried again: a disk that has failed once says afterwards that there is nothing to sync. */
function syncAll(database: Database): void {
  setSynchronous(database, true);
  try {
    endUnsyncedFill(file);
  } catch (error) {
    say({ unsynced: messageOf(error) });
  }
}

/** Looks at the log and writes back what is worth it, or whatever there is; returns the milliseconds until the next look. */
function looker(database: Database): (whatever: boolean) => number {
  let quiet = 0;
  let seen: unknown = null;
  return (whatever) => {
    const version = database.pragma('data_version');
    quiet = version === seen ? quiet + 1 : 0;
    seen = version;
    const found = database.log();
    let { bytes, pendingBytes } = found;
    const gated = found.heldBytes > gateBytes;
    const worthIt = pendingBytes >= passiveBytes || (gated && pendingBytes > leftOver);
    if (worthIt || whatever || (quiet === quietLooks && pendingBytes > 0)) {
      checkpoint(database, 'PASSIVE');
      ({ bytes, pendingBytes } = database.log());
    }
    // Where much is left, a reader's snapshot is in the way, and a try would only hold up the writer.
    // The further the log is past the gate, the more the writer has to bear.
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
