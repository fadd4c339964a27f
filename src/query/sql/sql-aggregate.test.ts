import { describe, expect, test } from 'vitest';
import { boundless } from '../../../test/kit/displayed-groups.ts';
import {
  explain,
  openTestStore,
  plannedKind,
  promotedKey,
  recording,
  type TestStore,
  thing,
} from '../../../test/kit/query-store.ts';
import { parsePath, pathOf } from '../../catalog/tree/path.ts';
import type { AggregatePlan, Leaf } from '../plan/aggregate.ts';
import { everything, type Filter } from '../plan/filter.ts';
import { OverBudget, rowCost, ScanBudget } from '../plan/scan-budget.ts';
import { aggregateKinds } from '../read/aggregate-kinds.ts';
import { countMatches } from '../read/count.ts';
import { filterWithout } from '../read/facet.ts';

const leaf = (path: string, type: Leaf['type'] = 'String'): Leaf => ({ path: parsePath(path), type });
const is = (path: string, value: string): Filter => ({
  kind: 'compare',
  path: parsePath(path),
  type: 'String',
  operator: 'eq',
  values: [value],
  ignoreCase: false,
});

async function openStore(): Promise<TestStore> {
  const store = openTestStore(
    [
      { path: 'status.phase', type: 'String' },
      { path: 'spec.size', type: 'Int64' },
    ],
    ['east', 'west', 'north'],
  );
  for (const cluster of ['east', 'west']) {
    const texts = Array.from({ length: 30 }, (_, index) =>
      thing({
        name: `n${index}`,
        namespace: `ns${index % 3}`,
        labels: { app: index % 10 === 0 ? 'rare' : 'web' },
        rest: { spec: { size: index, other: 'x' }, status: { phase: index % 2 === 0 ? 'Running' : 'Failed' } },
      }),
    );
    await store.sync(promotedKey, cluster, texts);
  }
  return store;
}

interface AggregateRun {
  readonly plan: string;
  readonly sql: string;
  readonly count: number;
}

/** The last statement of an aggregate with SQLite's query plan. */
async function ask(store: TestStore, part: Partial<AggregatePlan>): Promise<AggregateRun> {
  return store.read(async (lease, view) => {
    const asked = recording(lease);
    const plan = { kinds: [plannedKind(promotedKey)], filter: everything, by: [], measured: [], ...part };
    const groups = await aggregateKinds([{ lease: asked.lease, view }], plan, boundless());
    const statement = asked.statements.at(-1);
    if (statement === undefined || groups instanceof OverBudget) throw new Error('there is a statement');
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    return { plan: await explain(lease, statement), sql: statement.sql, count };
  });
}

describe('what is read', () => {
  test('groups by a promoted column come from its index alone, in its order', async () => {
    const store = await openStore();
    const { plan, count } = await ask(store, { by: [leaf('status.phase')] });
    expect(count).toBe(60);
    expect(plan).toMatch(/SCAN p USING COVERING INDEX p\d+_c\d/);
    expect(plan).not.toContain('TEMP B-TREE');
  });

  test('rows that do not count are looked up while there are any', async () => {
    const store = await openStore();
    store.writer.replace(store.handle(promotedKey, 'north')).put([{ text: thing({ name: 'staged' }) }]);
    const { plan, count } = await ask(store, { by: [leaf('status.phase')] });
    expect(count).toBe(60);
    expect(plan).not.toContain('COVERING INDEX p');
  });

  test('a filter on a promoted column or a label drives; bodies are not touched for labels and columns', async () => {
    const store = await openStore();
    const byPhase = await ask(store, { filter: is('status.phase', 'Failed'), by: [leaf('metadata.namespace')] });
    expect(byPhase.count).toBe(30);
    expect(byPhase.plan).toMatch(/SEARCH p USING (COVERING )?INDEX/);
    const rare: Filter = { kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: ['rare'] }] };
    const byLabel = await ask(store, {
      filter: rare,
      by: [leaf('metadata.labels["app"]')],
      measured: [{ ...leaf('spec.size', 'Int64'), sum: true, ends: true }],
    });
    expect(byLabel.count).toBe(6);
    expect(byLabel.plan).toContain('SEARCH d USING');
    for (const { sql } of [byPhase, byLabel]) expect(sql).not.toMatch(/\bbody\b/);
  });

  test('every scan can be cancelled', async () => {
    const store = await openStore();
    for (const part of [
      {},
      { by: [leaf('spec.other')] },
      { by: [leaf('spec.list[]')] },
      { filter: is('status.phase', 'Failed') },
    ]) {
      expect((await ask(store, part)).sql).toContain('tick() = 0');
    }
  });
});

