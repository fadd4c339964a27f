/** A folder under the system's temporary folder that does not outlive the process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder with its content. Idempotent. */
  remove(): void;
}

/**
 * Makes a folder whose name begins with `prefix`. It is removed by `remove`, and otherwise when the process exits: `process.exit`
 * runs no `finally` block, but it runs this. A process that is ended by a signal without a listener leaves the folder behind.
 */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
  // A thread may still create a file in the folder: then the removal is tried again.
  const removeNow = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.on('exit', removeNow);
  return {
    path,
    remove() {
      process.off('exit', removeNow);
      removeNow();
    },
  };
}
