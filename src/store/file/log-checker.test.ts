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
  const check = logChecker(database, { passiveBytes: 0, gateBytes: 0 }, new FileSeal(file), () => {});
  const checked = (times: number): number => {
    for (let count = 0; count < times; count += 1) check(true);
    return process.memoryUsage.rss();
  };
  const before = checked(2000);
  expect((checked(20_000) - before) / 2 ** 20).toBeLessThan(16);
});

test('the file is synced once before each restart of the log, near the gate, however long a reader holds the log', () => {
  const file = storeFile();
  const connection = (): Database => {
    const opened = new Database(file, { busyMs: 5, slowMs: Number.POSITIVE_INFINITY });
    onTestFinished(() => opened.close());
    return opened;
  };
  const [writer, reader, database] = [connection(), connection(), connection()];
  writer.pragma('journal_mode = WAL');
  writer.pragma('wal_autocheckpoint = 0');
  writer.exec('CREATE TABLE t (v BLOB)');
  const gateBytes = 256 * 1024;
  const happened: string[] = [];
  const check = logChecker(database, { passiveBytes: 10 * gateBytes, gateBytes }, new FileSeal(file), () => {
    const { bytes } = database.log();
    happened.push(bytes > (gateBytes * 15) / 16 ? 'synced near the gate' : `synced at ${bytes}`);
  });
  let last = 0;
  const write = (times: number): void => {
    for (let count = 0; count < times; count += 1) {
      writer.statement('INSERT INTO t VALUES (zeroblob(3000))').run();
      const { bytes } = database.log();
      if (bytes < last) happened.push('restarted');
      last = bytes;
      check(false);
    }
  };
  write(100);
  reader.exec('BEGIN');
  reader.statement('SELECT count(*) FROM t').get();
  write(100);
  happened.push('read');
  reader.exec('COMMIT');
  write(100);
  const turns = happened.filter((what) => what !== 'read');
  expect(turns.length).toBeGreaterThan(5);
  expect(turns).toEqual(turns.map((_, at) => (at % 2 === 0 ? 'synced near the gate' : 'restarted')));
  expect(happened[happened.indexOf('read') - 1]).toBe('synced near the gate');
});
