/**
 * Translates SQLite's errors in the writer. Faults of the environment become a StoreFault with a message for the operator.
 * A full disk makes the store tight, and damage ends the writer.
 *
 *   damage is found by a statement or a reader -> every further transaction is refused -> the listener closes the writer
 *   -> the writer leaves a note beside the file -> the next start rebuilds the file (open-store.ts)
 */
import type { Logger } from '../../base/log.ts';
import type { Database, DatabaseError } from '../sqlite/database.ts';
import { faultOfCode, StoreFault } from '../types/store-fault.ts';
import type { DiskBudget } from './disk-budget.ts';

export class FaultWatch {
  readonly #file: string;
  readonly #disk: DiskBudget;
  readonly #log: Logger;
  #damage: { readonly fault: StoreFault; readonly reason: string } | null = null;
  #onDamage: () => void = () => {};

  constructor(database: Database, disk: DiskBudget, log: Logger) {
    this.#file = database.file;
    this.#disk = disk;
    this.#log = log;
    database.onError((error) => this.#translate(error));
  }

  /** Why the file must be rebuilt, or null. */
  get damage(): string | null {
    return this.#damage?.reason ?? null;
  }

  /** @throws StoreFault (`corrupt`) when the file is damaged. */
  refuseIfDamaged(): void {
    if (this.#damage !== null) throw this.#damage.fault;
  }

  /** Sets the listener for damage. It is called once, through setImmediate. */
  onDamage(listener: () => void): void {
    this.#onDamage = listener;
  }

  report(reason: string, cause: unknown = null): StoreFault {
    if (this.#damage === null) {
      const message = `The store file ${this.#file} is damaged; it is made anew, and everything is listed again.`;
      this.#damage = { fault: new StoreFault('corrupt', message, cause), reason };
      this.#log.error({ file: this.#file, reason }, 'the store is damaged and will be rebuilt');
      setImmediate(() => this.#onDamage());
    }
    return this.#damage.fault;
  }

  #translate(error: DatabaseError): Error {
    const kind = faultOfCode(error.sqliteCode);
    if (kind === 'full') return this.#disk.full(error);
    if (kind === 'corrupt') return this.report(error.message, error);
    if (kind !== 'io') return error;
    const message = `The store file ${this.#file} cannot be read or written (${error.sqliteCode}); look after its disk.`;
    return new StoreFault(kind, message, error);
  }
}
