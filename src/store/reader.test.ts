import { expect, onTestFinished, test } from 'vitest';
import { readDescribed, readResourceStates } from './catalog-rows.ts';
import { objectsAsOf, readChanges, readLogFloor } from './changes.ts';
import { readLayouts } from './layout.ts';
import { openReader, type PooledReader, type ReaderOptions } from './reader.ts';
import { describedResource, event, pod, storeFile } from './test-support.ts';
import type { Statement } from './types.ts';
import { openWriter, type StoreWriter } from './writer.ts';

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
/** Runs until its tick stops it. */
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
      promotedTable: 'p1',
      slots: [{ path: 'status.phase', type: 'String', column: 'c0', ready: true }],
    });
    expect((await readDescribed(lease)).described).toEqual([describedResource()]);
    expect(await readResourceStates(lease)).toMatchObject([{ synced: true, lastResourceVersion: '5', objects: 1 }]);
    expect(await readLogFloor(lease)).toBe(0);
    const changes = await readChanges(lease, { kindIds: [1], after: 1, limit: 10 });
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
    const past = (await objectsAsOf(lease, [id, 999], 2)).get(id);
    expect([past?.resourceVersion, phase(past?.body)]).toEqual(['4', 'Failed']);
    expect((await objectsAsOf(lease, [id], 3)).size).toBe(0);
  });
});
