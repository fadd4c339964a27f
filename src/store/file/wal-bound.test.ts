/** The write-ahead log without its checkpoint thread: the writer alone keeps it bounded, with and without readers. */
import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import { codeOf } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { openReader } from '../read/reader.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import type { Checkpointer } from './checkpointer.ts';
import { FileSeal } from './file-seal.ts';
import { WalBound } from './wal-bound.ts';

/** A thread that is never scheduled. */
const stalled = (): Checkpointer => ({ stop: () => {}, endUnsyncedFill: () => {} });
const walGateBytes = 1024 * 1024;
const walOf = (file: string): number => statSync(`${file}-wal`).size;

function starved(): { writer: StoreWriter; file: string } {
  const file = storeFile();
  const writer = openWriter(file, { startCheckpointer: stalled, walGateBytes });
  onTestFinished(() => writer.close());
  return { writer, file };
}

test('a stalled checkpoint thread lets the log grow no further than the writer allows', async () => {
  const { writer, file } = starved();
  const handle = writer.declare(describedResource());
  await writer.replace(handle).commit('1');
  const sizes: number[] = [];
  for (let rv = 2; rv < 400; rv += 1) {
    const given = { name: `n${rv % 50}`, rv, phase: 'x'.repeat(20_000) };
    writer.apply(handle, [event('MODIFIED', given)], String(rv));
    sizes.push(walOf(file));
  }
  expect(Math.max(...sizes)).toBeGreaterThan(walGateBytes);
  expect(Math.max(...sizes)).toBeLessThan(walGateBytes * 1.5);
});

test('a relist of many differences makes room before it is committed as one', async () => {
  const { writer, file } = starved();
  const handle = writer.declare(describedResource());
  const relist = async (rv: number, phase: string): Promise<void> => {
    const replace = writer.replace(handle);
    replace.put(Array.from({ length: 20 }, (_, index) => pod({ name: `n${index}`, rv, phase })));
    await replace.commit(String(rv));
  };
  await relist(1, 'x'.repeat(20_000));
  for (let rv = 2; rv < 10; rv += 1) {
    await relist(rv, String(rv).repeat(20_000));
    expect(walOf(file)).toBeLessThan(walGateBytes * 2);
  }
});

test('a relist is committed while the first list of another kind is written', async () => {
  const { writer } = starved();
  const listed = writer.declare(describedResource());
  await writer.replace(listed).commit('1');
  const first = writer.replace(writer.declare(describedResource({ plural: 'others' })));
  const relist = writer.replace(listed);
  relist.put([pod({ name: 'a', rv: 2 })]);
  first.put(Array.from({ length: 20 }, (_, index) => pod({ name: `n${index}`, rv: 1 })));
  expect(await relist.commit('2')).toMatchObject({ added: 1 });
  expect(await first.commit('1')).toMatchObject({ added: 20 });
});

