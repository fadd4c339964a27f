import { describe, expect, test } from 'vitest';
import { boundless } from '../../../test/kit/displayed-groups.ts';
import { openTestStore, plannedKind, promotedKey, type TestStore, thing } from '../../../test/kit/query-store.ts';
import { allRows, unrestricted } from '../../access/scope.ts';
import { parsePath, pathOf } from '../../catalog/tree/path.ts';
import type { KindLayout } from '../../store/types/kind-layout.ts';
import type { Filter } from '../plan/filter.ts';
import { countMatches } from '../read/count.ts';
import { KindTables } from './kind-tables.ts';
import { afterPrefix, filterSql } from './sql-filter.ts';
import { KindView, View } from './view.ts';

const layout: KindLayout = {
  kindId: 7,
  named: 'Widget.example.com',
  promotedTable: 'p7',
  slots: [
    { path: 'status.phase', type: 'String', column: 'c3', ready: true, reason: 'PRINTER_COLUMN' },
    { path: 'spec.size', type: 'Int64', column: 'c4', ready: false, reason: 'PRINTER_COLUMN' },
  ],
  places: [],
};

function compiled(filter: Filter): { sql: string; params: readonly unknown[]; joins: string } {
  const tables = new KindTables(
    new KindView(new View(new Map([['pods', layout]]), unrestricted), 'pods', layout, allRows),
    'o',
  );
  const { sql, params } = filterSql(tables, filter);
  return { sql: sql.replace(/\s+/g, ' '), params, joins: tables.joins().sql };
}

function is(
  path: string,
  type: 'String' | 'Int64' | 'DateTime' | 'Quantity',
  operator: 'eq' | 'in' | 'startsWith' | 'contains' | 'lt',
  ...values: unknown[]
): Filter {
  return { kind: 'compare', path: parsePath(path), type, operator, values, ignoreCase: false };
}

describe('filters as SQL', () => {
  test('a ready slot is a column, one that is not ready is read from the body', () => {
    expect(compiled(is('status.phase', 'String', 'eq', 'Running'))).toEqual({
      sql: '+p.c3 = +?',
      params: ['Running'],
      joins: ' CROSS JOIN p7 AS p ON p.id = o.id',
    });
    expect(compiled(is('status.phase', 'String', 'startsWith', 'Run'))).toMatchObject({
      sql: '(+p.c3 >= +? AND +p.c3 < +?)',
      params: ['Run', 'Ruo'],
    });
    expect(compiled(is('spec.size', 'Int64', 'lt', 5)).joins).toBe(' CROSS JOIN body AS b ON b.id = o.id');
  });

  test('a loop over the elements of a list can be cut, and reads the text of each in one pass', () => {
    const some = (type: 'String' | 'Quantity'): string =>
      compiled({
        kind: 'some',
        path: parsePath('spec.list'),
        of: { ...is('x', type, 'eq', '1'), path: pathOf([]) } as Filter,
      }).sql;
    for (const sql of [some('String'), some('Quantity')]) expect(sql).toContain('e0.key & 255 <> 255 OR tick() = 0');
    expect(some('String')).toContain('FROM jsonb_each(');
    expect(some('Quantity')).toContain('FROM elements(');
    expect(some('Quantity')).not.toContain("'$[' ||");
  });

  test('metadata that the store keeps beside the body is not read from it', () => {
    expect(compiled(is('metadata.name', 'String', 'in', 'a', 'b'))).toEqual({
      sql: '+o.name IN (+?, +?)',
      params: ['a', 'b'],
      joins: '',
    });
    expect(compiled(is('metadata.creationTimestamp', 'DateTime', 'lt', '1970-01-01T00:00:01Z'))).toEqual({
      sql: '+o.created < +?',
      params: [1_000_000n],
      joins: '',
    });
  });

  test('texts are compared natively, other types by their key', () => {
    const text = compiled(is('spec.name', 'String', 'eq', 'x'));
    expect(text.sql).toMatch(
      /^CASE json_type\(b\.body, \+\?\) WHEN 'text' THEN \(b\.body ->> \+\?\) WHEN 'integer' THEN .* END = \+\?$/s,
    );
    expect(text.params.slice(0, 2)).toEqual(['$."spec"."name"', '$."spec"."name"']);
    expect(text.params.at(-1)).toBe('x');
    expect(compiled(is('spec.cpu', 'Quantity', 'eq', '1')).sql).toBe(
      "(CASE WHEN json_type(b.body, +?) IN ('text', 'integer', 'real') THEN order_key(+?, (b.body -> +?)) END) = +?",
    );
  });

  test('labels are asked of the object that has them', () => {
    const filter: Filter = { kind: 'labels', requirements: [{ key: 'app', operator: 'NotIn', values: ['a', 'b'] }] };
    expect(compiled(filter)).toEqual({
      sql: 'NOT EXISTS (SELECT 1 FROM object AS l WHERE l.id = o.id AND (l.marks ->> +?) IN (+?, +?))',
      params: ['$[0]."app"', 'a', 'b'],
      joins: '',
    });
  });

  test('nothing that a caller wrote is text of a statement', () => {
    const evil = `x'"); DROP TABLE object; --`;
    const filter: Filter = {
      kind: 'and',
      of: [
        {
          ...is('a', 'String', 'eq', evil),
          path: {
            text: evil,
            steps: [
              { kind: 'field', name: evil },
              { kind: 'where', field: evil, value: evil },
              { kind: 'key', key: evil },
            ],
          },
        } as Filter,
        { kind: 'namespaces', in: [evil] },
        { kind: 'clusters', in: [evil] },
        { kind: 'ids', in: [{ cluster: evil, key: 'pods', namespace: evil, name: evil }] },
        { kind: 'labels', requirements: [{ key: evil, operator: 'In', values: [evil] }] },
      ],
    };
    expect(compiled(filter).sql).not.toContain('DROP');
  });
});

