import { rmSync, statSync, truncateSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import { PortolanError } from '../../base/errors.ts';
import { hashText } from '../../catalog/tree/structure-hash.ts';
import type { Statement } from '../types/statement.ts';
import type { FileDamage } from '../types/store-fault.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import { readDescriptionRows, readDescriptionTexts } from './catalog-rows.ts';
import { objectsAsOf, readChanges, readLogFloor } from './changes.ts';
import { readLayouts } from './layout.ts';
import { openReader, type PooledReader, type ReaderOptions } from './reader.ts';
import { readResourceProgress } from './resource-progress.ts';

async function open(options: Partial<ReaderOptions> = {}): Promise<{ writer: StoreWriter; reader: PooledReader }> {
  const file = storeFile();
  const writer = openWriter(file);
  onTestFinished(() => writer.close());
  const reader = openReader(file, { readers: 2, ...options });
  onTestFinished(() => reader.close());
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 }), pod({ name: 'b', rv: 2 })]);
  await replace.commit('2');
  return { writer, reader };
}

const names: Statement = { sql: 'SELECT name FROM object ORDER BY name', params: [] };
/** A statement that runs until its tick ends it. */
const runaway: Statement = {
  sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE (i & 255) <> 0 OR tick() = 0)
        SELECT count(*) FROM n`,
  params: [],
};

test('a lease sees one snapshot at one revision, whatever is committed meanwhile', async () => {
  const { writer, reader } = await open();
  const [handle] = writer.states().map((state) => state.handle);
  await reader.lease(async (lease) => {
    expect(lease.revision).toBe(1);
    expect(lease.epoch).toBe(writer.epoch);
    if (handle) writer.apply(handle, [event('ADDED', { name: 'c', rv: 3 })], '3');
    expect(await lease.all(names)).toEqual([['a'], ['b']]);
  });
  await reader.lease(async (lease) => {
    expect(lease.revision).toBe(2);
    expect(await lease.all(names)).toEqual([['a'], ['b'], ['c']]);
  });
});

test('aborting cancels a running statement and rejects with the reason; the thread goes on to serve', async () => {
  const { reader } = await open({ readers: 1, leaseMs: 60_000 });
  const controller = new AbortController();
  const reason = new Error('the caller left');
  const asked = reader.lease((lease) => lease.all(runaway), { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 30);
  await expect(asked).rejects.toBe(reason);
  expect(await reader.lease((lease) => lease.all(names))).toHaveLength(2);
});

test('rows for the rooms next door: layouts, descriptions, states, changes, objects as of a revision', async () => {
  const { writer, reader } = await open();
  const handle = writer.states()[0]?.handle;
  if (handle === undefined) throw new Error('no resource');
  writer.apply(
    handle,
    [event('MODIFIED', { name: 'a', rv: 4, phase: 'Failed' }), event('DELETED', { name: 'a', rv: 5 })],
    '5',
  );
  await reader.lease(async (lease) => {
    expect((await readLayouts(lease)).get('pods')).toEqual({
      kindId: 1,
      named: 'Pod',
      promotedTable: 'p1',
      slots: [{ path: 'status.phase', type: 'String', column: 'c0', ready: true, reason: 'PRINTER_COLUMN' }],
      places: [],
    });
    const described = await readDescriptionRows(lease);
    const [text] = (await readDescriptionTexts(lease, described)).values();
    expect(JSON.parse(text ?? '')).toEqual(describedResource());
    expect(described).toMatchObject([
      { cluster: 'east', key: 'pods', length: text?.length, digest: hashText(text ?? '') },
    ]);
    expect(await readDescriptionRows(lease, [{ cluster: 'other', key: 'pods' }])).toEqual([]);
    expect(await readDescriptionRows(lease, described)).toEqual(described);
    expect(await readResourceProgress(lease)).toMatchObject([{ synced: true, lastResourceVersion: '5', objects: 1 }]);
    expect(await readLogFloor(lease)).toBe(0);
    const changes = await readChanges(lease, { kindId: 1, after: 1, limit: 10 });
    expect(changes.map(({ seq, type, name }) => [seq, type, name])).toEqual([
      [2, 'MODIFIED', 'a'],
      [3, 'DELETED', 'a'],
    ]);
    const phase = (text: string | null | undefined) => (text ? JSON.parse(text).status.phase : text);
    expect(changes.map(({ before, after }) => [phase(before), phase(after)])).toEqual([
      ['Running', 'Failed'],
      ['Failed', null],
    ]);
    const id = changes[0]?.objectId ?? 0;
    const past = (await objectsAsOf(lease, 1, [id, 999], 2)).get(id);
    expect([past?.resourceVersion, phase(past?.body)]).toEqual(['4', 'Failed']);
    expect((await objectsAsOf(lease, 1, [id], 3)).size).toBe(0);
  });
});

test('a lease past its time is cut with TIMEOUT, running or not', async () => {
  const { reader } = await open({ readers: 1, leaseMs: 30 });
  await expect(reader.lease((lease) => lease.all(runaway))).rejects.toMatchObject({ code: 'TIMEOUT' });
  const idle = reader.lease(() => new Promise<never>(() => {}));
  await expect(idle).rejects.toMatchObject({ code: 'TIMEOUT' });
  const lease = await reader.open({ timeoutMs: 60_000 });
  lease.end();
  lease.end();
  await expect(lease.all(names)).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
});

test('leases wait for a free thread, in their order; waiting ends with the signal', async () => {
  const { reader } = await open({ readers: 1 });
  const first = await reader.open();
  const order: number[] = [];
  const second = reader.lease(async () => order.push(2));
  const controller = new AbortController();
  const third = reader.lease(async () => order.push(3), { signal: controller.signal });
  const fourth = reader.lease(async () => order.push(4));
  expect(reader.stats()).toMatchObject({ active: 1, waiting: 3 });
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(third).rejects.toBe(reason);
  await expect(reader.lease(async () => {}, { signal: controller.signal })).rejects.toBe(reason);
  first.end();
  await Promise.all([second, fourth]);
  expect(order).toEqual([2, 4]);
  expect(reader.stats()).toMatchObject({ active: 0, waiting: 0 });
});

test('waiting has an end of its own', async () => {
  const { reader } = await open({ readers: 1, waitMs: 20 });
  const first = await reader.open();
  await expect(reader.open()).rejects.toMatchObject({ code: 'TIMEOUT' });
  first.end();
});

test('a thread that dies takes its lease with it and is replaced; the others go on', async () => {
  const { reader } = await open({ readers: 2, heapMb: 24, maxRows: 100_000_000, leaseMs: 60_000 });
  const other = await reader.open();
  // More rows than the thread's heap can hold.
  const greedy: Statement = {
    sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000)
          SELECT i, 'a text of some length, number ' || i FROM n`,
    params: [],
  };
  await expect(reader.lease((lease) => lease.all(greedy))).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
  expect(await other.all(names)).toHaveLength(2);
  other.end();
  await expect.poll(() => reader.stats(), { timeout: 5000 }).toMatchObject({ readers: 2, restarts: 1 });
  const both = await Promise.all([reader.open(), reader.open()]);
  for (const lease of both) {
    expect(await lease.all(names)).toHaveLength(2);
    lease.end();
  }
});

