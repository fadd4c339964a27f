import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { storeFile } from '../../../test/kit/store-file.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { Database } from '../sqlite/database.ts';
import { openStore } from './open-store.ts';

function recorder(): { log: Logger; said: string[] } {
  const said: string[] = [];
  const warn = (_fields: object, message: string): void => void said.push(message);
  return { log: { ...silentLogger, warn }, said };
}

/** Leaves a store as after a killed process: not marked as properly closed. */
function abandoned(file: string): void {
  openStore(file, { log: silentLogger, newEpoch: () => 'first' }).close();
  const database = new Database(file);
  database.exec(`UPDATE meta SET value = 0 WHERE key = 'clean'`);
  database.close();
}

test('a new file is made, and resumed with its epoch', () => {
  const file = storeFile();
  const { log, said } = recorder();
  const first = openStore(file, { log, newEpoch: () => 'first' });
  expect([first.outcome, first.epoch]).toEqual(['created', 'first']);
  first.close();
  const second = openStore(file, { log, newEpoch: () => 'second' });
  expect([second.outcome, second.epoch]).toEqual(['resumed', 'first']);
  second.close();
  expect(said).toEqual([]);
  expect(existsSync(`${file}-staging`)).toBe(false);
});

test('files are readable by their owner only, and new folders can be entered by their owner only', () => {
  const file = join(dirname(storeFile()), 'a', 'b', 'portolan.db');
  const modes = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(dirname(file)).map((name) => [name, (statSync(join(dirname(file), name)).mode & 0o777).toString(8)]),
    );
  const store = openStore(file, { log: silentLogger });
  expect(new Set(Object.values(modes()))).toEqual(new Set(['600']));
  expect(Object.keys(modes())).toEqual(expect.arrayContaining(['portolan.db', 'portolan.db-wal', 'portolan.db-lock']));
  for (const folder of [dirname(file), dirname(dirname(file))]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  store.close();
  for (const name of readdirSync(dirname(file))) chmodSync(join(dirname(file), name), 0o644);
  openStore(file, { log: silentLogger }).close();
  expect(new Set(Object.values(modes()))).toEqual(new Set(['600']));
});

test('a device is refused, and its mode stays', () => {
  const { mode } = statSync('/dev/null');
  expect(() => openStore('/dev/null', { log: silentLogger })).toThrow('it is no regular file');
  expect(statSync('/dev/null').mode).toBe(mode);
  expect(existsSync('/dev/null-lock')).toBe(false);
});

test('a file of another program is refused without a trace', () => {
  const file = storeFile();
  writeFileSync(file, '# A text\n');
  expect(() => openStore(file, { log: silentLogger })).toThrow('is not a store of Portolan');
  expect(readdirSync(dirname(file))).toEqual([basename(file)]);
});

test('an unclean end is checked and said', () => {
  const file = storeFile();
  abandoned(file);
  const { log, said } = recorder();
  const store = openStore(file, { log });
  expect([store.outcome, store.epoch]).toEqual(['resumed', 'first']);
  expect(said).toEqual(['the store was not closed in order; checking it']);
  store.close();
});

test.each([
  ['an older format', (file: string) => change(file, 'PRAGMA user_version = 0')],
  ['a note of damage', (file: string) => writeFileSync(`${file}-damaged`, 'database disk image is malformed')],
  ['no state', (file: string) => change(file, 'DELETE FROM state')],
  ['missing pages', (file: string) => truncateSync(file, 8192)],
  [
    'scribbled pages',
    (file: string) => {
      const bytes = readFileSync(file);
      bytes.fill(0x5a, 4096, 5 * 4096);
      writeFileSync(file, bytes);
    },
  ],
])('a store with %s is rebuilt, loudly, as a new life', (_what, damage) => {
  const file = storeFile();
  abandoned(file);
  damage(file);
  const { log, said } = recorder();
  const store = openStore(file, { log, newEpoch: () => 'second' });
  expect([store.outcome, store.epoch]).toEqual(['rebuilt', 'second']);
  expect(said.at(-1)).toMatch(/the store is rebuilt/);
  expect(store.database.statement('SELECT revision FROM state').get()).toEqual([0]);
  store.close();
});

test('a store of a newer format is set aside whole, and a new life begins, loudly', () => {
  const file = storeFile();
  abandoned(file);
  change(file, 'PRAGMA user_version = 999');
  const before = readFileSync(file);
  const { log, said } = recorder();
  const store = openStore(file, { log, newEpoch: () => 'second' });
  expect([store.outcome, store.epoch]).toEqual(['rebuilt', 'second']);
  expect(said.at(-1)).toMatch(/the store is rebuilt.*kept under another name/);
  expect(readFileSync(`${file}.format-999`)).toEqual(before);
  store.close();
  const again = openStore(file, { log });
  expect([again.outcome, again.epoch]).toEqual(['resumed', 'second']);
  again.close();
});

