/** The checks of the log in a thread that does not return to its event loop. */
import { expect, onTestFinished, test } from 'vitest';
import { storeFile } from '../../../test/kit/store-file.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter } from '../write/writer.ts';
import { FileSeal } from './file-seal.ts';
import { logChecker } from './log-checker.ts';

test('many checks of the log use no memory', () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  onTestFinished(() => writer.close());
  const database = new Database(file, { mustExist: true, busyMs: 5, slowMs: Number.POSITIVE_INFINITY });
  onTestFinished(() => database.close());
  const check = logChecker(database, { passiveBytes: 0, gateBytes: 0 }, new FileSeal(file));
  const checked = (times: number): number => {
    for (let count = 0; count < times; count += 1) check(true);
    return process.memoryUsage.rss();
  };
  const before = checked(2000);
  expect((checked(20_000) - before) / 2 ** 20).toBeLessThan(16);
});
