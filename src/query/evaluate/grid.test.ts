/**
 * Compares every hard value of every type with every other, by every operator, promoted and not. The random cases of
 * oracle.test.ts may miss some of these combinations.
 */
import { describe, expect, test } from 'vitest';
import { compareByOrder } from '../../../test/kit/evaluate-order.ts';
import { comparable, pools, types } from '../../../test/kit/leaf-values.ts';
import {
  openTestStore,
  orderTerm,
  plainKey,
  plannedKind,
  promotedKey,
  type TestStore,
  thing,
} from '../../../test/kit/query-store.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { CompareOperator, Filter, Identity } from '../plan/filter.ts';
import type { ListResult } from '../plan/plan.ts';
import { listPage } from '../read/list.ts';
import { matchingObjects } from '../read/match-ids.ts';
import { foldable, matches } from './matches.ts';

interface Held extends Identity {
  readonly body: unknown;
}

const path = parsePath('spec.leaf');
const ranges: readonly CompareOperator[] = ['eq', 'lt', 'lte', 'gt', 'gte'];
const textual: readonly CompareOperator[] = ['startsWith', 'endsWith', 'contains'];

async function openStore(type: LeafType): Promise<{ store: TestStore; held: readonly Held[] }> {
  const store = openTestStore([{ path: path.text, type }], ['east']);
  const texts = [...pools[type], null, {}, ['a'], 'other', 12.5].map((leaf, index) =>
    thing({ name: `n${index}`, uid: `u${index}`, rest: { spec: { leaf } } }),
  );
  const held: Held[] = [];
  for (const key of [promotedKey, plainKey]) {
    await store.sync(key, 'east', texts);
    for (const [index, text] of texts.entries()) {
      held.push({ cluster: 'east', key, namespace: 'default', name: `n${index}`, body: parseExact(text) });
    }
  }
  return { store, held };
}

function compare(type: LeafType, operator: CompareOperator, values: readonly unknown[], ignoreCase = false): Filter {
  return { kind: 'compare', path, type, operator, values, ignoreCase };
}

describe.each(types)('%s', (type) => {
  test('filters', async () => {
    const { store, held } = await openStore(type);
    const filters: Filter[] = [
      compare(type, 'in', comparable[type]),
      compare(type, 'in', comparable[type].slice(0, 2)),
    ];
    for (const operator of type === 'String' ? [...ranges, ...textual] : ranges) {
      for (const value of comparable[type]) {
        filters.push(compare(type, operator, [value]));
        if (foldable(type, operator)) filters.push(compare(type, operator, [value], true));
      }
    }
    await store.read(async (lease, view) => {
      for (const filter of filters.flatMap((each): Filter[] => [each, { kind: 'not', of: each }])) {
        for (const key of [promotedKey, plainKey]) {
          const found = await matchingObjects(lease, view, plannedKind(key), filter);
          const expected = held
            .filter((each) => each.key === key && matches(filter, each))
            .sort((a, b) => compareByOrder([], a, b));
          expect(
            found.map(({ identity }) => identity.name),
            JSON.stringify(filter),
          ).toEqual(expected.map(({ name }) => name));
        }
      }
    });
  });

  test('orders, with a filter on the same leaf', async () => {
    const { store, held } = await openStore(type);
    const some = comparable[type].filter((_, index) => index % 5 === 0);
    const filters: Filter[] = [
      { kind: 'and', of: [] },
      ...ranges.flatMap((operator) => some.map((value) => compare(type, operator, [value]))),
    ];
    await store.read(async (lease, view) => {
      for (const filter of filters) {
        for (const [direction, nulls] of [
          ['ASC', 'LAST'],
          ['DESC', 'FIRST'],
        ] as const) {
          const orderBy = [orderTerm(path.text, type, direction, nulls)];
          const both = { kind: 'and', of: [filter, { kind: 'not', of: { kind: 'ids', in: [] } }] } as const;
          for (const key of [promotedKey, plainKey]) {
            const seen: string[] = [];
            let cursor: string | null = null;
            do {
              const after: string | null = cursor;
              const result: ListResult = await listPage([{ lease, view }], {
                kinds: [plannedKind(key)],
                filter: both,
                orderBy,
                projection: {},
                page: { direction: 'forward', limit: 4, after },
              });
              seen.push(...result.rows.map(({ name }) => name));
              cursor = result.hasNextPage ? (result.rows.at(-1)?.cursor ?? null) : null;
            } while (cursor !== null);
            const expected = held
              .filter((each) => each.key === key && matches(filter, each))
              .sort((a, b) => compareByOrder(orderBy, a, b));
            expect(seen, JSON.stringify([filter, orderBy])).toEqual(expected.map(({ name }) => name));
          }
        }
      }
    });
  });
});
