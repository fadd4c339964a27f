/**
 * The checkpoint thread: writes the log back into the database file, beside the writer.
 *
 * Passive checkpoints hold up nobody. A log whose file has grown past the gate must be truncated, which needs a moment without a
 * reader's snapshot: the reader's gate (wal-gate.ts) makes one, and this thread tries until it finds it. A try fails at once when
 * somebody is in the way, so that the writer's lock is held no longer than the few frames that were left over.
 */
import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { type CheckpointerData, checkpointFlags } from './checkpointer.ts';
import { Database, sqliteCodeOf } from './database.ts';

const { file, flags, passiveBytes, gateBytes } = workerData as CheckpointerData;

/** Milliseconds between two looks at the log. */
const busyMs = 10;
const idleMs = 50;
const gatedMs = 3;
/** Looks without a commit after which what little is left is written back too. */
const quietLooks = 40;

/** Frames that a truncating checkpoint may find at the gate: few enough to hold the writer's lock for. */
const leftOver = 256;

run();

function run(): void {
  Atomics.store(flags, checkpointFlags.started, 1);
  if (Atomics.load(flags, checkpointFlags.stop) === 0) {
    const database = new Database(file, { mustExist: true, busyMs: 5, slowMs: Number.POSITIVE_INFINITY });
    try {
      database.pragma('wal_autocheckpoint = 0');
      const pageSize = Number(database.pragma('page_size'));
      let quiet = 0;
      let seen: unknown = null;
      for (;;) {
        const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
        const gated = size > gateBytes;
        const version = database.pragma('data_version');
        quiet = version === seen ? quiet + 1 : 0;
        seen = version;
        let pending = pendingFrames(database);
        const worthIt = pending * pageSize >= passiveBytes || (gated && pending > leftOver);
        if (worthIt || (quiet === quietLooks && pending > 0)) {
          checkpoint(database, 'PASSIVE');
          pending = pendingFrames(database);
        }
        // Where much is left, a reader's snapshot is in the way, and a try would only hold up the writer.
        // The further the log is past the gate, the more the writer has to bear.
        const bearable = leftOver + (size - gateBytes) / pageSize / 4;
        if (gated && pending <= bearable) checkpoint(database, 'TRUNCATE');
        const pause = gated ? gatedMs : worthIt ? busyMs : idleMs;
        Atomics.wait(flags, checkpointFlags.stop, 0, pause);
        if (Atomics.load(flags, checkpointFlags.stop) === 1) break;
      }
    } finally {
      database.close();
    }
  }
  Atomics.store(flags, checkpointFlags.stopped, 1);
  Atomics.notify(flags, checkpointFlags.stopped);
}

/** Frames in the log that are not in the database file yet. */
function pendingFrames(database: Database): number {
  const { log, checkpointed } = database.pragmaRow('wal_checkpoint(NOOP)');
  return Math.max(0, Number(log) - Number(checkpointed));
}

function checkpoint(database: Database, mode: 'PASSIVE' | 'TRUNCATE'): void {
  try {
    database.pragma(`wal_checkpoint(${mode})`);
  } catch (error) {
    if (!(sqliteCodeOf(error)?.startsWith('SQLITE_BUSY') ?? false)) throw error;
  }
}
