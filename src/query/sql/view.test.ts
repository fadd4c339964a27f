import { expect, test } from 'vitest';
import { noRows, unrestricted } from '../../access/scope.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { KindLayout } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all } from '../../store/types/sql.ts';
import { countOwned, ownedObjects, ownerObjects, ownersOf } from '../related/owners.ts';
import { countsOfAny, keptCount } from './counts.ts';
import { KindTables } from './kind-tables.ts';
import { filterSql } from './sql-filter.ts';
import { type KindView, View } from './view.ts';

const layout: KindLayout = {
  kindId: 7,
  named: 'Widget.example.com',
  promotedTable: 'p7',
  slots: [{ path: 'status.phase', type: 'String', column: 'c3', ready: true, reason: 'PRINTER_COLUMN' }],
  places: [],
};
const layouts = new Map([
  ['pods', layout],
  ['secrets', { ...layout, kindId: 8, promotedTable: 'p8' }],
]);
const withoutSecrets = { id: 'test', of: (key: string) => (key === 'secrets' ? noRows : ({ rows: 'all' } as const)) };

function kindOf(view: View, key: string): KindView {
  const kind = view.get(key);
  if (kind === undefined) throw new Error(`no ${key} in the view`);
  return kind;
}

test('a view records the kinds that were asked for, also those that the store does not have', () => {
  const dependencies = new Set<string>();
  const view = new View(layouts, unrestricted, dependencies);
  view.get('pods');
  view.get('pods');
  expect(view.get('nodes')).toBeUndefined();
  expect([...dependencies]).toEqual(['pods', 'nodes']);
});

test('a condition over rows of any kind records no kind; a read that may find any kind records `*`', async () => {
  const dependencies = new Set<string>();
  const view = new View(layouts, withoutSecrets, dependencies);
  countsOfAny(view);
  expect([...dependencies]).toEqual([]);

  const lease = { all: async () => [] } as unknown as Lease;
  const owner = [{ cluster: 'east', uid: 'u' }];
  expect(await countOwned(lease, view, owner, { keys: ['pods'], limit: null })).toEqual([0]);
  expect([...dependencies]).toEqual(['pods']);
  for (const read of [
    () => countOwned(lease, view, owner, { keys: null, limit: null }),
    () => ownedObjects(lease, view, owner, null),
    () => ownerObjects(lease, view, [1]),
    () => ownersOf(lease, view, [1], 'whole'),
  ]) {
    dependencies.clear();
    await read();
    expect([...dependencies]).toEqual(['*']);
  }
});

test('only a view makes a KindView', () => {
  // @ts-expect-error: a layout with a key and a scope is not a KindView.
  const made: KindView = { ...layout, key: 'pods', visible: noRows, isWhole: true };
  expect(made.key).toBe('pods');
});

test('the tables of two kinds have different aliases in one statement', () => {
  const view = new View(layouts, unrestricted);
  const running = {
    kind: 'compare',
    path: parsePath('status.phase'),
    type: 'String',
    operator: 'eq',
    values: ['Running'],
    ignoreCase: false,
  } as const;
  const inner = new KindTables(kindOf(view, 'secrets'), 'o', '1');
  const text = all([filterSql(inner, running), inner.isOfKind(), inner.counts()]).sql;
  expect(`${inner.from().sql}${inner.joins().sql} WHERE ${text}`).toBe(
    'object AS o1 CROSS JOIN p8 AS p1 ON p1.id = o1.id WHERE (+p1.c3 = +? AND o1.kind = +? AND ' +
      '+p1.rowset IN (SELECT rowset FROM resource WHERE kind = +? AND synced = 1))',
  );
});

test('a scope without rows is part of every condition under which a row counts', () => {
  const view = new View(layouts, withoutSecrets);
  const secrets = kindOf(view, 'secrets');
  expect(new KindTables(secrets, 'o').counts().sql).toMatch(/AND 0\)$/);
  expect(keptCount(secrets, null)).toBeNull();
  expect(keptCount(kindOf(view, 'pods'), null)?.sql).toContain('sum(objects)');
  expect(countsOfAny(view)).toMatchObject({ sql: expect.stringContaining('+o.kind = +?'), params: [7n] });
});
