import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../../store/sqlite/database.ts';
import { registerSqlFunctions } from '../../store/sqlite/sql-functions.ts';
import { tickAt } from './tick.ts';

test.each([8, 256] as const)('asked at one of %i rows or so, whatever the ids have in common', (rows) => {
  let ticks = 0;
  const database = new Database(':memory:', {});
  onTestFinished(() => database.close());
  registerSqlFunctions(database, {
    tick: () => {
      ticks += 1;
    },
  });
  const { sql } = tickAt('n.i', rows);
  const statement = database.statement(
    `WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + ? FROM n LIMIT 20000) SELECT count(*) FROM n WHERE ${sql}`,
  );
  for (const from of [1, 7, 1_000_003]) {
    for (const step of [1, 2, 3, 7, 8, 28, 64, 255, 256, 257, 1024, 65_536]) {
      ticks = 0;
      expect(statement.get(BigInt(from), BigInt(step))).toEqual([20_000]);
      const each = `${ticks} from ${from} by ${step}`;
      expect(ticks, each).toBeGreaterThan(20_000 / rows / 3);
      expect(ticks, each).toBeLessThan((20_000 / rows) * 3);
    }
  }
});
