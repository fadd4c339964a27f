/**
 * Directories of tests. They are removed with the test, or after the last test of the file where no test is running or the test did not
 * end (remove-directories.ts). The `exit` event of the process is no help: it is not emitted in the processes of vitest's pool.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const left = new Set<string>();

/** A new directory that is removed after the last test of the file: for hooks, and for what several tests share. */
export function sharedDirectory(purpose: string): string {
  const directory = mkdtempSync(join(tmpdir(), `portolan-${purpose}-`));
  left.add(directory);
  return directory;
}

/** A new directory that is removed when the running test has finished. */
export function temporaryDirectory(purpose: string): string {
  const directory = sharedDirectory(purpose);
  onTestFinished(() => removeDirectory(directory));
  return directory;
}

/** Removes such a directory before the test has finished: for tests that make many. */
export function removeDirectory(directory: string): void {
  // A process of the test that is still ending may write a last file meanwhile.
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  left.delete(directory);
}

/** Removes all that are left. */
export function removeDirectories(): void {
  for (const directory of left) removeDirectory(directory);
}
