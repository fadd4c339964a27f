import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import type { WriterOptions } from '../write/writer-options.ts';
import { type Checkpointer, startCheckpointer } from './checkpointer.ts';
import { openStore } from './open-store.ts';
import { beginUnsyncedFill, UnsyncedFill, unsyncedFillOf } from './unsynced-fill.ts';

const boot = 'this-boot';
const inline = { checkpoints: 'inline', boot } as const;
const noteOf = (file: string): string => `${file}-filling`;

function clockAt(): { clock: NonNullable<WriterOptions['clock']>; pass: (ms: number) => void } {
  let ms = 0;
  const pass = (more: number): void => {
    ms += more;
  };
  return { clock: { ...systemClock, monotonic: () => ms }, pass };
}

async function fill(writer: StoreWriter): Promise<void> {
  const replace = writer.replace(writer.declare(describedResource()));
  replace.put([pod({ name: 'a', rv: 1 })]);
  await replace.commit('1');
}

test('a file is synced once it has been at rest for a while, and not while another kind is filled', async () => {
  const file = storeFile();
  const { clock, pass } = clockAt();
  const writer = openWriter(file, { ...inline, clock });
  expect(readFileSync(noteOf(file), 'utf8')).toBe(boot);
  const look = (ms: number): boolean => {
    pass(ms);
    writer.maintain();
    return existsSync(noteOf(file));
  };
  expect(look(10_000)).toBe(true);
  expect(look(10_000)).toBe(true);
  await fill(writer);
  expect(look(1)).toBe(true);
  const other = writer.replace(writer.declare(describedResource({ plural: 'nodes' })));
  other.put([pod({ name: 'b', rv: 1 })]);
  expect(look(10_000)).toBe(true);
  await other.commit('1');
  expect(look(1)).toBe(true);
  expect(look(1999)).toBe(true);
  expect(look(1)).toBe(false);
  expect(look(10_000)).toBe(false);
  writer.close();
  expect(existsSync(noteOf(file))).toBe(false);
});

test('the checkpoint thread syncs it where there is one', async () => {
  const file = storeFile();
  const { clock, pass } = clockAt();
  const ended: string[] = [];
  const started: boolean[] = [];
  const start = (options: Parameters<typeof startCheckpointer>[0]): Checkpointer => {
    const checkpointer = startCheckpointer(options);
    started.push(options.unsyncedFill);
    const endUnsyncedFill = (): void => {
      ended.push('asked');
      checkpointer.endUnsyncedFill();
    };
    return { ...checkpointer, endUnsyncedFill };
  };
  const writer = openWriter(file, { boot, clock, startCheckpointer: start });
  onTestFinished(() => writer.close());
  await fill(writer);
  writer.maintain();
  pass(2000);
  writer.maintain();
  expect([started, ended]).toEqual([[true], ['asked']]);
  while (existsSync(noteOf(file))) await sleep(5);
});

test('a connection writes without syncs only in the first fill', () => {
  const database = new Database(storeFile());
  onTestFinished(() => database.close());
  const { clock, pass } = clockAt();
  const synchronous = (): unknown => database.pragma('synchronous');
  const parts = { database, clock, atRest: () => true, end: () => {} };
  expect(new UnsyncedFill(false, parts).running).toBe(false);
  expect(synchronous()).toBe(1);
  const fill = new UnsyncedFill(true, parts);
  expect(synchronous()).toBe(0);
  fill.look();
  expect(synchronous()).toBe(0);
  pass(2000);
  fill.look();
  expect([fill.running, synchronous()]).toEqual([false, 1]);
});

test('closed at rest it is synced; closed before, it goes on under the same boot and is rebuilt under another', async () => {
  const file = storeFile();
  const writer = openWriter(file, inline);
  await fill(writer);
  writer.close();
  expect(existsSync(noteOf(file))).toBe(false);

  const half = storeFile();
  openWriter(half, inline).close();
  expect(unsyncedFillOf(half, boot)).toBe('goes on');
  const again = openWriter(half, inline);
  expect(again.outcome).toBe('resumed');
  again.replace(again.declare(describedResource())).put([pod({ name: 'a', rv: 1 })]);
  again.close();
  expect(unsyncedFillOf(half, boot)).toBe('goes on');

  const said: unknown[] = [];
  const warn = (fields: object, message: string): void => void said.push([message, fields]);
  const later = openStore(half, { log: { ...silentLogger, warn }, boot: 'another' });
  expect([later.outcome, later.unsyncedFill]).toEqual(['rebuilt', true]);
  expect(said).toEqual([
    [
      'the store is rebuilt; everything is listed anew and cursors lose their place',
      { file: half, reason: 'the machine went down while it was filled for the first time' },
    ],
  ]);
  later.close();
  expect(readFileSync(noteOf(half), 'utf8')).toBe('another');
});

test.each([
  ['text', (file: string) => writeFileSync(file, 'a letter, and no store at all')],
  [
    'a database of another program',
    (file: string) => {
      const database = new Database(file);
      database.pragma('application_id = 7');
      database.exec('CREATE TABLE mine (a)');
      database.close();
    },
  ],
])('%s with a note beside it is left alone', (_, write) => {
  const file = storeFile();
  write(file);
  const before = readFileSync(file);
  writeFileSync(noteOf(file), 'another');
  expect(() => openStore(file, { log: silentLogger, boot })).toThrow(/is not a store of Portolan/);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a file of which nothing has reached the disk is rebuilt', () => {
  const file = storeFile();
  writeFileSync(file, Buffer.alloc(8192));
  writeFileSync(noteOf(file), 'another');
  const store = openStore(file, { log: silentLogger, boot });
  expect([store.outcome, store.unsyncedFill]).toEqual(['rebuilt', true]);
  store.close();
});

test('where a boot has no name, files are synced from the start, and a note is not trusted', () => {
  const file = storeFile();
  const store = openStore(file, { log: silentLogger, boot: null });
  expect([store.unsyncedFill, existsSync(noteOf(file))]).toEqual([false, false]);
  store.close();
  writeFileSync(noteOf(file), boot);
  expect(unsyncedFillOf(file, null)).toBe('lost');
});

test('a note without a file is of no file', () => {
  const file = storeFile();
  expect(beginUnsyncedFill(file, 'another')).toBe(true);
  const store = openStore(file, { log: silentLogger, boot });
  expect([store.outcome, store.unsyncedFill]).toEqual(['created', true]);
  store.close();
  expect(readFileSync(noteOf(file), 'utf8')).toBe(boot);
});

test('a place that takes no note has its file synced', () => {
  expect(beginUnsyncedFill('/proc/none/store.db', boot)).toBe(false);
});
