/** Compares lists over a kind whose paths are promoted while it changes with lists over an equal kind without promotions. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTestStore, orderTerm, plainKey, plannedKind, promotedKey, thing } from '../../../test/kit/query-store.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Lease } from '../../store/types/lease.ts';
import { conjuncts, everything, type Filter } from '../plan/filter.ts';
import type { ListPlan, OrderTerm } from '../plan/plan.ts';
import { observePlans } from '../route/plan-note.ts';
import type { View } from '../sql/view.ts';
import { listPage } from './list.ts';

const count = 1050;
const colours = ['red', 'green', 'Ärger', ''];

function object(index: number, size: number | null, colour: string | null): string {
  const spec = { ...(size === null ? {} : { size }), ...(colour === null ? {} : { colour }) };
  return thing({ name: `thing-${index}`, uid: `uid-${index}`, rest: { spec } });
}

const compare = (path: string, type: 'Int' | 'String', operator: 'eq' | 'gt' | 'lte', value: unknown): Filter => ({
  kind: 'compare',
  path: parsePath(path),
  type,
  operator,
  values: [value],
  ignoreCase: false,
});

async function namesOf(lease: Lease, view: View, key: string, plan: Asked) {
  const routes: string[] = [];
  const seen: Lease = { ...lease, all: (asked) => lease.all(asked), fill: (asked, limit) => lease.fill(asked, limit) };
  observePlans(seen, ({ route }) => routes.push(route));
  const { rows } = await listPage([{ lease: seen, view }], {
    kinds: [plannedKind(key)],
    ...plan,
    page: { direction: 'forward', limit: 30, after: null },
    projection: {},
  } satisfies ListPlan);
  return { names: rows.map(({ name }) => name), routes };
}

type Asked = Pick<ListPlan, 'filter' | 'orderBy'>;

const order = (path: string, type: 'Int' | 'String', direction: 'ASC' | 'DESC', nulls: 'FIRST' | 'LAST'): OrderTerm =>
  orderTerm(path, type, direction, nulls);

const arbitraryAsked: fc.Arbitrary<Asked> = fc.record({
  filter: fc.constantFrom<Filter>(
    everything,
    compare('spec.colour', 'String', 'eq', 'red'),
    compare('spec.size', 'Int', 'gt', 90),
    compare('spec.size', 'Int', 'eq', 3),
    { kind: 'and', of: [compare('spec.size', 'Int', 'lte', 50), compare('spec.colour', 'String', 'eq', '')] },
    { kind: 'not', of: compare('spec.colour', 'String', 'eq', 'red') },
  ),
  orderBy: fc.oneof(
    fc.constant<OrderTerm[]>([]),
    fc
      .tuple(
        fc.constantFrom(['spec.size', 'Int'] as const, ['spec.colour', 'String'] as const),
        fc.constantFrom('ASC' as const, 'DESC' as const),
        fc.constantFrom('FIRST' as const, 'LAST' as const),
      )
      .map(([[path, type], direction, nulls]) => [order(path, type, direction, nulls)]),
  ),
});

const value = fc.tuple(
  fc.option(fc.integer({ min: 0, max: 99 }), { nil: null }),
  fc.option(fc.constantFrom(...colours), { nil: null }),
);

test('a promoted path serves filters and orders, and answers are the same throughout', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { minLength: 60, maxLength: 60 }),
      fc.array(fc.record({ at: fc.nat({ max: count + 20 }), to: value, gone: fc.boolean(), asked: arbitraryAsked }), {
        minLength: 5,
        maxLength: 12,
      }),
      async (values, changes) => {
        const store = openTestStore([], ['east']);
        const texts = Array.from({ length: count }, (_, index) =>
          object(index, ...(values[index % 60] ?? [null, null])),
        );
        for (const key of [promotedKey, plainKey]) await store.sync(key, 'east', texts);
        const check = async (asked: Asked, done: boolean): Promise<void> =>
          store.read(async (lease, view) => {
            const plain = await namesOf(lease, view, plainKey, asked);
            const promoted = await namesOf(lease, view, promotedKey, asked);
            expect(promoted.names).toEqual(plain.names);
            const ways = conjuncts(asked.filter).some(({ kind }) => kind === 'compare');
            const needy = ways || asked.orderBy.length > 0;
            expect(plain.routes).toEqual([asked.orderBy.length > 0 ? 'scan' : 'order']);
            if (done && needy) expect(['order', 'path']).toContain(promoted.routes[0]);
          });
        for (const { asked } of changes.slice(0, 2)) await check(asked, false);
        expect(store.writer.promote({ key: promotedKey, path: 'spec.size', type: 'Int' })).toBe('promoted');
        store.writer.maintain();
        expect(store.writer.promote({ key: promotedKey, path: 'spec.colour', type: 'String' })).toBe('promoted');
        const live = new Set(texts.map((_, index) => index));
        for (const { at, to, gone, asked } of changes) {
          const type = gone ? 'DELETED' : live.has(at) ? 'MODIFIED' : 'ADDED';
          if (gone && !live.has(at)) continue;
          if (gone) live.delete(at);
          else live.add(at);
          const text = object(at, ...to);
          for (const key of [promotedKey, plainKey])
            store.writer.apply(store.handle(key, 'east'), [{ type, object: { text } }], '1');
          store.writer.maintain();
          await check(asked, false);
        }
        while (store.writer.maintain());
        for (const { asked } of changes) await check(asked, true);
        store.writer.close();
        await store.reader.close();
      },
    ),
    { numRuns: 6 },
  );
});
