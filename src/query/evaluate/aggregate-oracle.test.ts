/**
 * Compares aggregates in SQL with their evaluator. For random objects, filters, groupings and measures, both give the same
 * groups, counts, sums and extremes. Facets equal the evaluator's groups. The aggregates are over one kind or several, with
 * and without promoted columns.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundless, shownGroups, withinBudget } from '../../../test/kit/displayed-groups.ts';
import { evaluateAggregate } from '../../../test/kit/evaluate-aggregate.ts';
import { comparable, pools, types } from '../../../test/kit/leaf-values.ts';
import { openTestStore, plainKey, plannedKind, promotedKey } from '../../../test/kit/query-store.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { parsePath, pathOf } from '../../catalog/tree/path.ts';
import { isSummable } from '../../catalog/values/tally.ts';
import { foldCase, parseExact } from '../../catalog/values/values.ts';
import type { AggregatePlan, Leaf, Measured } from '../plan/aggregate.ts';
import { everything, type Filter, type Identity } from '../plan/filter.ts';
import { aggregateKinds } from '../read/aggregate-kinds.ts';
import { facet, facetOf, filterWithout } from '../read/facet.ts';

const oddName = 'o"d.n\\a[0]\0';
const single: readonly Leaf[] = [
  ...types.map((type) => ({ path: parsePath(`spec.${type}`), type })),
  { path: parsePath('status.conditions[type=Ready].status'), type: 'String' },
  { path: parsePath('spec.lists.Int64[0]'), type: 'Int64' },
  {
    path: pathOf([
      { kind: 'field', name: 'spec' },
      { kind: 'key', key: oddName },
    ]),
    type: 'String',
  },
  { path: parsePath('metadata.name'), type: 'String' },
  { path: parsePath('metadata.namespace'), type: 'String' },
  { path: parsePath('metadata.creationTimestamp'), type: 'DateTime' },
  { path: parsePath('metadata.labels["app"]'), type: 'String' },
];
const lists: readonly Leaf[] = [
  ...types.map((type) => ({ path: parsePath(`spec.lists.${type}[]`), type })),
  { path: parsePath('status.conditions[].n'), type: 'Int64' },
  { path: parsePath('status.conditions[].q'), type: 'Quantity' },
  { path: parsePath('status.conditions[type=Ready].list[]'), type: 'String' },
  { path: parsePath('status.conditions[].list[]'), type: 'JSON' },
];
const promoted = single.slice(0, types.length + 2).map(({ path, type }) => ({ path: path.text, type }));

const clusters = ['east', 'west'];
const odd = [null, {}, [], [null, 'a'], 'text', 5];
const anyOf = (type: LeafType): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...pools[type]) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 4 });
const listOf = (type: LeafType): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.array(anyOf(type), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(...odd) },
  );

const condition = fc.record({
  type: fc.constantFrom('Ready', 'Other', null),
  status: maybe(fc.constantFrom('True', 'False', 5)),
  n: maybe(anyOf('Int64')),
  q: maybe(anyOf('Quantity')),
  list: maybe(listOf('String')),
});
const body = fc.record({
  spec: fc
    .record({
      leaves: fc.record(Object.fromEntries(types.map((type) => [type, maybe(anyOf(type))]))),
      lists: fc.record(Object.fromEntries(types.map((type) => [type, maybe(listOf(type))]))),
      odd: maybe(anyOf('String')),
    })
    .map(({ leaves, lists, odd }) => ({ ...leaves, lists, [oddName]: odd })),
  status: maybe(
    fc.record({
      conditions: fc.oneof(
        { weight: 8, arbitrary: fc.array(condition, { maxLength: 3 }) },
        { weight: 1, arbitrary: fc.constantFrom<unknown>(...odd) },
      ),
    }),
  ),
  labels: maybe(
    fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom<unknown>('web', 'Web', 'db', '', 'é', 5), {
      maxKeys: 2,
    }),
  ),
  created: fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5Z', '2025-01-31T12:00:00Z', 'never', null),
});
const objects = fc.uniqueArray(
  fc.record({
    cluster: fc.constantFrom(...clusters),
    namespace: fc.option(fc.constantFrom('default', 'kube-system', 'Ω'), { freq: 8 }),
    name: fc.constantFrom('a', 'B', 'b', 'é', '😀', 'web-1', 'web-2'),
    body,
  }),
  {
    selector: ({ cluster, namespace, name }) => JSON.stringify([cluster, namespace, name]),
    minLength: 5,
    maxLength: 30,
  },
);

const simple: fc.Arbitrary<Filter> = fc.oneof(
  fc
    .constantFrom(...single.filter(({ type, path }) => !path.text.startsWith('metadata.') || type === 'DateTime'))
    .chain(({ path, type }) =>
      fc
        .record({
          operator: fc.constantFrom('eq' as const, 'lt' as const, 'gte' as const),
          value: fc.constantFrom(...comparable[type]),
        })
        .map(
          ({ operator, value }): Filter => ({
            kind: 'compare',
            path,
            type,
            operator,
            values: [value],
            ignoreCase: false,
          }),
        ),
    ),
  fc.constantFrom(...single).map(({ path }): Filter => ({ kind: 'exists', path })),
  fc.constantFrom(...types).map(
    (type): Filter => ({
      kind: 'some',
      path: parsePath(`spec.lists.${type}`),
      of: { kind: 'exists', path: pathOf([]) },
    }),
  ),
  fc.constantFrom<Filter>(
    { kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] },
    {
      kind: 'labels',
      requirements: [
        { key: 'app', operator: 'Exists', values: [] },
        { key: 'tier', operator: 'NotIn', values: ['web'] },
      ],
    },
    { kind: 'namespaces', in: ['default', 'Ω'] },
    { kind: 'clusters', in: ['west'] },
  ),
);
const negatable = fc.oneof(
  { weight: 3, arbitrary: simple },
  { weight: 1, arbitrary: simple.map((of): Filter => ({ kind: 'not', of })) },
);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  fc.constant(everything),
  negatable,
  fc.array(negatable, { minLength: 1, maxLength: 3 }).map((of): Filter => ({ kind: 'and', of })),
);
const leaf = fc.constantFrom(...single, ...lists);
const question = fc.record({
  filter,
  by: fc.uniqueArray(leaf, { selector: ({ path }) => path.text, maxLength: 2 }),
  measured: fc.uniqueArray(
    fc
      .record({ leaf, sum: fc.boolean(), ends: fc.boolean() })
      .map(({ leaf, sum, ends }): Measured => ({ ...leaf, sum: sum && isSummable(leaf.type), ends })),
    { selector: ({ path }) => path.text, maxLength: 3 },
  ),
  kinds: fc.constantFrom<readonly string[]>([promotedKey], [plainKey], [promotedKey, plainKey]),
  facet: fc.record({
    leaf,
    first: fc.constantFrom(1, 2, 50),
    contains: fc.constantFrom(null, null, '', 'A', 'e', '0', 'é', '1'),
  }),
});

type Made = typeof objects extends fc.Arbitrary<(infer T)[]> ? T : never;

function textOf({ namespace, name, body }: Made, uid: string): string {
  const { spec, status, labels, created } = body;
  const metadata = {
    name,
    ...(namespace === null ? {} : { namespace }),
    uid,
    resourceVersion: '1',
    creationTimestamp: created,
    labels,
  };
  return JSON.stringify({ metadata, spec, status });
}

/** Each run asks forty questions. */
const runs = Number(process.env['ORACLE_RUNS'] ?? randomRuns(4, 8));

