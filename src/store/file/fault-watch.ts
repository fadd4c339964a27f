/**
 * The faults of a writer's file: translates SQLite's errors, looks at the file's surroundings, and reports faults that last.
 *
 *   lost      found by a statement, a reader, or the seal (file-seal.ts) -> every further transaction is refused, and no thread reads the
 *             file -> the listener closes the writer -> the writer leaves a note beside the file -> the next opening makes the file anew
 *   others    an error of SQLite, or a look at the folder -> the work fails and is tried again -> a trial transaction succeeds: mended
 *
 * The log has one line when a fault begins and one when it is mended.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Database, DatabaseError } from '../sqlite/database.ts';
import { faultOfCode, StoreFault, type StoreTrouble } from '../types/store-fault.ts';
import type { DiskBudget } from './disk-budget.ts';
import type { FileSeal } from './file-seal.ts';
import { folderFaultOf, lookAtFolder } from './folder-fault.ts';

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
      const text = (store: string): string =>
        `${store} is lost (${reason}); it is made anew, and everything is listed again.`;
      this.#damage = { fault: new StoreFault('lost', text, { file: this.#file, cause }), reason };
      this.#begin(this.#damage.fault);
      setImmediate(() => this.#onDamage(reason));
    }
    return this.#damage.fault;
  }

  /** Call periodically. Looks at the folder; while a fault lasts, tries to write. @param write a transaction that changes the file */
  look(write: () => void): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookAt < lookMs || this.#damage !== null) return;
    this.#lookAt = now;
    const found = lookAtFolder(this.#file);
    if (found !== null) this.#begin(found);
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

  #begin({ kind, message }: StoreFault): void {
    const before = this.#trouble;
    if (before?.kind === kind || before?.kind === 'lost') return;
    const { clock, log } = this.#options;
    const now = clock.monotonic();
    if (now - this.#mendedAt < returnedMs) this.#leastUntil = now + returnedMs;
    this.#trouble = { kind, error: message, since: clock.now() };
    log.error({ file: this.#file, fault: kind }, message);
    this.#onTrouble(this.#trouble);
  }

  #translate(error: DatabaseError): Error {
    const kind = faultOfCode(error.sqliteCode);
    if (kind === 'lost') return this.report(error.message, error);
    if (kind === null || kind === 'busy') return error;
    const broken = this.#broken();
    if (broken !== null) return this.report(broken, error);
    const fault = folderFaultOf(this.#file, error);
    if (kind !== 'full') {
      if (fault !== null) this.#begin(fault);
      return fault ?? error;
    }
    // A full budget is no fault of the folder: the resource that does not fit says it.
    const { disk } = this.#options;
    const refused = disk.full(error);
    const found = lookAtFolder(this.#file);
    if (found !== null) this.#begin(found);
    else if (!disk.isBounded) this.#begin(refused);
    return refused;
  }
}
