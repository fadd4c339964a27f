/** Kept counts equal the counts of a scan, after any changes. Unchanged kinds are not scanned again. */

import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import {
  openTestStore,
  plainKey,
  plannedKind,
  promotedKey,
  recording,
  type TestStore,
  thing,
} from '../../../test/kit/query-store.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { allRows, unrestricted } from '../../access/scope.ts';
import { must } from '../../base/must.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { openReader } from '../../store/read/reader.ts';
import type { Lease } from '../../store/types/lease.ts';
import { comparison, negation } from '../plan/comparison.ts';
import type { Filter } from '../plan/filter.ts';
import { ScanBudget } from '../plan/scan-budget.ts';
import { readView, type View } from '../sql/view.ts';
import { countMatches } from './count.ts';
import { KeptCounts } from './kept-counts.ts';

const size = (value: number): Filter => comparison(parsePath('spec.size'), 'Int64', 'eq', [value], false);
const filters: readonly Filter[] = [
  size(1),
  negation(size(1)),
  { kind: 'clusters', in: ['east'] },
  { kind: 'and', of: [{ kind: 'clusters', in: ['west'] }, size(2)] },
  { kind: 'and', of: [] },
];
const promoted = [{ path: 'spec.size', type: 'Int64' }] as const;
const object = (name: string, value: number): string =>
  thing({ name, uid: `uid-${name}`, rest: { spec: { size: value } } });
const budget = (): ScanBudget => new ScanBudget(Number.MAX_SAFE_INTEGER);

/** The kept count, checked against a fresh one and a prepared one. */
async function checked(store: TestStore, counts: KeptCounts, keys: readonly string[], filter: Filter): Promise<number> {
  const plan = { kinds: keys.map(plannedKind), filter };
  return store.read(async (lease, view) => {
    const fresh = await countMatches(lease, view, plan, null, budget());
    const [only, ...others] = keys;
    const kind = only === undefined || others.length > 0 ? undefined : view.get(only);
    const prepared = kind === undefined ? null : counts.prepared(plan, kind);
    if (prepared !== null) {
      const found = prepared.read(lease, await lease.all(prepared.statement));
      if (found !== null) expect(found).toBe(fresh);
    }
    expect(await counts.count(lease, view, plan, null, budget())).toBe(fresh);
    expect(await counts.count(lease, view, plan, 2, budget())).toBe(Math.min(Number(fresh), 2));
    return Number(fresh);
  });
}

test('a kept count is the count, after any changes and lists', async () => {
  const change = fc.record({
    key: fc.constantFrom(promotedKey, plainKey),
    cluster: fc.constantFrom('east', 'west'),
    name: fc.constantFrom('a', 'b', 'c'),
    size: fc.constantFrom(1, 2, null),
    list: fc.boolean(),
  });
  const steps = fc.array(fc.tuple(fc.option(change), fc.nat(filters.length - 1), fc.boolean()), { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const store = openTestStore(promoted);
      for (const key of [promotedKey, plainKey])
        for (const cluster of ['east', 'west']) await store.sync(key, cluster, []);
      const counts = new KeptCounts();
      let version = 1000;
      for (const [changed, filter, several] of all) {
        if (changed?.list === true) {
          await store.sync(
            changed.key,
            changed.cluster,
            changed.size === null ? [] : [object(changed.name, changed.size)],
          );
        } else if (changed != null) {
          version += 1;
          const text = object(changed.name, changed.size ?? 0).replace(
            /"resourceVersion":"\d+"/,
            `"resourceVersion":"${version}"`,
          );
          const type = changed.size === null ? 'DELETED' : 'MODIFIED';
          store.writer.apply(store.handle(changed.key, changed.cluster), [{ type, object: { text } }], String(version));
        }
        const keys = several ? [promotedKey, plainKey] : [promotedKey];
        await checked(store, counts, keys, filters[filter] ?? size(1));
      }
    }),
    { numRuns: randomRuns(10, 30) },
  );
});

test('a count is scanned once while its kind does not change, also when another one does', async () => {
  const store = openTestStore(promoted);
  const sync = (key: string) => store.sync(key, 'east', [object('a', 1), object('b', 2)]);
  for (const key of [promotedKey, plainKey]) await sync(key);
  const counts = new KeptCounts();
  const plan = { kinds: [plannedKind(promotedKey)], filter: negation(size(1)) };
  const statements = () =>
    store.read(async (lease, view) => {
      const recorded = recording(lease);
      const found = await counts.count(recorded.lease, view, plan, null, budget());
      return [found, recorded.statements.length];
    });
  const [, scanned] = await statements();
  expect(scanned).toBeGreaterThan(1);
  expect(await statements()).toEqual([1, 1]);
  store.writer.apply(store.handle(plainKey, 'east'), [{ type: 'ADDED', object: { text: object('c', 3) } }], '9000');
  expect(await statements()).toEqual([1, 1]);
  store.writer.apply(store.handle(promotedKey, 'east'), [{ type: 'ADDED', object: { text: object('c', 3) } }], '9001');
  expect(await statements()).toEqual([2, scanned]);
});

test('a snapshot that is older than the counted one is counted by itself', async () => {
  const store = openTestStore(promoted, ['east']);
  await store.sync(promotedKey, 'east', [object('a', 1)]);
  const counts = new KeptCounts();
  const plan = { kinds: [plannedKind(promotedKey)], filter: size(1) };
  const reader = openReader(store.file, { readers: 2, leaseMs: 60_000 });
  onTestFinished(() => reader.close());
  const count = (lease: Lease, view: View) => counts.count(lease, view, plan, null, budget());
  await reader.lease(async (old) => {
    const oldView = await readView(old, unrestricted);
    // The number of stored rows stays the same.
    const text = object('a', 2).replace(/"resourceVersion":"\d+"/, '"resourceVersion":"9000"');
    store.writer.apply(store.handle(promotedKey, 'east'), [{ type: 'MODIFIED', object: { text } }], '9000');
    expect(await store.read(count)).toBe(0);
    expect(await count(old, oldView)).toBe(1);
  });
  expect(await store.read(count)).toBe(0);
});

test('callers with other scopes do not share counts', async () => {
  const store = openTestStore(promoted);
  await store.sync(promotedKey, 'east', [object('a', 1)]);
  const counts = new KeptCounts();
  const plan = { kinds: [plannedKind(promotedKey)], filter: size(1) };
  await store.read(async (lease, view) => {
    await counts.count(lease, view, plan, null, budget());
    const kind = view.get(promotedKey);
    if (kind === undefined) throw new Error('the kind is there');
    expect(counts.prepared(plan, kind)).not.toBeNull();
    const other = await readView(lease, { id: 'other', of: () => allRows });
    expect(counts.prepared(plan, must(other.get(promotedKey), 'the kind'))).toBeNull();
  });
});
