/** Transactions that are left open for bulk work: which calls end them, and which callbacks a failure calls. */
import { expect, onTestFinished, test } from 'vitest';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import { silentLogger } from '../../base/log.ts';
import { FileSeal } from '../file/file-seal.ts';
import { openStore } from '../file/open-store.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter } from '../write/writer.ts';
import { WriteSession } from './write-session.ts';

const never = (): void => expect.unreachable('nothing was lost');

function opened(): { session: WriteSession; committed: () => unknown[] } {
  const file = storeFile();
  const store = openStore(file, { log: silentLogger });
  const beside = new Database(file, { readonly: true });
  onTestFinished(() => {
    beside.close();
    store.close();
  });
  return {
    session: new WriteSession(store.database, silentLogger, new FileSeal(file)),
    committed: () => beside.statement(`SELECT key FROM meta WHERE key LIKE 'row%' ORDER BY key`).all().flat(),
  };
}

const insert = (session: WriteSession, key: string) => (): number => {
  session.database.statement('INSERT INTO meta VALUES (?, 1)').run(key);
  session.nextObjectId();
  return 10;
};

test('what is filled is committed when there is enough of it, when it is settled, and before anything else', () => {
  const { session, committed } = opened();
  expect(session.fill(30, never, insert(session, 'row1'))).toBe(false);
  expect(session.fill(30, never, insert(session, 'row2'))).toBe(false);
  expect(committed()).toEqual([]);
  expect(session.fill(30, never, insert(session, 'row3'))).toBe(true);
  expect(committed()).toEqual(['row1', 'row2', 'row3']);
  session.fill(30, never, insert(session, 'row4'));
  session.settle();
  expect(committed()).toHaveLength(4);
  session.fill(30, never, insert(session, 'row5'));
  expect(() =>
    session.run(() => {
      insert(session, 'row6')();
      throw new Error('refused');
    }),
  ).toThrow('refused');
  expect(committed()).toEqual(['row1', 'row2', 'row3', 'row4', 'row5']);
  expect(session.counters.nextObject).toBe(6);
});

test('a failure undoes all that was left open, and everybody who wrote in it hears so', () => {
  const { session, committed } = opened();
  const lost: string[] = [];
  session.fill(100, () => lost.push('first'), insert(session, 'row1'));
  const failing = insert(session, 'row1');
  expect(() => session.fill(100, () => lost.push('second'), failing)).toThrow('UNIQUE');
  expect(lost).toEqual(['first', 'second']);
  expect(session.counters.nextObject).toBe(1);
  session.fill(100, never, insert(session, 'row2'));
  session.settle();
  expect(committed()).toEqual(['row2']);
});

test('a transaction that is undone leaves no kind in the signal of the next', () => {
  const { session } = opened();
  const heard: unknown[] = [];
  session.committed.onCommit(({ after, revision, kindIds }) => heard.push({ after, revision, kindIds }));
  expect(() =>
    session.run(() => {
      session.nextSequence(7);
      throw new Error('refused');
    }),
  ).toThrow('refused');
  session.run(() => session.nextSequence(8));
  session.run(() => session.nextObjectId());
  session.run(() => [session.nextSequence(9), session.nextSequence(9)]);
  expect(heard).toEqual([
    { after: 0, revision: 1, kindIds: [8] },
    { after: 1, revision: 3, kindIds: [9] },
  ]);
});

test('a first sync is not seen before its commit, and waits for no one else to be written', async () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  const beside = new Database(file, { readonly: true });
  onTestFinished(() => {
    beside.close();
    writer.close();
  });
  const rows = (): unknown => beside.statement('SELECT count(*) FROM object').get()?.[0];
  const pods = writer.declare(describedResource());
  const replace = writer.replace(pods);
  replace.put([pod({ name: 'a', rv: 1 })]);
  replace.put([pod({ name: 'b', rv: 2 })]);
  expect(rows()).toBe(0);
  // Another resource is declared in a transaction of its own.
  writer.declare(describedResource({ plural: 'nodes', kind: 'Node' }));
  expect(rows()).toBe(2);
  replace.put([pod({ name: 'c', rv: 3 })]);
  expect(rows()).toBe(2);
  writer.maintain();
  expect(rows()).toBe(3);
  replace.put([pod({ name: 'd', rv: 4 })]);
  expect(await replace.commit('9')).toMatchObject({ added: 4 });
  expect(writer.state(pods)).toMatchObject({ synced: true, objects: 4, lastResourceVersion: '9' });
});

test('a first sync that was left open is closed in order', () => {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  writer.replace(writer.declare(describedResource())).put([pod({ name: 'a', rv: 1 })]);
  writer.close();
  const again = openWriter(file, { checkpoints: 'inline' });
  onTestFinished(() => again.close());
  expect(again.outcome).toBe('resumed');
  expect(again.states()).toMatchObject([{ synced: false, objects: 0 }]);
});
