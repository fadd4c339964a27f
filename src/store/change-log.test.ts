import { expect, test } from 'vitest';
import { deletionOf } from './change-log.ts';
import { Database } from './database.ts';
import { schemaStatements } from './schema.ts';

test('the deletion of an object is found by its uid, not by a walk through the log of its kind', () => {
  const database = new Database(':memory:');
  for (const statement of schemaStatements) database.exec(statement);
  const plan = database.statement(`EXPLAIN QUERY PLAN ${deletionOf}`).all('uid', 1, 'east');
  database.close();
  expect(plan.map((step) => step[3])).toEqual(['SEARCH change USING INDEX change_deleted (uid=?)']);
});
