/** The checkpoint thread on a full disk, simulated by the kernel's limit on file sizes (RLIMIT_FSIZE). */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import { silentLogger } from '../../base/log.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter } from '../write/writer.ts';

const hasPrlimit = (() => {
  try {
    execFileSync('prlimit', ['--version']);
    return true;
  } catch {
    return false;
  }
})();

/** Largest file in bytes. A longer write fails with EFBIG, and the process ignores the signal that comes with it. */
function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${bytes}:unlimited`]);
}

test.skipIf(!hasPrlimit)('F42: a checkpoint that fails is tried again until the disk takes it', async () => {
  const ignore = (): void => {};
  process.on('SIGXFSZ', ignore);
  onTestFinished(() => {
    limitFiles('unlimited');
    process.off('SIGXFSZ', ignore);
  });
  const said: string[] = [];
  const file = storeFile();
  const note = (_: object, message: string): void => {
    said.push(message);
  };
  const writer = openWriter(file, { log: { ...silentLogger, info: note, error: note } });
  onTestFinished(() => writer.close());
  const beside = new Database(file, { readonly: true });
  onTestFinished(() => beside.close());
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'first', rv: 1, phase: 'x'.repeat(1_000_000) })]);
  await replace.commit('1');
  await expect.poll(() => beside.log().pendingBytes, { timeout: 20_000 }).toBe(0);

  // The log restarts, so it takes pages for which the database file has no space.
  limitFiles(statSync(file).size);
  writer.apply(handle, [event('ADDED', { name: 'large', rv: 2, phase: 'x'.repeat(100_000) })], '2');
  const failures = (): number => said.filter((line) => line.includes('cannot be written back')).length;
  await expect.poll(failures, { timeout: 20_000 }).toBe(1);
  expect(beside.log().pendingBytes).toBeGreaterThan(0);

  limitFiles('unlimited');
  await expect.poll(() => said.some((line) => line.includes('written back again')), { timeout: 20_000 }).toBe(true);
  expect(beside.log().pendingBytes).toBe(0);
  expect(failures()).toBe(1);
});
