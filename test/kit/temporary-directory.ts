/** Directories of tests, which go away with the test, or with the process where no test is running or the test did not end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const left = new Set<string>();
process.once('exit', () => {
  for (const directory of left) rmSync(directory, { recursive: true, force: true });
});

/** A new directory that is removed when the process ends: for hooks, and for what several tests share. */
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
  rmSync(directory, { recursive: true, force: true });
  left.delete(directory);
}
