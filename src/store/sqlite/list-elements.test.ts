import { expect, onTestFinished, test } from 'vitest';
import { Database } from './database.ts';
import { listElements } from './list-elements.ts';
import { registerSqlFunctions } from './sql-functions.ts';

function opened() {
  const database = new Database(':memory:');
  onTestFinished(() => database.close());
  const ticks = { count: 0, allowed: Number.POSITIVE_INFINITY };
  registerSqlFunctions(database, {
    tick: () => {
      ticks.count += 1;
      if (ticks.count > ticks.allowed) throw new Error('cut');
    },
  });
  return { database, ticks };
}

test('types and values are those of SQLite', () => {
  const { database } = opened();
  const list = `["a", "é\\u0041", "", 0, -1, 12, 9223372036854775807, -9223372036854775808, 1.5, 1e3, true, false, null, {"a": [1]}, [2]]`;
  const own = database.statement('SELECT key, type, value FROM elements(?)').all(list);
  const theirs = database.statement('SELECT key, type, value FROM json_each(?)').all(list);
  const of = (rows: readonly (readonly unknown[])[]) =>
    rows.map(([key, type, value]) => [
      key,
      type === 'real' ? 'number' : type === 'integer' ? 'number' : type,
      Number.isFinite(Number(value)) ? Number(value) : value,
    ]);
  expect(of(own)).toEqual(of(theirs));
});

test('each element has its text, with all digits', () => {
  const { database } = opened();
  const rows = database
    .statement('SELECT json FROM elements(?)')
    .all('[9007199254740993, 123456789012345678901234567890, 0.1, 1e400, "a\\n", {"n": 9007199254740993}]');
  expect(rows.flat()).toEqual([
    '9007199254740993',
    '123456789012345678901234567890',
    '0.1',
    '9e999',
    '"a\\n"',
    '{"n":9007199254740993}',
  ]);
});

test.each(['{"a": 1}', '1', '"text"', 'null', null])('%s has no elements', (json) => {
  const { database } = opened();
  expect(database.statement('SELECT key FROM elements(?)').all(json)).toEqual([]);
});

test('a list in one object can be cut at any 256 of its elements', () => {
  const { database, ticks } = opened();
  const list = JSON.stringify(Array.from({ length: 10_000 }, (_, at) => at));
  const statement = database.statement('SELECT count(*) FROM elements(?) AS e WHERE e.value >= 0');
  expect(statement.get(list)).toEqual([10_000]);
  expect(ticks.count).toBe(Math.floor(10_000 / 256));
  ticks.count = 0;
  ticks.allowed = 3;
  expect(() => statement.get(list)).toThrow('cut');
  expect([...listElements('[1]', () => {})]).toEqual([[0n, 'integer', 1n, '1']]);
});
