/**
 * The checkpoint thread: writes the write-ahead log back into the database file, while the writer works.
 *
 * Passive checkpoints do not block the other connections. A log longer than the gate must restart. For a restart all of it must be
 * written back, and no reader may have a snapshot of it. The readers' gate (wal-gate.ts) delays leases for this, and this thread
 * retries until it succeeds. A try fails at once when a reader blocks it, so it holds the writer's lock only for the few remaining
 * frames.
 *
 * A full or failing disk does not end the thread. It reports the failure once, retries with increasing delay, and reports recovery.
 *
 * The thread also looks at the files (file-seal.ts), because it wakes more often than all others. It reports once that they are lost.
 */
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { Database, sqliteCodeOf } from '../sqlite/database.ts';
import { type CheckpointerData, type CheckpointerMessage, checkpointFlags } from './checkpointer.ts';
import { FileSeal, keepsTimes } from './file-seal.ts';
import { logChecker } from './log-checker.ts';
import { syncOpenFile } from './open-file.ts';
import { endUnsyncedFill, setSynchronous } from './unsynced-fill.ts';

const { file, flags, unsyncedFill, seal: memory, ...bounds } = workerData as CheckpointerData;
const seal = new FileSeal(file, memory);
const port = must(parentPort, 'a parent thread');
const report = (message: CheckpointerMessage): void => port.postMessage(message);

/** Milliseconds from the first failure to the next try. The delay doubles with each further failure. */
const retryMs = 100;
/** Maximum milliseconds from a failure to the next try. */
const longestRetryMs = 10_000;
/** Maximum milliseconds between two looks at the files. */
const lookMs = 50;
/** Milliseconds after which a probe of the file system that could not be written is repeated. */
const probeMs = 1000;

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
    let isUnsynced = unsyncedFill;
    const syncFile = (): void => {
      if (!isUnsynced) syncOpenFile(file);
    };
    const checkLog = retried(logChecker(database, bounds, seal, syncFile));
    let trustAt = 0;
    do {
      const lost = seal.broken();
      if (lost !== null) return report({ lost });
      if (performance.now() >= trustAt) trustAt = performance.now() + trustSeal();
      if (Atomics.exchange(flags, checkpointFlags.firstFillOver, 0) === 1) {
        syncAll(database);
        isUnsynced = false;
      }
      Atomics.wait(flags, checkpointFlags.stop, 0, Math.min(checkLog(), lookMs));
      // Native memory of objects that V8 has collected is freed in the event loop.
      await turnOfEventLoop();
    } while (Atomics.load(flags, checkpointFlags.stop) === 0);
  } finally {
    database.close();
  }
}

/** Returns a function that checks the log, unless the next try after a failure is not due, and the milliseconds until the next call. */
function retried(check: (force: boolean) => number): () => number {
  let failingMs = 0;
  let retryAt = 0;
  return () => {
    const rest = retryAt - performance.now();
    if (rest > 0) return rest;
    try {
      const pause = check(failingMs > 0);
      if (failingMs > 0) report({ failing: null });
      failingMs = 0;
      return pause;
    } catch (error) {
      if (sqliteCodeOf(error) === null && !isOfSystem(error)) throw error;
      if (failingMs === 0) report({ failing: messageOf(error) });
      failingMs = Math.min(Math.max(retryMs, failingMs * 2), longestRetryMs);
      retryAt = performance.now() + failingMs;
      return failingMs;
    }
  };
}

/** Is it an error of the disk that SQLite does not report, because this thread has synced the file? */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** Lets the seal compare times where the file system sets them with the write. Returns the milliseconds until the next try. */
function trustSeal(): number {
  const keeps = keepsTimes(file);
  if (keeps === true) seal.trust();
  return keeps === null ? probeMs : Number.POSITIVE_INFINITY;
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