test('readers that follow each other without a gap are waited for, cut where they must be, and let in again', async () => {
  const { writer, file } = starved();
  const reader = openReader(file, { readers: 2, leaseMs: 60_000, walGateBytes, walLimitBytes: walGateBytes * 1.5 });
  onTestFinished(() => reader.close());
  const handle = writer.declare(describedResource());
  await writer.replace(handle).commit('1');
  // Holds its snapshot until the lease is cancelled, and then takes another one.
  let cuts = 0;
  let over = false;
  const hold = async (): Promise<void> => {
    while (!over) {
      await reader
        .lease(() => new Promise<never>(() => {}))
        .catch((error: unknown) => {
          if (codeOf(error) === 'TIMEOUT') cuts += 1;
        });
    }
  };
  const held = hold();
  let largest = 0;
  for (let rv = 2; cuts < 3; rv += 1) {
    writer.apply(handle, [event('MODIFIED', { name: 'a', rv, phase: 'x'.repeat(4000) })], String(rv));
    largest = Math.max(largest, walOf(file));
    // The pool checks the log by timers of this thread.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  over = true;
  await reader.close();
  await held;
  expect(largest).toBeLessThan(walGateBytes * 2);
});

/** A database with a log larger than the gate. */
function pastTheGate(patienceMs: number): { database: Database; beside: Database; wal: WalBound } {
  const file = storeFile();
  const database = new Database(file);
  const beside = new Database(file);
  onTestFinished(() => {
    beside.close();
    database.close();
  });
  database.pragma('journal_mode = WAL');
  database.pragma('wal_autocheckpoint = 0');
  database.exec('CREATE TABLE t (x)');
  const settle = (): void => {
    if (database.inTransaction) database.commit();
  };
  const wal = new WalBound(database, {
    gateBytes: 100_000,
    patienceMs,
    settle,
    seal: new FileSeal(database.file),
    log: silentLogger,
  });
  for (let row = 0; row < 6; row += 1) database.statement('INSERT INTO t VALUES (zeroblob(20000))').run();
  expect(wal.bytes()).toBeGreaterThan(100_000);
  return { database, beside, wal };
}

test('bulk work waits for the checkpoint thread, and does not empty the log itself', async () => {
  const { database, beside, wal } = pastTheGate(60_000);
  const restarts = vi.spyOn(database, 'restartLog');
  let over = false;
  const room = wal.room().then(() => {
    over = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(over).toBe(false);
  expect(beside.restartLog(0)).toBe(true);
  await room;
  expect(restarts).not.toHaveBeenCalled();
});

test('where the checkpoint thread does not come to it, bulk work empties the log after a while', async () => {
  const { wal } = pastTheGate(20);
  await wal.room();
  expect(wal.bytes()).toBe(0);
});

test('bulk work commits what it has open before it waits, since the thread needs the lock', async () => {
  const { database, beside, wal } = pastTheGate(60_000);
  database.begin();
  database.statement('INSERT INTO t VALUES (1)').run();
  const room = wal.room();
  expect(beside.restartLog(0)).toBe(true);
  await room;
  expect(wal.bytes()).toBe(0);
});

test('a log that was once far longer gives its room on the disk back', () => {
  const { database, wal } = pastTheGate(60_000);
  for (let row = 0; row < 20; row += 1) database.statement('INSERT INTO t VALUES (zeroblob(20000))').run();
  expect(walOf(database.file)).toBeGreaterThan(400_000);
  wal.relieve();
  database.statement('INSERT INTO t VALUES (1)').run();
  expect(walOf(database.file)).toBeLessThanOrEqual(125_000);
});

test("somebody else's snapshot outlasts the patience: that is said once, and writing goes on", async () => {
  const file = storeFile();
  const database = new Database(file);
  const beside = new Database(file);
  const said: string[] = [];
  const log = { ...silentLogger, warn: (_fields: object, message: string): void => void said.push(message) };
  onTestFinished(() => {
    beside.close();
    database.close();
  });
  database.pragma('journal_mode = WAL');
  database.pragma('wal_autocheckpoint = 0');
  database.pragma('busy_timeout = 0');
  const wal = new WalBound(database, {
    gateBytes: 100_000,
    patienceMs: 20,
    settle: () => {},
    seal: new FileSeal(database.file),
    log,
  });
  database.exec('CREATE TABLE t (x)');
  const write = (): void => {
    wal.hold();
    database.statement('INSERT INTO t VALUES (zeroblob(20000))').run();
  };
  beside.exec('BEGIN');
  expect(beside.statement('SELECT count(*) FROM t').get()).toEqual([0]);
  for (let row = 0; row < 12; row += 1) write();
  expect(wal.bytes()).toBeGreaterThan(175_000);
  expect(said).toEqual([expect.stringContaining('grows past its bound')]);
  beside.exec('ROLLBACK');
  await nextTurn();
  write();
  expect(wal.bytes()).toBeLessThan(50_000);
});
