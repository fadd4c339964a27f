import { expect, onTestFinished, test } from 'vitest';
import { Database } from './database.ts';
import { describedResource, event, pod, storeFile } from './test-support.ts';
import type { ResourceHandle } from './types.ts';
import { openWriter, type StoreWriter, type WriterOptions } from './writer.ts';

function open(options: WriterOptions & { file?: string } = {}): { writer: StoreWriter; file: string } {
  const file = options.file ?? storeFile();
  const writer = openWriter(file, { checkpoints: 'inline', ...options });
  onTestFinished(() => writer.close());
  return { writer, file };
}

async function synced(writer: StoreWriter, objects = [pod({ name: 'a', rv: 5 })], rv = '10'): Promise<ResourceHandle> {
  writer.openCluster('east', 'cluster-uid');
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put(objects);
  await replace.commit(rv);
  return handle;
}

function read(file: string, sql: string): unknown[][] {
  const database = new Database(file, { readonly: true });
  try {
    return database.statement(sql).all() as unknown[][];
  } finally {
    database.close();
  }
}

const published = `SELECT o.name, o.rv, json(b.body) FROM object o JOIN body b USING (id)
  WHERE o.rowset IN (SELECT rowset FROM resource WHERE synced = 1) ORDER BY 1`;
const changes = 'SELECT seq, type, name, rv FROM change ORDER BY seq';

test('a first sync is invisible until it is committed, and is one RESET', async () => {
  const { writer, file } = open();
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 }), pod({ name: 'b', rv: 2 })]);
  expect(read(file, published)).toEqual([]);
  expect(writer.state(handle)).toMatchObject({ synced: false, lastResourceVersion: null });
  const summary = await replace.commit('7');
  expect(summary).toEqual({ added: 2, modified: 0, deleted: 0, ignored: 0, revision: 1 });
  expect(read(file, published).map(([name]) => name)).toEqual(['a', 'b']);
  expect(read(file, changes)).toEqual([[1, 'RESET', '', '7']]);
  expect(writer.state(handle)).toMatchObject({ synced: true, lastResourceVersion: '7', objects: 2 });
});

test('events change rows, and the log has each with the body before', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const summary = writer.apply(
    handle,
    [
      event('MODIFIED', { name: 'a', rv: 11, phase: 'Failed' }),
      event('ADDED', { name: 'b', rv: 12 }),
      event('DELETED', { name: 'a', rv: 13 }),
    ],
    '13',
  );
  expect(summary).toEqual({ added: 1, modified: 1, deleted: 1, ignored: 0, revision: 4 });
  expect(read(file, published).map(([name]) => name)).toEqual(['b']);
  expect(read(file, changes)).toEqual([
    [1, 'RESET', '', '10'],
    [2, 'MODIFIED', 'a', '11'],
    [3, 'ADDED', 'b', '12'],
    [4, 'DELETED', 'a', '13'],
  ]);
  expect(read(file, `SELECT seq, before ->> '$.status.phase' FROM change ORDER BY seq`)).toEqual([
    [1, null],
    [2, 'Running'],
    [3, null],
    [4, 'Failed'],
  ]);
});