test('an error names the statement and leaves the lease usable', async () => {
  const { reader } = await open();
  await reader.lease(async (lease) => {
    const failed = await lease.all({ sql: 'SELECT missing FROM object', params: [] }).catch((error: unknown) => error);
    expect(String(failed)).toContain('SELECT missing FROM object');
    // The log gets the statement, the caller a number.
    expect(failed).not.toBeInstanceOf(PortolanError);
    await expect(lease.all({ sql: 'DELETE FROM object RETURNING id', params: [] })).rejects.toThrow('readonly');
    expect(await lease.all(names)).toHaveLength(2);
  });
});

test.each([
  ['depth', `SELECT ${'('.repeat(900)}1${')'.repeat(900)} + ${Array.from({ length: 1100 }, () => '1').join('+')}`],
  ['terms', `SELECT 1 ${'UNION ALL SELECT 1 '.repeat(600)}`],
  ['columns', `SELECT ${Array.from({ length: 3000 }, () => '1').join(',')}`],
  ['brackets', `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`],
  ['tables', `SELECT 1 FROM ${Array.from({ length: 70 }, () => 'object').join(',')}`],
])('a statement over a limit of SQLite (%s) is a costly query, and no defect', async (_what, sql) => {
  const { reader } = await open();
  const failed = await reader.lease((lease) => lease.all({ sql, params: [] })).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'QUERY_TOO_COSTLY', message: expect.not.stringMatching(/SELECT|SQLITE/) });
});

