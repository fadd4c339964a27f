/**
 * Faults of the store's environment, as opposed to faulty statements. SQLite's error codes distinguish them, and each has its own
 * remedy. A fault rolls the whole transaction back: tables, log and memory contain nothing of it.
 *
 *   full      the disk or the disk budget is full: data is removed (disk-budget.ts), and the work is tried again
 *   readonly  the file or its folder cannot be written: the work is tried again
 *   io        the disk fails: the work is tried again
 *   lost      the file is damaged, gone, or not what was written: it is made anew with a new epoch
 *   busy      another connection holds the lock for too long
 */
import { PortolanError } from '../../base/errors.ts';
import { upperFirst } from '../../base/text/upper-first.ts';

type StoreFaultKind = 'full' | 'readonly' | 'io' | 'lost' | 'busy';

/** Where a fault is, and the error that showed it. */
interface StoreFaultOrigin {
  readonly file: string;
  readonly cause: unknown;
}

/** A CONFIGURATION error, because an operator must fix the environment. */
export class StoreFault extends PortolanError {
  readonly kind: StoreFaultKind;
  /** The message without the path of the file, for callers. */
  readonly shown: string;

  /**
   * @param text the message, by what it calls the store: with its file for operators and the log, without it for callers
   */
  constructor(kind: StoreFaultKind, text: (store: string) => string, { file, cause }: StoreFaultOrigin) {
    super('CONFIGURATION', upperFirst(text(`the store ${file}`)), { cause });
    this.name = 'StoreFault';
    this.kind = kind;
    this.shown = upperFirst(text('the store'));
  }
}

/** A fault that lasts, for those who look after the gateway. Plain data; a type alias, so that it is assignable to a record. */
export type StoreTrouble = {
  readonly kind: StoreFaultKind;
  /** The fault, and the remedy. */
  readonly error: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
};

/** Damage that a reader found, with the file's inode, because another file may have replaced the damaged one since. */
export interface FileDamage {
  readonly inode: number;
  readonly reason: string;
}

/** Codes beside those of corruption: the file was moved, is shorter than it says, or its bytes are not what the disk was given. */
const lostCodes: ReadonlySet<string> = new Set([
  'SQLITE_READONLY_DBMOVED',
  'SQLITE_IOERR_SHORT_READ',
  'SQLITE_IOERR_CORRUPTFS',
  'SQLITE_IOERR_DATA',
]);

/** The environment fault of an SQLite code; null where the statement itself is at fault. */
export function faultOfCode(code: string): StoreFaultKind | null {
  if (code === 'SQLITE_FULL') return 'full';
  if (lostCodes.has(code)) return 'lost';
  if (code.startsWith('SQLITE_READONLY')) return 'readonly';
  if (code.startsWith('SQLITE_IOERR') || code === 'SQLITE_CANTOPEN') return 'io';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'lost';
  if (code.startsWith('SQLITE_BUSY')) return 'busy';
  return null;
}
