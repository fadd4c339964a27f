/**
 * The faults of a writer's file: translates SQLite's errors, looks at the file's surroundings, and tells of what lasts.
 *
 *   lost      found by a statement, a reader, or the seal (file-seal.ts) -> every further transaction is refused, and no thread reads the
 *             file -> the listener closes the writer -> the writer leaves a note beside the file -> the next opening makes the file anew
 *   others    an error of SQLite, or a look at the folder -> the work fails and is tried again -> a trial transaction succeeds: mended
 *
 * The log has one line when a fault begins and one when it is mended.
 */
import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Database, DatabaseError } from '../sqlite/database.ts';
import { faultOfCode, StoreFault, type StoreTrouble } from '../types/store-fault.ts';
import type { DiskBudget } from './disk-budget.ts';
import type { FileSeal } from './file-seal.ts';

interface FaultWatchOptions {
  readonly disk: DiskBudget;
  readonly seal: FileSeal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds between two looks at the folder. */
const lookMs = 1000;
/** Milliseconds for which a fault lasts at least, if it returns soon after it was mended. */
const returnedMs = 10_000;
/** A disk with less space than this is full: the log cannot take a batch of events. */
const leastFreeBytes = 1024 * 1024;

export class FaultWatch {
  readonly #file: string;
  readonly #options: FaultWatchOptions;
  #damage: { readonly fault: StoreFault; readonly reason: string } | null = null;
  #trouble: StoreTrouble | null = null;
  #lookAt = Number.NEGATIVE_INFINITY;
  #mendedAt = Number.NEGATIVE_INFINITY;
  #leastUntil = Number.NEGATIVE_INFINITY;
  #onDamage: (reason: string) => void = () => {};
  #onTrouble: (trouble: StoreTrouble | null) => void = () => {};

  constructor(database: Database, options: FaultWatchOptions) {
    this.#file = database.file;
    this.#options = options;
    database.onError((error) => this.#translate(error));
  }

  /** Why the file must be made anew, or null. */
  get damage(): string | null {
    return this.#damage?.reason ?? null;
  }

  /** The fault that lasts, or null. */
  get trouble(): StoreTrouble | null {
    return this.#trouble;
  }

  /** Call before a transaction. @throws StoreFault (`lost`) when the file must not be written any more. */
  refuseIfLost(): void {
    const broken = this.#damage === null ? this.#broken() : null;
    if (broken !== null) this.report(broken);
    if (this.#damage !== null) throw this.#damage.fault;
  }

  /** Sets the listener for a lost file, with the reason. It is called once, through setImmediate. */
  onDamage(listener: (reason: string) => void): void {
    this.#onDamage = listener;
  }

  /** Sets the listener for the begin of a fault, and for its end. */
  onTrouble(listener: (trouble: StoreTrouble | null) => void): void {
    this.#onTrouble = listener;
  }

  report(reason: string, cause: unknown = null): StoreFault {
    if (this.#damage === null) {
      this.#options.seal.lose();
      const message = `The store ${this.#file} is lost (${reason}); it is made anew, and everything is listed again.`;
      this.#damage = { fault: new StoreFault('lost', message, cause), reason };
      this.#begin({ kind: 'lost', error: message, since: this.#now() });
      setImmediate(() => this.#onDamage(reason));
    }
    return this.#damage.fault;
  }

  /** Call periodically. Looks at the folder; while a fault lasts, tries to write. @param write a transaction that changes the file */
  look(write: () => void): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookAt < lookMs || this.#damage !== null) return;
    this.#lookAt = now;
    const found = this.#surroundings();
    if (found !== null) this.#begin({ ...found, since: this.#now() });
    else if (this.#trouble !== null && now >= this.#leastUntil) this.#try(write);
  }

  #broken(): string | null {
    const { seal } = this.#options;
    return seal.isOpener ? seal.broken() : null;
  }

  #try(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.log.debug({ error: messageOf(error) }, 'the store cannot be written yet');
      return;
    }
    this.#trouble = null;
    this.#mendedAt = this.#options.clock.monotonic();
    this.#options.log.info({ file: this.#file }, 'the store can be written again');
    this.#onTrouble(null);
  }

  #begin(trouble: StoreTrouble): void {
    const before = this.#trouble;
    if (before?.kind === trouble.kind || before?.kind === 'lost') return;
    const { clock, log } = this.#options;
    const now = clock.monotonic();
    if (now - this.#mendedAt < returnedMs) this.#leastUntil = now + returnedMs;
    this.#trouble = trouble;
    log.error({ file: this.#file, fault: trouble.kind }, trouble.error);
    this.#onTrouble(trouble);
  }

  /** What is wrong with the folder, as far as it can be seen without a write. */
  #surroundings(): Pick<StoreTrouble, 'kind' | 'error'> | null {
    const folder = dirname(this.#file);
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      accessSync(this.#file, constants.W_OK);
      const { blocks, bsize, bavail, bfree } = statfsSync(folder);
      const free = bsize * (process.geteuid?.() === 0 ? bfree : bavail);
      // A file system without a size says zero for everything.
      if (blocks > 0 && free < leastFreeBytes) return this.#full();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return this.#readonly();
      // A folder that is gone is for the seal to tell.
    }
    return null;
  }

  #full(): Pick<StoreTrouble, 'kind' | 'error'> {
    const error = `The disk that holds ${this.#file} is full, so answers may get older; free some space, or leave resources out with --exclude.`;
    return { kind: 'full', error };
  }

  #readonly(): Pick<StoreTrouble, 'kind' | 'error'> {
    const error = `The store ${this.#file} or its folder is read-only, so answers may get older; make both writable for Portolan.`;
    return { kind: 'readonly', error };
  }

  #translate(error: DatabaseError): Error {
    const kind = faultOfCode(error.sqliteCode);
    if (kind === 'lost') return this.report(error.message, error);
    if (kind === null || kind === 'busy') return error;
    const broken = this.#broken();
    if (broken !== null) return this.report(broken, error);
    const found = this.#surroundings() ?? (kind === 'readonly' ? this.#readonly() : null);
    if (kind === 'full') {
      const fault = this.#options.disk.full(error);
      if (found?.kind === 'full' || !this.#options.disk.isBounded) this.#begin({ ...this.#full(), since: this.#now() });
      return fault;
    }
    const io = {
      kind: 'io',
      error: `The store file ${this.#file} cannot be read or written (${error.sqliteCode}); look after its disk.`,
    } as const;
    const trouble = found ?? io;
    this.#begin({ ...trouble, since: this.#now() });
    return new StoreFault(trouble.kind, trouble.error, error);
  }

  #now(): number {
    return this.#options.clock.now();
  }
}
