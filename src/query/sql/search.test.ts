/** Compares searches in SQL with the evaluator, before, during and after indexing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundless } from '../../../test/kit/displayed-groups.ts';
import { compareByOrder } from '../../../test/kit/evaluate-order.ts';
import { openTestStore, plainKey, plannedKind, promotedKey } from '../../../test/kit/query-store.ts';
import { searchPaths, searchTerms } from '../../catalog/paths/search-text.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { matches } from '../evaluate/matches.ts';
import type { Filter, Identity } from '../plan/filter.ts';
import type { ListPlan, OrderTerm } from '../plan/plan.ts';
import { countMatches } from '../read/count.ts';
import { listPage } from '../read/list.ts';
import { requireSearchable } from './search.ts';

const paths = searchPaths([]);
const words = [
  'web',
  'WEB-1',
  'web-10',
  'my-web',
  'nginx:1.25',
  'app=web',
  'é😀x',
  'a"b',
  'a\0bc',
  '\ud800xy',
  'zz',
  'n',
];
const word = fc.constantFrom(...words);
const object = fc.record({
  name: fc.constantFrom('web', 'web-1', 'WEB-10', 'my-web', 'nginx', 'é😀x', 'a\0bc', 'other'),
  labels: fc.dictionary(fc.constantFrom('app', 'tier'), word, { maxKeys: 2 }),
  images: fc.array(word, { maxLength: 2 }),
});
const search = fc.array(word, { minLength: 1, maxLength: 3 }).map((terms) => searchTerms(terms.join(' ')));

const text = (
  { name, labels, images }: typeof object extends fc.Arbitrary<infer T> ? T : never,
  version: number,
): string =>
  JSON.stringify({
    metadata: { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: String(version), labels },
    spec: { containers: images.map((image) => ({ image })) },
  });
const show = ({ key, name }: Identity): string => `${key} ${name}`;

test('a search finds what the evaluator finds, ranked, before, during and after indexing', async () => {
  const unique = fc.uniqueArray(object, { selector: ({ name }) => name, minLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      unique,
      fc.array(object, { maxLength: 4 }),
      fc.array(search, { minLength: 6, maxLength: 6 }),
      async (made, changed, searches) => {
        const store = openTestStore([]);
        const held = new Map<string, Identity & { body: unknown }>();
        const hold = (key: string, json: string): void => {
          const body = parseExact(json) as { metadata: { name: string } };
          const { name } = body.metadata;
          held.set(`${key} ${name}`, { cluster: 'east', key, namespace: 'n', name, body });
        };
        const check = async (): Promise<void> => {
          for (const terms of searches) {
            const filter: Filter = { kind: 'search', terms, paths };
            const orderBy: OrderTerm[] = [
              { path: { text: 'metadata.name', steps: [] }, type: 'Int', direction: 'ASC', nulls: 'LAST', rank: terms },
            ];
            const kinds = [plannedKind(promotedKey), plannedKind(plainKey)];
            const plan: ListPlan = {
              kinds,
              filter,
              orderBy,
              page: { direction: 'forward', limit: 50, after: null },
              projection: {},
            };
            const expected = [...held.values()]
              .filter((each) => matches(filter, each))
              .sort((a, b) => compareByOrder(orderBy, a, b))
              .map(show);
            await store.read(async (lease, view) => {
              await requireSearchable(lease, [], filter);
              const { rows } = await listPage([{ lease, view }], plan);
              expect(rows.map(show), terms.join(' ')).toEqual(expected);
              expect(await countMatches(lease, view, plan, null, boundless())).toBe(expected.length);
            });
          }
        };
        for (const key of [promotedKey, plainKey]) {
          const texts = made.map((each) => text(each, 1));
          await store.sync(key, 'east', texts);
          for (const each of texts) hold(key, each);
        }
        await check();
        while (store.writer.maintain()) {}
        await check();
        for (const [index, each] of changed.entries()) {
          const json = text(each, index + 2);
          store.writer.apply(
            store.handle(plainKey, 'east'),
            [{ type: 'MODIFIED', object: { text: json } }],
            String(index + 2),
          );
          hold(plainKey, json);
        }
        const [gone] = made;
        if (gone !== undefined) {
          store.writer.apply(
            store.handle(promotedKey, 'east'),
            [{ type: 'DELETED', object: { text: text(gone, 99) } }],
            '99',
          );
          held.delete(`${promotedKey} ${gone.name}`);
        }
        await check();
        while (store.writer.maintain()) {}
        await check();
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
});