test('a store that is left for damage is rebuilt once, though a check finds nothing', () => {
  const file = storeFile();
  const { log, said } = recorder();
  openStore(file, { log, newEpoch: () => 'first' }).abandon('a page is not what it should be');
  const second = openStore(file, { log, newEpoch: () => 'second' });
  expect([second.outcome, second.epoch]).toEqual(['rebuilt', 'second']);
  expect(said).toEqual([expect.stringContaining('the store is rebuilt')]);
  second.close();
  const third = openStore(file, { log });
  expect([third.outcome, third.epoch]).toEqual(['resumed', 'second']);
  third.close();
});

const notes = 'my notes, by no means a database. '.repeat(200);

test('the first page overwritten, with the note of its writer: rebuilt, and nothing of it is kept', () => {
  const file = storeFile();
  const store = openStore(file, { log: silentLogger, newEpoch: () => 'first' });
  writeFileSync(file, notes);
  store.abandon('another program has written into it');
  const second = openStore(file, { log: silentLogger, newEpoch: () => 'second' });
  expect([second.outcome, second.epoch]).toEqual(['rebuilt', 'second']);
  expect(existsSync(`${file}.unknown`)).toBe(false);
  second.close();
});

test.each([
  ['a note of another file', (file: string) => openStore(file, { log: silentLogger }).abandon('it is gone')],
  ['the lock of a store', (file: string) => openStore(file, { log: silentLogger }).close()],
  ['a writer that says so', () => {}, 'another file is in its place'],
])('a file that is no store, beside %s, is set aside', (_what, before, lost: string | null = null) => {
  const file = storeFile();
  before(file);
  rmSync(file, { force: true });
  writeFileSync(file, notes);
  const { log, said } = recorder();
  const store = openStore(file, { log, lost });
  expect(store.outcome).toBe('rebuilt');
  expect(said.at(-1)).toMatch(/the store is rebuilt.*kept under another name/);
  expect(readFileSync(`${file}.unknown`, 'utf8')).toBe(notes);
  store.close();
});

test('a sound store is rebuilt where its writer says that it is lost', () => {
  const file = storeFile();
  openStore(file, { log: silentLogger, newEpoch: () => 'first' }).close();
  const store = openStore(file, { log: silentLogger, newEpoch: () => 'second', lost: 'it is an older copy' });
  expect([store.outcome, store.epoch]).toEqual(['rebuilt', 'second']);
  store.close();
});

test.each([
  ['gone', (file: string) => rmSync(file)],
  ['empty', (file: string) => truncateSync(file, 0)],
])('a log is not taken for that of a file that is %s', (_what, lose) => {
  const file = storeFile();
  const store = openStore(file, { log: silentLogger, newEpoch: () => 'first' });
  const log = readFileSync(`${file}-wal`);
  store.close();
  lose(file);
  writeFileSync(`${file}-wal`, log);
  const second = openStore(file, { log: silentLogger, newEpoch: () => 'second' });
  expect([second.outcome, second.epoch]).toEqual(['created', 'second']);
  second.close();
});

test.each([
  ['a directory', (path: string) => mkdirSync(path), ''],
  ['below a file', (path: string) => writeFileSync(path, ''), '/store.db'],
])('a path that is %s is refused with what to do', (_what, make, more) => {
  const path = `${storeFile()}-elsewhere`;
  make(path);
  expect(() => openStore(`${path}${more}`, { log: silentLogger })).toThrow(
    expect.objectContaining({
      code: 'CONFIGURATION',
      message: expect.stringContaining('give --data the path of a file'),
    }),
  );
});

function change(file: string, sql: string): void {
  const database = new Database(file);
  database.exec(sql);
  database.close();
}

test.each([
  ['no database', (file: string) => writeFileSync(file, notes)],
  ["somebody else's database", (file: string) => change(file, 'CREATE TABLE notes (text)')],
])('a file that is %s is left alone', (_what, make) => {
  const file = storeFile();
  make(file);
  const before = readFileSync(file);
  expect(() => openStore(file, { log: silentLogger })).toThrow(expect.objectContaining({ code: 'CONFIGURATION' }));
  expect(readFileSync(file)).toEqual(before);
});

test('one writer at a time: in this process and in another, until it is gone', async () => {
  const file = storeFile();
  const options = { log: silentLogger, lockWaitMs: 10 };
  const mine = openStore(file, options);
  expect(() => openStore(file, options)).toThrow(expect.objectContaining({ code: 'CONFIGURATION' }));
  mine.close();
  const child = fork(fileURLToPath(new URL('../../../test/kit/store-writer.ts', import.meta.url)), [file, 'hold']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  expect(() => openStore(file, options)).toThrow(expect.objectContaining({ code: 'CONFIGURATION' }));
  child.kill('SIGKILL');
  await once(child, 'exit');
  openStore(file, options).close();
});
