/**
 * Syncs a file of the store by a descriptor that SQLite has opened. An own descriptor would have to be closed at some time. Closing any
 * descriptor of a file releases the locks of all of the process's connections to it.
 */
import { fstatSync, fsyncSync, readdirSync, statSync } from 'node:fs';

/** Does nothing where the descriptors of a process are not listed (not Linux), or none has the file. @throws for a failed sync */
export function syncOpenFile(file: string): void {
  const descriptor = descriptorOf(file);
  if (descriptor !== null) fsyncSync(descriptor);
}

function descriptorOf(file: string): number | null {
  try {
    const { dev, ino } = statSync(file);
    const isOfFile = (descriptor: number): boolean => {
      try {
        const found = fstatSync(descriptor);
        return found.ino === ino && found.dev === dev;
      } catch {
        // It was closed meanwhile.
        return false;
      }
    };
    return readdirSync('/proc/self/fd').map(Number).find(isOfFile) ?? null;
  } catch {
    return null;
  }
}