describe('what is afforded', () => {
  const other = (store: TestStore, budget: ScanBudget) =>
    store.read((lease, view) =>
      aggregateKinds(
        [{ lease, view }],
        { kinds: [plannedKind(promotedKey)], filter: everything, by: [leaf('spec.other')], measured: [] },
        budget,
      ),
    );

  test('the scans of an operation share one budget, and what does not fit takes nothing of it', async () => {
    const store = await openStore();
    const budget = new ScanBudget(100);
    expect(await other(store, budget)).toMatchObject([{ count: 60 }]);
    expect(await other(store, budget)).toEqual(new OverBudget(60, 40));
    expect(budget.left(rowCost.body)).toBe(40);
    const filtered = { kinds: [plannedKind(promotedKey)], filter: is('status.phase', 'Failed') };
    expect(await store.read((lease, view) => countMatches(lease, view, filtered, null, budget))).toBe(30);
    expect(budget.left(rowCost.index)).toBe(40 * rowCost.body - 30);
  });

  test('a narrow filter makes a dear question cheap', async () => {
    const store = await openStore();
    const rare: Filter = { kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: ['rare'] }] };
    const plan = { kinds: [plannedKind(promotedKey)], filter: rare, by: [leaf('spec.other')], measured: [] };
    expect(await store.read((lease, view) => aggregateKinds([{ lease, view }], plan, new ScanBudget(6)))).toMatchObject(
      [{ count: 6 }],
    );
    expect(await store.read((lease, view) => aggregateKinds([{ lease, view }], plan, new ScanBudget(5)))).toEqual(
      new OverBudget(6, 5),
    );
  });
});

describe('a facet leaves out what the filter says of its own path', () => {
  const phase = is('status.phase', 'Failed');
  const size: Filter = { ...is('spec.size', '5'), type: 'Int64' } as Filter;
  const and = (...of: readonly Filter[]): Filter => ({ kind: 'and', of });
  const app = (...keys: readonly string[]): Filter => ({
    kind: 'labels',
    requirements: keys.map((key) => ({ key, operator: 'Exists', values: [] })),
  });
  const image: Filter = { kind: 'some', path: parsePath('spec.list'), of: is('image', 'a') };

  test.each<[string, Filter, string, Filter]>([
    ['a condition on the path', phase, 'status.phase', and()],
    ['one of several', and(phase, size), 'status.phase', and(size)],
    ['a negated one', and({ kind: 'not', of: phase }, size), 'status.phase', and(size)],
    ['a choice of several on the path', { kind: 'or', of: [phase, is('status.phase', 'x')] }, 'status.phase', and()],
    ['a requirement on the label', app('app', 'tier'), 'metadata.labels["app"]', and(app('tier'))],
    ['the only requirement on the label', and(app('app'), size), 'metadata.labels["app"]', and(size)],
    ['namespaces', and({ kind: 'namespaces', in: ['a'] }, size), 'metadata.namespace', and(size)],
    ['a condition on a sum', and(is('sum(spec.list[].n)', '5'), size), 'sum(spec.list[].n)', and(size)],
    ['a sum of other values', is('sum(spec.list[].n)', '5'), 'spec.list[].n', is('sum(spec.list[].n)', '5')],
    [
      'a condition on the cluster',
      and({ kind: 'clusters', in: ['east'] }, size),
      'cluster',
      { kind: 'and', of: [{ kind: 'clusters', in: ['east'] }, size] },
    ],
    ['a condition on elements', and(image, size), 'spec.list[].image', and(size)],
  ])('%s', (_what, filter, path, left) => {
    expect(filterWithout(filter, parsePath(path))).toEqual(left);
  });

  test.each<[string, Filter, string]>([
    ['another path', and(phase, size), 'spec.other'],
    ['a choice with another path', { kind: 'or', of: [phase, size] }, 'status.phase'],
    ['elements of another list', image, 'spec.other[].image'],
    [
      'the list itself',
      { kind: 'some', path: parsePath('spec.list'), of: { kind: 'exists', path: pathOf([]) } },
      'spec.list[].image',
    ],
  ])('and not: %s', (_what, filter, path) => {
    expect(filterWithout(filter, parsePath(path))).toBe(filter);
  });
});
