import { expect, test } from 'vitest';
import { Database } from '../sqlite/database.ts';
import { schemaStatements } from '../sqlite/schema.ts';
import { deletionOf, oldestOfKind, removalOfKind } from './change-log.ts';

test('the deletion of an object is found by its uid, not by a walk through the log of its kind', () => {
  const database = new Database(':memory:');
  for (const statement of schemaStatements) database.exec(statement);
  const plan = database.statement(`EXPLAIN QUERY PLAN ${deletionOf}`).all('uid', 1, 'east');
  database.close();
  expect(plan.map((step) => step[3])).toEqual(['SEARCH change USING INDEX change_deleted (uid=?)']);
});

test.each([
  [oldestOfKind, [1, 2], 'SEARCH change USING INDEX change_kind (kind=?)'],
  [removalOfKind, [1, 2], 'SEARCH change USING INDEX change_kind (kind=? AND seq<?)'],
])('old entries of a kind are found without a walk through those of other kinds: %s', (sql, params, step) => {
  const database = new Database(':memory:');
  for (const statement of schemaStatements) database.exec(statement);
  const plan = database.statement(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
  database.close();
  expect(plan.map((row) => row[3])).toEqual([step]);
});
