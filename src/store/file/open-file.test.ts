/** Syncs by descriptors that others have opened. */
import { closeSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { storeFile } from '../../../test/kit/store-file.ts';
import { syncOpenFile } from './open-file.ts';

test('opens and closes no descriptor, whether the file is open, closed or gone', () => {
  const file = storeFile();
  const openFiles = (): readonly string[] => readdirSync('/proc/self/fd').toSorted();
  writeFileSync(file, 'x');
  const before = openFiles();
  syncOpenFile(file);
  const descriptor = openSync(file, 'r');
  const during = openFiles();
  syncOpenFile(file);
  expect(openFiles()).toEqual(during);
  closeSync(descriptor);
  rmSync(file);
  syncOpenFile(file);
  expect(openFiles()).toEqual(before);
});

test.skipIf(process.platform !== 'linux')('a sync that fails is an error of the system', () => {
  // A pipe has no disk.
  const descriptor = openSync('/dev/null', 'r');
  try {
    expect(() => syncOpenFile('/dev/null')).toThrow(expect.objectContaining({ syscall: 'fsync' }));
  } finally {
    closeSync(descriptor);
  }
});