describe('filters on real rows', () => {
  async function openStore(): Promise<TestStore> {
    const store = openTestStore([{ path: 'spec.promoted', type: 'String' }], ['east']);
    const nested = `${'['.repeat(1500)}${']'.repeat(1500)}`;
    await store.sync(promotedKey, 'east', [
      thing({ name: 'list', rest: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } }),
      thing({ name: 'map', rest: { status: { conditions: { first: { type: 'Ready', status: 'True' } } } } }),
      thing({ name: 'wild', rest: { spec: { name: 'a%b_c*d\0e' } } }),
      `${thing({ name: 'deep', labels: { app: 'web' }, rest: { spec: { promoted: 'yes', other: 'yes' } } }).slice(0, -1)},"nested":${nested}}`,
    ]);
    return store;
  }

  async function count(store: TestStore, filter: Filter): Promise<number> {
    return store.read(async (lease, view) =>
      Number(await countMatches(lease, view, { kinds: [plannedKind(promotedKey)], filter }, null, boundless())),
    );
  }

  test('members of an object are no elements of a list', async () => {
    const store = await openStore();
    expect(await count(store, is('status.conditions[type=Ready].status', 'String', 'eq', 'True'))).toBe(1);
    expect(
      await count(store, {
        kind: 'some',
        path: parsePath('status.conditions'),
        of: is('type', 'String', 'eq', 'Ready'),
      }),
    ).toBe(1);
  });

  test('no character has a meaning of its own, and none ends a text', async () => {
    const store = await openStore();
    for (const needle of ['%b', '_', '*', '\0e', 'd\0'])
      expect(await count(store, is('spec.name', 'String', 'contains', needle))).toBe(1);
    for (const needle of ['a%c', 'a_', 'x', '\0d'])
      expect(await count(store, is('spec.name', 'String', 'contains', needle))).toBe(0);
  });

  test('of a body that SQLite refuses, all leaves are known', async () => {
    const store = await openStore();
    expect(await count(store, is('metadata.name', 'String', 'eq', 'deep'))).toBe(1);
    expect(await count(store, { kind: 'labels', requirements: [{ key: 'app', operator: 'Exists', values: [] }] })).toBe(
      1,
    );
    expect(await count(store, is('spec.promoted', 'String', 'eq', 'yes'))).toBe(1);
    expect(await count(store, is('metadata.labels["app"]', 'String', 'eq', 'web'))).toBe(1);
    expect(await count(store, is('spec.other', 'String', 'eq', 'yes'))).toBe(1);
  });

  test('thousands of terms and values are no deeper than SQLite allows', async () => {
    const store = await openStore();
    const of = Array.from({ length: 3000 }, (_, index) => is('metadata.name', 'String', 'eq', `n${index}`));
    expect(await count(store, { kind: 'or', of: [...of, is('metadata.name', 'String', 'eq', 'list')] })).toBe(1);
    expect(await count(store, { kind: 'and', of: of.map((each): Filter => ({ kind: 'not', of: each })) })).toBe(4);
    const many = Array.from({ length: 40_000 }, (_, index) => `n${index}`);
    expect(await count(store, is('metadata.name', 'String', 'in', ...many, 'wild', 'map'))).toBe(2);
  });
});

test('the first text behind all with a prefix', () => {
  expect(afterPrefix('ab')).toBe('ac');
  expect(afterPrefix('a\u{10ffff}')).toBe('b');
  expect(afterPrefix('\ud7ff')).toBe('\ue000');
  expect(afterPrefix('😀')).toBe('😁');
  expect(afterPrefix('\uffff')).toBe('\u{10000}');
  expect(afterPrefix('')).toBe(null);
  expect(afterPrefix('\u{10ffff}')).toBe(null);
});
