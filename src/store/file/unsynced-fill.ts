/**
 * Fills a new file without fsync. The file has no data yet that a crash could lose. A fsync at each checkpoint would take a large
 * share of a first sync.
 *
 * A process crash loses nothing, because the kernel has the written pages. A machine crash may leave any part of them on the disk.
 * Therefore a note beside the file names the boot of the machine under which the file is filled. The note is synced before the file
 * is created. A file with the note of another boot is never used.
 *
 *   new file, note -> filled without syncs -> at rest: both files are synced, and the note is removed -> an ordinary file
 *                  -> opened again: the fill continues under the same boot; under another boot the file is rebuilt
 *
 * Where the system has no boot id (not Linux), files are synced from the start.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../sqlite/database.ts';

/** See proc(5). */
const bootIdFile = '/proc/sys/kernel/random/boot_id';
/** Milliseconds without a first sync after which the file is at rest. */
const idleBeforeSyncMs = 2000;

/** The id of this boot of the machine; null where there is none. */
export function thisBoot(): string | null {
  try {
    return readFileSync(bootIdFile, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** The state of a file before it is opened: `goes on` while it is being filled, `lost` when its pages cannot be trusted. */
export function unsyncedFillOf(file: string, boot: string | null): 'none' | 'goes on' | 'lost' {
  const note = noteOf(file);
  if (!existsSync(note)) return 'none';
  return boot !== null && readFileSync(note, 'utf8') === boot ? 'goes on' : 'lost';
}

/** Call before creating a new file. False where the file must be synced from the start. */
export function beginUnsyncedFill(file: string, boot: string | null): boolean {
  const note = noteOf(file);
  rmSync(note, { force: true });
  if (boot === null) return false;
  try {
    writeFileSync(note, boot, { flush: true, mode: 0o600 });
    sync(dirname(file));
    return true;
  } catch {
    // Creating the store file fails next, and that error names the cause.
    rmSync(note, { force: true });
    return false;
  }
}

/** Syncs a file after the last write without syncs. Blocks for as long as the disk takes. @throws on a failed sync; the note stays. */
export function endUnsyncedFill(file: string): void {
  for (const each of [`${file}-wal`, file]) if (existsSync(each)) sync(each);
  rmSync(noteOf(file), { force: true });
}

/** The writer's side. */
export class UnsyncedFill {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #atRest: () => boolean;
  readonly #end: () => void;
  #running: boolean;
  #restsSince: number | null = null;

  /**
   * `atRest`: a resource is published and none is being filled. `end` calls `endUnsyncedFill`, in the checkpoint thread where one
   * runs.
   */
  constructor(
    running: boolean,
    parts: {
      readonly database: Database;
      readonly clock: Clock;
      readonly atRest: () => boolean;
      readonly end: () => void;
    },
  ) {
    this.#running = running;
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#atRest = parts.atRest;
    this.#end = parts.end;
    setSynchronous(this.#database, !running);
  }

  /** Is the file written without syncs? */
  get running(): boolean {
    return this.#running;
  }

  /** Call periodically. Ends the fill after some time at rest, because one first sync often follows another. */
  look(): void {
    if (!this.#running) return;
    const now = this.#clock.monotonic();
    this.#restsSince = this.#atRest() ? (this.#restsSince ?? now) : null;
    if (this.#restsSince === null || now - this.#restsSince < idleBeforeSyncMs) return;
    this.#synced();
    this.#end();
  }

  /** Closes the store, and syncs it when it is at rest. */
  close(closeStore: () => void): void {
    const ends = this.#running && this.#atRest();
    if (ends) this.#synced();
    closeStore();
    if (ends) endUnsyncedFill(this.#database.file);
  }

  #synced(): void {
    this.#running = false;
    setSynchronous(this.#database, true);
  }
}

/** Sets whether a connection syncs. In WAL mode SQLite syncs the log before a checkpoint and the file after it. */
export function setSynchronous(database: Database, synced: boolean): void {
  database.pragma(`main.synchronous = ${synced ? 'NORMAL' : 'OFF'}`);
}

function noteOf(file: string): string {
  return `${file}-filling`;
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
