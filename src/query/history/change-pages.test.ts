/** The query plans of pages of recorded changes: each kind and each object is one range of an index, in its order. */
import { expect, test } from 'vitest';
import { leaseOn } from '../../../test/kit/log-follower.ts';
import { describedResource, event } from '../../../test/kit/store-file.ts';
import { open, synced } from '../../../test/kit/written-store.ts';
import { allRows, type Scope } from '../../access/scope.ts';
import { readLayouts } from '../../store/read/layout.ts';
import { Database } from '../../store/sqlite/database.ts';
import { registerSqlFunctions } from '../../store/sqlite/sql-functions.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Statement } from '../../store/types/statement.ts';
import { View } from '../sql/view.ts';
import { changesOfKinds, changesOfObjects } from './change-pages.ts';

const inShop: Scope = {
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set(['shop', 'front']), names: new Map([['', new Set(['a'])]]) }]]),
};

/** The steps of the plan that read the change log, for each statement of `work`. */
async function stepsOf(
  work: (lease: Lease, file: string) => Promise<unknown>,
): Promise<readonly (readonly string[])[]> {
  const { writer, file } = open();
  const handle = await synced(writer);
  writer.declare(describedResource({ plural: 'nodes', kind: 'Node' }));
  for (let rv = 11; rv < 30; rv += 1) writer.apply(handle, [event('MODIFIED', { name: 'a', rv })], String(rv));
  const lease = leaseOn(file);
  const statements: Statement[] = [];
  const recorded: Lease = {
    ...lease,
    all: (statement) => {
      statements.push(statement);
      return lease.all(statement);
    },
  };
  await work(recorded, file);
  lease.end();
  const database = new Database(file, { readonly: true });
  registerSqlFunctions(database, { tick: () => {} });
  const steps = statements.map(({ sql, params }) =>
    database
      .statement(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params)
      .map((row) => String(row[3]))
      .filter((step) => /\b(c|n|r|change)\b/.test(step) && !step.includes('SUBQUERY')),
  );
  database.close();
  return steps;
}

test.each([
  ['all rows', allRows],
  ['some rows', inShop],
])('the changes of a kind are one range of an index, whatever the caller sees: %s', async (_, scope) => {
  const wanted = { namespaces: ['shop'], clusters: ['east'], since: 0, until: Date.now(), before: 20, limit: 5 };
  const steps = await stepsOf(async (lease) => {
    const view = new View(await readLayouts(lease), { id: 'test', of: () => scope });
    await changesOfKinds(lease, view, { ...wanted, keys: ['pods', 'nodes'] });
  });
  expect(steps.at(-1)).toEqual([
    'SEARCH c USING INDEX change_kind (kind=? AND seq>? AND seq<?)',
    'SEARCH r USING COVERING INDEX change_reset (kind=? AND cluster=?)',
  ]);
  // The times are found by a binary search in the order of the log.
  expect(new Set(steps.at(-2))).toEqual(new Set(['SEARCH n USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']));
});

test('the changes of an object are one range of an index', async () => {
  const [steps] = await stepsOf((lease) => changesOfObjects(lease, [1, 2], { before: null, limit: 5 }));
  expect(steps).toEqual([
    'SEARCH c USING COVERING INDEX change_object (object=? AND seq<?)',
    'SEARCH c USING INDEX change_object (object=?)',
  ]);
});
