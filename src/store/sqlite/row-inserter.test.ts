import { expect, test } from 'vitest';
import { Database } from './database.ts';
import { type RowForm, RowInserter } from './row-inserter.ts';

const form: RowForm = { into: 'OR IGNORE INTO thing', shared: ['kind'], own: ['name', 'size'] };

function open() {
  const database = new Database(':memory:');
  database.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT UNIQUE, size INTEGER)');
  const stored = () => database.statement('SELECT id, kind, name, size FROM thing ORDER BY id').all();
  return { inserter: new RowInserter(database), stored, close: () => database.close() };
}

test.each([1, 2, 64, 65, 66, 200])('%d rows have the ids that they were given', (count) => {
  const { inserter, stored, close } = open();
  const ids = Array.from({ length: count }, (_, at) => 7 + at);
  const rows = ids.map((id) => [id, 3, `n${id}`, id * 2]);
  expect(
    inserter.insertWithIds(
      form,
      { kind: 3 },
      ids,
      ids.flatMap((id) => [`n${id}`, id * 2]),
    ),
  ).toBe(count);
  expect(stored()).toEqual(rows);
  close();
});

test('ids with gaps, or in another order, are those of their rows', () => {
  const { inserter, stored, close } = open();
  const ids = [9, 4, 5, 12];
  expect(
    inserter.insertWithIds(
      form,
      { kind: 1 },
      ids,
      ids.flatMap((id) => [`n${id}`, id]),
    ),
  ).toBe(4);
  expect(stored()).toEqual(ids.toSorted((a, b) => a - b).map((id) => [id, 1, `n${id}`, id]));
  close();
});

test('a row that is left out is told by the count', () => {
  const { inserter, close } = open();
  inserter.insertOne(form, { kind: 1 }, 1, ['b', 0]);
  expect(inserter.insertWithIds(form, { kind: 1 }, [2, 3, 4], ['a', 1, 'b', 2, 'c', 3])).toBe(2);
  expect(inserter.insertWithIds(form, { kind: 1 }, [5, 6], ['b', 1, 'd', 2])).toBe(0);
  expect(inserter.insertWithIds(form, { kind: 1 }, [], [])).toBe(0);
  close();
});

test('a first value may be made by SQL', () => {
  const { inserter, stored, close } = open();
  const made: RowForm = { ...form, first: 'upper(?)' };
  expect(inserter.insert(made, { kind: 2 }, ['a', 1, 'b', 2])).toBe(2);
  expect(stored()).toEqual([
    [1, 2, 'A', 1],
    [2, 2, 'B', 2],
  ]);
  close();
});