test('fill runs statements until enough rows are there', async () => {
  const { reader } = await open();
  const one = (value: number): Statement => ({ sql: 'SELECT ? UNION ALL SELECT ?', params: [value, value] });
  const failing: Statement = { sql: 'SELECT missing', params: [] };
  await reader.lease(async (lease) => {
    expect(await lease.fill([one(1), one(2), failing], 3)).toEqual([[1], [1], [2]]);
    expect(await lease.fill([one(1), one(2)], 10)).toEqual([[1], [1], [2], [2]]);
    await expect(lease.fill([one(1), failing], 3)).rejects.toThrow();
  });
});

test('too many rows are an error, not a dead thread', async () => {
  const { reader } = await open({ maxRows: 1 });
  await expect(reader.lease((lease) => lease.all(names))).rejects.toMatchObject({ code: 'QUERY_TOO_COSTLY' });
});

test('closing cuts what runs, refuses what waits, and ends the threads', async () => {
  const { reader } = await open({ readers: 1, leaseMs: 60_000 });
  const running = reader.lease((lease) => lease.all(runaway));
  const refused = expect(running).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
  const waiting = expect(reader.open()).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
  await reader.close();
  await Promise.all([refused, waiting]);
  await expect(reader.open()).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
  expect(reader.stats().readers).toBe(0);
});

test('before there is a store, and when another one takes its place', async () => {
  const file = storeFile();
  const reader = openReader(file, { readers: 1 });
  onTestFinished(() => reader.close());
  await expect(reader.open()).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
  for (const epoch of ['one', 'two']) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    const writer = openWriter(file, { newEpoch: () => epoch });
    expect(await reader.lease(async (lease) => lease.epoch)).toBe(epoch);
    writer.close();
  }
});

