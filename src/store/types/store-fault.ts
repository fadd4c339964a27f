/**
 * Faults of the store's environment, as opposed to faulty statements. SQLite's error codes distinguish them, and each has its own
 * remedy. A fault rolls the whole transaction back: tables, log and memory contain nothing of it.
 *
 *   full     the disk or the disk budget is full: data is removed (disk-budget.ts), and the work is tried again
 *   io       the disk fails: the work is tried again
 *   corrupt  the file is damaged: it is rebuilt with a new epoch
 *   busy     another connection holds the lock for too long
 */
import { PortolanError } from '../../base/errors.ts';

type StoreFaultKind = 'full' | 'io' | 'corrupt' | 'busy';

/** A CONFIGURATION error, because an operator must fix the environment. */
export class StoreFault extends PortolanError {
  readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, cause: unknown) {
    super('CONFIGURATION', message, { cause });
    this.name = 'StoreFault';
    this.kind = kind;
  }
}

/** Damage that a reader found, with the file's inode, because another file may have replaced the damaged one since. */
export interface FileDamage {
  readonly inode: number;
  readonly reason: string;
}

/** The environment fault of an SQLite code; null where the statement itself is at fault. */
export function faultOfCode(code: string): StoreFaultKind | null {
  if (code === 'SQLITE_FULL') return 'full';
  if (code.startsWith('SQLITE_IOERR') || code === 'SQLITE_CANTOPEN' || code === 'SQLITE_READONLY') return 'io';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'corrupt';
  if (code.startsWith('SQLITE_BUSY')) return 'busy';
  return null;
}
