import { expect, test } from 'vitest';
import { Database } from '../sqlite/database.ts';
import { schemaStatements } from '../sqlite/schema.ts';
import { deletionOf } from './change-log.ts';

test('the deletion of an object is found by its uid, not by a walk through the log of its kind', () => {
  const database = new Database(':memory:');
  for (const statement of schemaStatements) database.exec(statement);
  const plan = database.statement(`EXPLAIN QUERY PLAN ${deletionOf}`).all('uid', 1, 'east');
  database.close();
  expect(plan.map((step) => step[3])).toEqual(['SEARCH change USING INDEX change_deleted (uid=?)']);
});