test('the gate holds new leases while the log is long, and the checkpointer takes it back', async () => {
  const file = storeFile();
  const walGateBytes = 256 * 1024;
  const writer = openWriter(file, { walGateBytes });
  onTestFinished(() => writer.close());
  const reader = openReader(file, { readers: 2, walGateBytes, leaseMs: 60_000 });
  onTestFinished(() => reader.close());
  const handle = writer.declare(describedResource());
  await writer.replace(handle).commit('1');
  const first = await reader.open();
  const before = await first.all(names);
  for (let rv = 2; reader.stats().walBytes <= walGateBytes; rv += 1) {
    writer.apply(handle, [event('ADDED', { name: `n${rv}`, rv, phase: 'x'.repeat(20_000) })], String(rv));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  let granted = false;
  const second = reader.open().then((lease) => {
    granted = true;
    return lease;
  });
  await expect.poll(() => reader.stats().waiting).toBe(1);
  expect(granted).toBe(false);
  expect(await first.all(names)).toEqual(before);
  first.end();
  const lease = await second;
  expect(reader.stats().walBytes).toBeLessThanOrEqual(walGateBytes);
  expect(lease.revision).toBe(writer.revision());
  lease.end();
});

test('running leases are cut when the log passes its limit and still grows', async () => {
  const { writer, reader } = await open({ walGateBytes: 64 * 1024, walLimitBytes: 128 * 1024, leaseMs: 60_000 });
  const handle = writer.states()[0]?.handle;
  if (handle === undefined) throw new Error('no resource');
  let over = false;
  const stuck = reader.lease((lease) => lease.all(runaway));
  const cut = expect(stuck)
    .rejects.toMatchObject({ code: 'TIMEOUT' })
    .finally(() => {
      over = true;
    });
  for (let rv = 10; !over; rv += 1) {
    writer.apply(handle, [event('ADDED', { name: `n${rv}`, rv, phase: 'x'.repeat(20_000) })], String(rv));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await cut;
  expect(reader.stats().cutForWal).toBe(1);
});

test('a long log that nobody writes back holds leases up, but does not shut them out', async () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  onTestFinished(() => writer.close());
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put(Array.from({ length: 20 }, (_, index) => pod({ name: `n${index}`, rv: 1, phase: 'x'.repeat(20_000) })));
  await replace.commit('1');
  const reader = openReader(file, { readers: 1, walGateBytes: 1, walLimitBytes: 1 });
  onTestFinished(() => reader.close());
  expect(await reader.lease((lease) => lease.all(names))).toHaveLength(20);
  expect(reader.stats().cutForWal).toBe(0);
});

test('descriptions of more than a message have their texts all the same', async () => {
  const { writer, reader } = await open();
  for (const plural of ['as', 'bs', 'cs']) {
    writer.declare({ ...describedResource({ plural }), description: plural.repeat(100_000) });
  }
  await reader.lease(async (lease) => {
    const rows = await readDescriptionRows(lease);
    expect(rows.map(({ key }) => key)).toEqual(['as', 'bs', 'cs', 'pods']);
    const texts = await readDescriptionTexts(lease, rows);
    for (const { id, key, length } of rows) {
      expect(JSON.parse(texts.get(id) ?? '').resource.plural).toBe(key);
      expect(Buffer.byteLength(texts.get(id) ?? '')).toBe(length);
    }
    expect(await readDescriptionTexts(lease, [])).toEqual(new Map());
  });
});

test('a file that is shorter than it says is damaged, and a read of it is no defect', async () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  const handle = writer.declare(describedResource({ plural: 'pods', kind: 'Pod' }));
  const replace = writer.replace(handle);
  replace.put(Array.from({ length: 200 }, (_, index) => pod({ name: `n${index}`, rv: 1, phase: 'x'.repeat(3000) })));
  await replace.commit('10');
  writer.close();
  const found: FileDamage[] = [];
  const reader = openReader(file, { readers: 1, onDamage: (damage) => void found.push(damage) });
  onTestFinished(() => reader.close());
  await reader.lease((lease) => lease.all(names));
  truncateSync(file, 200 * 1024);
  const reading = reader.lease((lease) => lease.all({ sql: 'SELECT sum(octet_length(body)) FROM body', params: [] }));
  await expect(reading).rejects.toMatchObject({
    code: 'CACHE_NOT_READY',
    message: expect.stringContaining('made anew'),
  });
  expect(found).toEqual([{ inode: statSync(file).ino, reason: expect.any(String) }]);
});

test('a lease that cannot begin, because the files were cut, is no defect: SQLite has ended the transaction by itself', async () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 })]);
  await replace.commit('1');
  const reader = openReader(file, { readers: 1 });
  onTestFinished(() => reader.close());
  await reader.lease((lease) => lease.all(names));
  writer.apply(handle, [event('ADDED', { name: 'b', rv: 2 })], '2');
  writer.close();
  for (const path of [file, `${file}-wal`]) truncateSync(path, 0);
  await expect(reader.lease((lease) => lease.all(names))).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
});
