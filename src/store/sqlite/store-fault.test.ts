/** F42: a full store on real files: rolled back transactions, removed data, and continued work. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import type { Logger } from '../../base/log.ts';
import { silentLogger } from '../../base/log.ts';
import { openReader } from '../read/reader.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { FileDamage } from '../types/store-fault.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import type { WriterOptions } from '../write/writer-options.ts';
import { Database } from './database.ts';

const walGateBytes = 64 * 1024;

/** A writer whose database file may have about so many pages of 4 KiB. */
function small(pages: number, options: WriterOptions & { readonly file?: string } = {}) {
  const file = options.file ?? storeFile();
  const said: string[] = [];
  const log: Logger = { ...silentLogger, warn: (_fields, message) => void said.push(message) };
  const maxDiskBytes = 2 * walGateBytes + Math.ceil((pages * 8) / 7) * 4096;
  const writer = openWriter(file, { checkpoints: 'inline', walGateBytes, maxDiskBytes, log, ...options });
  onTestFinished(() => writer.close());
  return { writer, file, said };
}

async function synced(writer: StoreWriter, plural: string, count: number, size: number): Promise<ResourceHandle> {
  const handle = writer.declare(describedResource({ plural, kind: plural }));
  const replace = writer.replace(handle);
  try {
    for (let index = 0; index < count; index += 1) {
      const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
      replace.put([pod({ name: `n${index}`, rv: 1, phase: 'x'.repeat(size), metadata: { creationTimestamp } })]);
    }
    await replace.commit('10');
  } catch (error) {
    replace.abort();
    throw error;
  }
  return handle;
}

const full = expect.objectContaining({ name: 'StoreFault', kind: 'full' });

function read(file: string, sql: string): unknown[][] {
  const database = new Database(file, { readonly: true });
  try {
    return database.statement(sql).all() as unknown[][];
  } finally {
    database.close();
  }
}

test('F42: SQLITE_FULL rolls back whole; the log is given up down to its least, and the same event is taken then', async () => {
  const { writer, file, said } = small(300, { changeLog: { leastBytes: 20_000 } });
  const handle = await synced(writer, 'pods', 20, 2000);
  const put = (rv: number): void => {
    writer.apply(handle, [event('MODIFIED', { name: `n${rv % 20}`, rv, phase: 'y'.repeat(6000) })], String(rv));
  };
  let rv = 11;
  expect(() => {
    for (; rv < 1000; rv += 1) put(rv);
  }).toThrow(full);
  const state = writer.state(handle);
  expect(state).toMatchObject({ lastResourceVersion: String(rv - 1), objects: 20 });
  expect(writer.revision()).toBe(rv - 10);
  expect(read(file, 'SELECT max(seq) FROM change')).toEqual([[rv - 10]]);
  while (writer.maintain());
  expect(said).toContainEqual(expect.stringContaining('runs out of room'));
  expect(Number(read(file, 'SELECT sum(bytes) FROM kind_log')[0]?.[0])).toBeLessThanOrEqual(20_000);
  expect(writer.disk()).toMatchObject({ tight: true, shed: { events: 0 } });
  expect(writer.disk().shed.changes).toBeGreaterThan(10);
  // While the store is tight, each batch of events removes old log entries itself.
  for (const end = rv + 300; rv < end; rv += 1) put(rv);
  expect(writer.state(handle).lastResourceVersion).toBe(String(rv - 1));
});

