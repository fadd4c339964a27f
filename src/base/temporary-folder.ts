/** A folder under the system's temporary folder that does not outlive the process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder with its content. Idempotent. */
  remove(): void;
}

/**
 * Creates a folder whose name begins with `prefix`. `remove` deletes it; otherwise it is deleted when the process exits.
 * `process.exit` runs no `finally` block, but it runs exit listeners. After a signal without a listener the folder remains.
 */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
  // Retries, because a thread may create a file in the folder during the removal.
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
