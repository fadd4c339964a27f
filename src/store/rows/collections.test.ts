/** Several collections of one resource in one store. Each has its own rows and version; they share one description. */
import { expect, test } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import { must } from '../../base/must.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import { mostKindsThatCame } from './resources.ts';

function rows(file: string, sql: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .statement(sql)
      .all()
      .map(([text]) => String(text));
  } finally {
    database.close();
  }
}

const published = `SELECT namespace || '/' || name || '@' || rv FROM object
  WHERE rowset IN (SELECT rowset FROM resource WHERE synced = 1) ORDER BY 1`;

async function twoNamespaces(): Promise<{ writer: StoreWriter; file: string }> {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  for (const namespace of ['a', 'b']) {
    const replace = writer.replace(writer.declare(describedResource(), namespace));
    replace.put([pod({ namespace, name: 'one', rv: 1 }), pod({ namespace, name: 'two', rv: 2 })]);
    await replace.commit(namespace === 'a' ? '10' : '20');
  }
  return { writer, file };
}

test('a replace of one namespace leaves the others as they are, small or wholesale', async () => {
  for (const maxDifferences of [2000, 0]) {
    const { writer: first, file } = await twoNamespaces();
    first.close();
    const writer = openWriter(file, { checkpoints: 'inline', maxDifferences });
    const a = writer.declare(describedResource(), 'a');
    const b = writer.declare(describedResource(), 'b');
    const replace = writer.replace(a);
    replace.put([pod({ namespace: 'a', name: 'one', rv: 11 })]);
    await replace.commit('30');
    expect(rows(file, published)).toEqual(['a/one@11', 'b/one@1', 'b/two@2']);
    writer.apply(b, [event('DELETED', { namespace: 'b', name: 'one', rv: 21 })], '21');
    expect(rows(file, published)).toEqual(['a/one@11', 'b/two@2']);
    expect([a, b].map((handle) => writer.state(handle))).toMatchObject([
      { lastResourceVersion: '30', objects: 1 },
      { lastResourceVersion: '21', objects: 1 },
    ]);
    writer.close();
  }
});

test('a description is kept once, and goes with the last collection', async () => {
  const { writer, file } = await twoNamespaces();
  const [a, b] = ['a', 'b'].map((namespace) => writer.declare(describedResource(), namespace));
  expect(rows(file, 'SELECT cluster FROM description')).toEqual(['east']);
  await writer.drop(must(a, 'a handle'));
  expect(rows(file, published)).toEqual(['b/one@1', 'b/two@2']);
  expect(rows(file, 'SELECT cluster FROM description')).toEqual(['east']);
  await writer.drop(must(b, 'a handle'));
  expect(rows(file, 'SELECT cluster FROM description')).toEqual([]);
  writer.close();
});

test('the order in which kinds came is kept, up to a bound; kinds that are there are never forgotten', async () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  const kept = describedResource({ plural: 'first', kind: 'First' });
  const gone = describedResource({ plural: 'gone', kind: 'Gone' });
  writer.declare(kept);
  await writer.drop(writer.declare(gone));
  writer.close();
  const database = new Database(file);
  database.exec(`WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${mostKindsThatCame})
    INSERT INTO kind_came (kind, name) SELECT 1000 + i, 'Kind' || i FROM n`);
  database.close();
  const again = openWriter(file, { checkpoints: 'inline' });
  again.declare(describedResource({ plural: 'last', kind: 'Last' }));
  again.declare(kept);
  again.close();
  const read = new Database(file);
  const names = read
    .statement('SELECT name FROM kind_came ORDER BY id')
    .all()
    .map(([name]) => String(name));
  read.close();
  expect(names).toHaveLength(mostKindsThatCame);
  expect([names[0], names.includes('Gone'), names.at(-1)]).toEqual(['First', false, 'Last']);
});

test('what is redacted from now on goes from every namespace', async () => {
  const { writer } = await twoNamespaces();
  writer.declare(describedResource({ redacted: ['status'] }), 'a');
  expect(writer.states().map(({ synced }) => synced)).toEqual([false, false]);
  writer.close();
});

test('what a process that died said of itself is not believed', async () => {
  const { writer, file } = await twoNamespaces();
  const a = must(writer.states()[0], 'a state');
  writer.setStatus(a.handle, { ...a.status, phase: 'WATCHING', lastSignAt: 5, staleSince: null });
  writer.close();
  const again = openWriter(file, { checkpoints: 'inline' });
  expect(again.state(a.handle).status).toMatchObject({ phase: 'STOPPED', staleSince: 5 });
  again.close();
});