test('F42: wherever there is no room, memory and file agree, and the work is done when there is room', async () => {
  const points = new Set<string>();
  for (let pages = 40; pages < 140; pages += 3) {
    const file = storeFile();
    let reached = 'open';
    try {
      const { writer } = small(pages, { file });
      try {
        for (const plural of ['pods', 'services']) {
          reached = `declare ${plural}`;
          const handle = writer.declare(describedResource({ plural, kind: plural }));
          reached = `list ${plural}`;
          const replace = writer.replace(handle);
          replace.put(
            Array.from({ length: 10 }, (_, index) => pod({ name: `n${index}`, rv: 1, labels: { app: 'a' } })),
          );
          await replace.commit('10');
          reached = `apply ${plural}`;
          for (let rv = 11; rv < 22; rv += 1)
            writer.apply(handle, [event('ADDED', { name: `m${rv}`, rv, phase: 'x'.repeat(3000) })], String(rv));
        }
        reached = 'end';
      } catch (error) {
        expect(error).toEqual(full);
      }
      const memory = writer.states().map(({ described: _, ...state }) => state);
      writer.close();
      const { writer: again } = small(pages, { file, maxDiskBytes: null });
      expect(again.states().map(({ described: _, ...state }) => state)).toEqual(memory);
      again.close();
    } catch (error) {
      expect(error).toMatchObject({ message: expect.stringMatching(/full|room/) });
    }
    points.add(reached);
  }
  expect([...points]).toEqual(
    expect.arrayContaining(['list pods', 'apply pods', 'list services', 'apply services', 'end']),
  );
});

test('F42: a table that could not be made is made by the next try of the same writer', async () => {
  const { writer, file } = small(60, { maxDiskBytes: null });
  const handle = writer.declare(describedResource());
  await writer.replace(handle).commit('10');
  const promoted = describedResource({ plural: 'services', kind: 'Service' });
  const services = writer.declare(promoted);
  const replace = writer.replace(services);
  await replace.commit('10');
  const beside = new Database(file);
  beside.exec(`CREATE TRIGGER refuse BEFORE INSERT ON change BEGIN SELECT raise(ABORT, 'refused'); END`);
  const added = [event('ADDED', { name: 'a', rv: 11 })];
  expect(() => writer.apply(services, added, '11')).toThrow('refused');
  beside.exec('DROP TRIGGER refuse');
  beside.close();
  expect(writer.apply(services, added, '11')).toMatchObject({ added: 1 });
});

test('a resource that does not fit is refused before the rest is used up; its neighbour is served and goes on', async () => {
  const { writer, file } = small(400);
  const pods = await synced(writer, 'pods', 20, 2000);
  await expect(synced(writer, 'secrets', 2000, 3000)).rejects.toEqual(full);
  expect(writer.state(pods)).toMatchObject({ synced: true, objects: 20 });
  for (let rv = 11; rv < 40; rv += 1) {
    writer.apply(pods, [event('MODIFIED', { name: `n${rv % 20}`, rv, phase: 'z'.repeat(2000) })], String(rv));
  }
  // Housekeeping removes the rows of the failed list first, which frees enough space.
  while (writer.maintain());
  expect(writer.disk()).toMatchObject({ shed: { events: 0 } });
  expect(read(file, 'SELECT count(*) FROM object')).toEqual([[20]]);
  const use = writer.disk();
  expect(use.usedBytes).toBeLessThan(Number(use.maxBytes) / 2);
});

test('Events go after the log, the oldest first, and no other object does', async () => {
  const { writer, file } = small(1200, { changeLog: { leastBytes: 4000 } });
  const pods = await synced(writer, 'pods', 50, 3000);
  const events = await synced(writer, 'events', 1300, 100);
  let rv = 11;
  try {
    for (; rv < 3000; rv += 1)
      writer.apply(pods, [event('ADDED', { name: `m${rv}`, rv, phase: 'x'.repeat(3000) })], String(rv));
  } catch (error) {
    expect(error).toEqual(full);
  }
  const objects = writer.state(pods).objects;
  while (writer.maintain());
  expect(writer.disk().shed.changes).toBeGreaterThan(0);
  expect(writer.disk().shed.events).toBeGreaterThan(0);
  expect(writer.state(pods).objects).toBe(objects);
  expect(writer.state(events).objects).toBe(1000);
  expect(read(file, `SELECT min(CAST(substr(name, 2) AS INTEGER)) FROM object WHERE kind = 2`)).toEqual([[300]]);
});

