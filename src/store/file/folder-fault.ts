/** The fault of a store's folder, found by a look at it or by the error of a call. Each fault has a sentence with what to do. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { sqliteCodeOf } from '../sqlite/database.ts';
import { faultOfCode, StoreFault } from '../types/store-fault.ts';

/** A disk with less space than this is full: the log cannot take a batch of events. */
const leastFreeBytes = 1024 * 1024;

/** The fault that can be seen without a write; null if there is none. The seal reports a folder that is gone. */
export function lookAtFolder(file: string, cause: unknown = null): StoreFault | null {
  const folder = dirname(file);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    accessSync(file, constants.W_OK);
    const { blocks, bsize, bavail, bfree } = statfsSync(folder);
    const free = bsize * (process.geteuid?.() === 0 ? bfree : bavail);
    // A file system without a size says zero for everything.
    return blocks > 0 && free < leastFreeBytes ? fullFault(file, cause) : null;
  } catch (error) {
    return isRefusal(error) ? readonlyFault(file, cause) : null;
  }
}

/** The fault of the folder that an error of Node or of SQLite reports; null for any other error. */
export function folderFaultOf(file: string, error: unknown): StoreFault | null {
  const code = sqliteCodeOf(error);
  const kind = code === null ? null : faultOfCode(code);
  if (kind === 'full' || (error as NodeJS.ErrnoException).code === 'ENOSPC') return fullFault(file, error);
  if (kind === 'readonly' || isRefusal(error)) return readonlyFault(file, error);
  if (kind !== 'io') return null;
  const text = (store: string): string => `${store} cannot be read or written (${code}); look after its disk.`;
  return lookAtFolder(file, error) ?? new StoreFault('io', text, { file, cause: error });
}

function isRefusal(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code));
}

/** The text of a full disk. @param store what it is called */
export function diskIsFull(store: string): string {
  return `the disk that holds ${store} is full; free some space, or leave resources out with --exclude.`;
}

function fullFault(file: string, cause: unknown): StoreFault {
  return new StoreFault('full', diskIsFull, { file, cause });
}

function readonlyFault(file: string, cause: unknown): StoreFault {
  const text = (store: string): string =>
    `${store} or its folder is read-only; make both writable for the user of Portolan.`;
  return new StoreFault('readonly', text, { file, cause });
}
