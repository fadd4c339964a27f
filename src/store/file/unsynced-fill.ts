/**
 * The first fill of a new file, for which nobody waits for the disk: there is nothing in the file yet that would be missed, and a
 * fsync at each checkpoint is a good part of what a large first sync takes.
 *
 * A process that dies loses nothing by it, since the kernel has what was written. A machine that goes down does, and may leave any
 * part of it on the disk: so a note beside the file, which is synced before the file is made, says under which boot of the machine it
 * is filled. A file with a note of another boot is not to be used.
 *
 *   new file, note -> filled without syncs -> at rest: both files are synced, and the note is removed -> as any other file
 *                  -> opened again: the same boot: goes on | another: rebuilt
 *
 * Where a boot has no name (no Linux), files are synced from the start.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../sqlite/database.ts';

/** See proc(5). */
const bootIdFile = '/proc/sys/kernel/random/boot_id';
/** Milliseconds without a first sync after which the file is at rest. */
const idleBeforeSyncMs = 2000;

/** The name of this boot of the machine; null where there is none. */
export function thisBoot(): string | null {
  try {
    return readFileSync(bootIdFile, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Of a file that is to be opened: is it being filled, and can what is there be trusted? */
export function unsyncedFillOf(file: string, boot: string | null): 'none' | 'goes on' | 'lost' {
  const note = noteOf(file);
  if (!existsSync(note)) return 'none';
  return boot !== null && readFileSync(note, 'utf8') === boot ? 'goes on' : 'lost';
}

/** Before a new file is made. False where it must be synced as any other. */
export function beginUnsyncedFill(file: string, boot: string | null): boolean {
  const note = noteOf(file);
  rmSync(note, { force: true });
  if (boot === null) return false;
  try {
    writeFileSync(note, boot, { flush: true });
    sync(dirname(file));
    return true;
  } catch {
    // What is wrong with the place is told by whoever makes the file there.
    rmSync(note, { force: true });
    return false;
  }
}

/** Syncs a file that nobody writes to without syncs any more. Takes as long as the disk does. Throws what the disk fails with: then the note stays. */
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

  /** `atRest`: something is published, and nothing is being filled; `end`: has `endUnsyncedFill` called, off this thread where there is another. */
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

  /** From time to time: ends it when the file has been at rest for a while, since one first sync often follows another. */
  look(): void {
    if (!this.#running) return;
    const now = this.#clock.monotonic();
    this.#restsSince = this.#atRest() ? (this.#restsSince ?? now) : null;
    if (this.#restsSince === null || now - this.#restsSince < idleBeforeSyncMs) return;
    this.#synced();
    this.#end();
  }

  /** Closes the store; one that is at rest is left synced. */
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

/** How a connection to the store writes: with a log, what is synced is it before a checkpoint and the file after one. */
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
