/** A store that a test writes, and queries on its file. */
import { onTestFinished } from 'vitest';
import { Database } from '../../src/store/sqlite/database.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { describedResource, pod, storeFile } from './store-file.ts';

/** A writer of a new file; closed with the test. */
export function open(options: WriterOptions & { file?: string } = {}): { writer: StoreWriter; file: string } {
  const file = options.file ?? storeFile();
  const writer = openWriter(file, { checkpoints: 'inline', ...options });
  onTestFinished(() => writer.close());
  return { writer, file };
}

/** Declares the Pods of `east` and replaces them with these objects. */
export async function synced(
  writer: StoreWriter,
  objects = [pod({ name: 'a', rv: 5 })],
  rv = '10',
): Promise<ResourceHandle> {
  writer.openCluster('east', 'cluster-uid');
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put(objects);
  await replace.commit(rv);
  return handle;
}

/** Runs a query on the file, as a reader. */
export function read(file: string, sql: string): unknown[][] {
  const database = new Database(file, { readonly: true });
  try {
    return database.statement(sql).all() as unknown[][];
  } finally {
    database.close();
  }
}

/** Name, resourceVersion and body of the published objects. */
export const published = `SELECT o.name, o.rv, json(b.body) FROM object o JOIN body b USING (id)
  WHERE o.rowset IN (SELECT rowset FROM resource WHERE synced = 1) ORDER BY 1`;
export const changes = 'SELECT seq, type, name, rv FROM change ORDER BY seq';
