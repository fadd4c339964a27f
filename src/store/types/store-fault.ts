/**
 * What is wrong with the place where the store lives, as opposed to a statement that is wrong: told apart by SQLite's codes, because
 * each asks for something else. Whoever wrote has lost its transaction, whole; nothing of it is in the tables, the log or memory.
 *
 *   full     no room on the disk or in the disk budget: something is given up (disk-budget.ts), and it is tried again
 *   io       the disk fails: it is tried again
 *   corrupt  the file is damaged: it is made anew, as another life of the store
 *   busy     another connection holds the lock for longer than anybody may
 */
import { PortolanError } from '../../base/errors.ts';

type StoreFaultKind = 'full' | 'io' | 'corrupt' | 'busy';

/** CONFIGURATION, because it is the surroundings that are wrong and a person who must mend them. */
export class StoreFault extends PortolanError {
  readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, cause: unknown) {
    super('CONFIGURATION', message, { cause });
    this.name = 'StoreFault';
    this.kind = kind;
  }
}

/** Damage that a reader met, and the file's inode: another file may have replaced it by now. */
export interface FileDamage {
  readonly inode: number;
  readonly reason: string;
}

/** What an SQLite code says of the surroundings; null for what is the statement's own fault. */
export function faultOfCode(code: string): StoreFaultKind | null {
  if (code === 'SQLITE_FULL') return 'full';
  if (code.startsWith('SQLITE_IOERR') || code === 'SQLITE_CANTOPEN' || code === 'SQLITE_READONLY') return 'io';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'corrupt';
  if (code.startsWith('SQLITE_BUSY')) return 'busy';
  return null;
}