test('SQL gives the groups that the evaluator gives', { timeout: 120_000 }, async () => {
  let uid = 0;
  await fc.assert(
    fc.asyncProperty(
      objects,
      fc.array(question, { minLength: 40, maxLength: 40 }),
      fc.boolean(),
      async (made, questions, stale) => {
        const store = openTestStore(promoted, [...clusters, 'north']);
        const held: (Identity & { readonly body: unknown })[] = [];
        for (const key of [promotedKey, plainKey]) {
          for (const cluster of clusters) {
            const own = made.filter((each) => each.cluster === cluster);
            const texts = own.map((each) => textOf(each, `uid-${uid++}`));
            await store.sync(key, cluster, texts);
            for (const [index, { namespace, name }] of own.entries()) {
              held.push({ cluster, key, namespace, name, body: parseExact(texts[index] ?? '') });
            }
          }
          // The rows of an unpublished list do not count.
          const [template] = made;
          if (stale && template !== undefined) {
            store.writer.replace(store.handle(key, 'north')).put([{ text: textOf(template, `uid-${uid++}`) }]);
          }
        }
        for (const { filter, by, measured, kinds, facet: asked } of questions) {
          const plan: AggregatePlan = { kinds: kinds.map(plannedKind), filter, by, measured };
          await store.read(async (lease, view) => {
            const found = withinBudget(await aggregateKinds([{ lease, view }], plan, boundless()));
            expect(shownGroups(found, plan), JSON.stringify(plan)).toEqual(
              shownGroups(evaluateAggregate(plan, held), plan),
            );

            const facetPlan = { ...asked, kinds: plan.kinds, filter };
            const groups = evaluateAggregate(
              { ...plan, filter: filterWithout(filter, asked.leaf.path), by: [asked.leaf], measured: [] },
              held,
            );
            const needle = asked.contains === null ? null : foldCase(asked.contains);
            const wanted = facetOf(groups, asked.leaf, asked.first, needle);
            const text = (each: typeof wanted): unknown => ({
              more: each.more,
              values: each.values.map(({ key, count }) => [key === null ? null : String(key), count]),
            });
            expect(
              text(withinBudget(await facet([{ lease, view }], facetPlan, boundless()))),
              JSON.stringify(facetPlan),
            ).toEqual(text(wanted));
          });
        }
      },
    ),
    // Shrinking would open a store for each attempt. The failure message already contains the question.
    { numRuns: runs, endOnFailure: true },
  );
});