/** Overwrites the root page of a table or an index. */
function damage(file: string, name: string): void {
  const [row] = read(file, `SELECT rootpage FROM sqlite_schema WHERE name = '${name}'`);
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, (Number(row?.[0]) - 1) * 4096);
  closeSync(handle);
}

test('F42: a damaged page ends the writer without a step forward; the next one begins a new life of the file', async () => {
  const { writer, file } = small(10_000);
  const handle = await synced(writer, 'pods', 5, 100);
  const { epoch } = writer;
  writer.close();
  damage(file, 'body');
  const { writer: second } = small(10_000, { file });
  expect(second).toMatchObject({ outcome: 'resumed', epoch });
  const noticed = new Promise<string>((resolve) => second.onDamage(resolve));
  const events = [event('MODIFIED', { name: 'n1', rv: 11 })];
  const corrupt = expect.objectContaining({ name: 'StoreFault', kind: 'lost' });
  expect(() => second.apply(handle, events, '11')).toThrow(corrupt);
  await noticed;
  expect(second.state(handle).lastResourceVersion).toBe('10');
  expect(() => second.bookmark(handle, '12')).not.toThrow();
  expect(() => second.apply(handle, events, '11')).toThrow(corrupt);
  second.close();
  const { writer: third, said } = small(10_000, { file });
  expect(third.outcome).toBe('rebuilt');
  expect(third.epoch).not.toBe(epoch);
  expect(third.states()).toEqual([]);
  expect(said).toContainEqual(expect.stringContaining('the store is rebuilt'));
});

test('F42: a file whose tables cannot be read at the start is made anew at once, however it was closed', async () => {
  const { writer, file } = small(10_000);
  await synced(writer, 'pods', 5, 100);
  writer.close();
  damage(file, 'resource');
  const { writer: second, said } = small(10_000, { file });
  expect(second.outcome).toBe('rebuilt');
  expect(said).toContainEqual(expect.stringContaining('the store is rebuilt'));
});

test('F42: a reader that meets a damaged page says so, with the file in which it was', async () => {
  const { writer, file } = small(10_000);
  await synced(writer, 'pods', 5, 100);
  writer.close();
  damage(file, 'body');
  const heard: FileDamage[] = [];
  const reader = openReader(file, { readers: 1, onDamage: (found) => heard.push(found) });
  onTestFinished(() => reader.close());
  const reading = reader.lease((lease) => lease.all({ sql: 'SELECT body FROM body', params: [] }));
  await expect(reading).rejects.toMatchObject({
    code: 'CACHE_NOT_READY',
    message: expect.stringContaining('made anew'),
  });
  expect(heard).toEqual([{ inode: statSync(file).ino, reason: expect.stringContaining('malformed') }]);
});

/** Makes the kernel refuse larger files to this process. SQLite reports it as SQLITE_IOERR, like a failing disk. */
function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

test.runIf(process.platform === 'linux')(
  'F42: SQLITE_IOERR keeps nothing of the transaction, and the same events are taken when the disk is well again',
  async () => {
    const { writer, file } = small(10_000);
    const handle = await synced(writer, 'pods', 5, 100);
    writer.apply(handle, [event('MODIFIED', { name: 'n1', rv: 11 })], '11');
    const before = [writer.revision(), writer.state(handle)];
    const large = [event('MODIFIED', { name: 'n2', rv: 12, phase: 'x'.repeat(2_000_000) })];
    onTestFinished(() => limitFiles('unlimited'));
    limitFiles(1_000_000);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(() => writer.apply(handle, large, '12')).toThrow(
        expect.objectContaining({ name: 'StoreFault', kind: 'io', message: expect.stringContaining('SQLITE_IOERR') }),
      );
      expect([writer.revision(), writer.state(handle)]).toEqual(before);
      expect(read(file, 'SELECT max(seq) FROM change')).toEqual([[2]]);
    }
    limitFiles('unlimited');
    expect(writer.apply(handle, large, '12')).toMatchObject({ modified: 1 });
    expect(writer.state(handle).lastResourceVersion).toBe('12');
  },
);
