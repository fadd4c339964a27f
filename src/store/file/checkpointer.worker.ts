/**
 * The checkpoint thread: writes the write-ahead log back into the database file, while the writer works.
 *
 * Passive checkpoints block no other connection. A log longer than the gate must restart. For a restart all of it must be written
 * back, and no reader may have a snapshot of it. The readers' gate (wal-gate.ts) delays leases for this, and this thread retries
 * until it succeeds. A try fails at once when a reader blocks it, so it holds the writer's lock only for the few remaining frames.
 *
 * A full or failing disk does not end the thread. It reports the failure once, retries with increasing delay, and reports recovery.
 */
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { type CheckpointerData, type CheckpointerMessage, checkpointFlags } from './checkpointer.ts';
import { logChecker } from './log-checker.ts';
import { endUnsyncedFill, setSynchronous } from './unsynced-fill.ts';

const { file, flags, unsyncedFill, ...bounds } = workerData as CheckpointerData;
const port = must(parentPort, 'a parent thread');
const report = (message: CheckpointerMessage): void => port.postMessage(message);

/** Milliseconds from the first failure to the next try. The delay doubles with each further failure. */
const retryMs = 100;
/** Maximum milliseconds from a failure to the next try. */
const longestRetryMs = 10_000;

await run();

async function run(): Promise<void> {
  Atomics.store(flags, checkpointFlags.started, 1);
  try {
    if (Atomics.load(flags, checkpointFlags.stop) === 0) await work();
  } finally {
    Atomics.store(flags, checkpointFlags.stopped, 1);
    Atomics.notify(flags, checkpointFlags.stopped);
  }
}

async function work(): Promise<void> {
  const database = new Database(file, { mustExist: true, busyMs: 5, slowMs: Number.POSITIVE_INFINITY });
  try {
    database.pragma('wal_autocheckpoint = 0');
    setSynchronous(database, !unsyncedFill);
    const checkLog = logChecker(database, bounds);
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
      // Native memory of objects that V8 has collected is freed in the event loop.
      await turnOfEventLoop();
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
