/** The files of the store are readable by their owner only, because they hold objects of every kind. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';

const ownersOnly = 0o600;

/** Creates the folder and its parents, for the owner only. Existing folders keep their mode. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Creates an empty file for the owner only, or takes the rights of others from an existing one. SQLite gives a log the same mode. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', ownersOnly));
  restrict(path);
}

/** Takes the rights of others from files that exist. A file of another owner is left as it is. */
export function makePrivate(...paths: readonly string[]): void {
  for (const path of paths) if (existsSync(path)) restrict(path);
}

function restrict(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  try {
    chmodSync(path, ownersOnly);
  } catch {
    // The file belongs to another user, or the file system has no modes. Its administrator decides who reads it.
  }
}
