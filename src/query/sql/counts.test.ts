import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ClusterScope, isVisible, type Scope, scopeText } from '../../access/scope.ts';
import { Database } from '../../store/sqlite/database.ts';
import { raw } from '../../store/types/sql.ts';
import { scopeSql } from './counts.ts';

const clusters = ['east', 'west', 'north'];
const namespaces = ['a', 'b', 'c', "d'"];
const names = ['x', 'y', '"z'];
const rows = clusters.flatMap((cluster) =>
  ['', ...namespaces].flatMap((namespace) => names.map((name) => ({ cluster, namespace, name }))),
);

const subset = (of: readonly string[]) => fc.subarray([...of]).map((some) => new Set(some));
const part = fc.record({
  namespaces: fc.oneof(
    subset(namespaces),
    fc.constant(new Set([...namespaces, ...Array.from({ length: 30 }, (_, index) => `n${index}`)])),
  ),
  names: fc
    .array(fc.tuple(fc.constantFrom('', ...namespaces), subset(names)), { maxLength: 3 })
    .map((entries) => new Map(entries)),
});
const scope: fc.Arbitrary<Scope> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Scope>({ rows: 'all' }, { rows: 'none' }) },
  {
    weight: 8,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom(...clusters), fc.oneof(fc.constant<ClusterScope>('all'), part)), { maxLength: 3 })
      .map((entries): Scope => ({ rows: 'some', clusters: new Map(entries) })),
  },
);

const database = new Database(':memory:');
database.exec('CREATE TABLE object (cluster TEXT, namespace TEXT, name TEXT)');
for (const { cluster, namespace, name } of rows) {
  database.statement('INSERT INTO object VALUES (?, ?, ?)').run(cluster, namespace, name);
}

test('the condition and isVisible choose the same rows', () => {
  let [shown, hidden] = [0, 0];
  fc.assert(
    fc.property(scope, (given) => {
      const condition = scopeSql(given, raw('o'));
      const found = database
        .statement(`SELECT cluster, namespace, name FROM object AS o WHERE ${condition.sql} ORDER BY rowid`)
        .all(...condition.params)
        .map((row) => row.join('/'));
      const expected = rows
        .filter(({ namespace, ...row }) => isVisible(given, { ...row, namespace: namespace === '' ? null : namespace }))
        .map(({ cluster, namespace, name }) => [cluster, namespace, name].join('/'));
      expect(found).toEqual(expected);
      shown += found.length;
      hidden += rows.length - found.length;
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(shown, hidden)).toBeGreaterThan(5000);
});

test('equal scopes have one text, whatever the order of their parts', () => {
  const made = (reverse: boolean): Scope => {
    const order = <T>(items: T[]): T[] => (reverse ? items.reverse() : items);
    const of = {
      namespaces: new Set(order(['a', 'b'])),
      names: new Map(order([['c', new Set(order(['x', 'y']))] as const, ['', new Set(['z'])] as const])),
    };
    return {
      rows: 'some',
      clusters: new Map(
        order<[string, ClusterScope]>([
          ['east', of],
          ['west', 'all'],
        ]),
      ),
    };
  };
  expect(scopeText(made(false))).toBe(scopeText(made(true)));
  expect(scopeText(made(false))).not.toBe(scopeText({ rows: 'some', clusters: new Map([['west', 'all']]) }));
});
