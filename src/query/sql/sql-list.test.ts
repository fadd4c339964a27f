import { describe, expect, test } from 'vitest';
import { boundless } from '../../../test/kit/displayed-groups.ts';
import {
  explain,
  openTestStore,
  orderTerm,
  plannedKind,
  promotedKey,
  recording,
  type TestStore,
  thing,
} from '../../../test/kit/query-store.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Statement } from '../../store/types/statement.ts';
import { everything, type Filter } from '../plan/filter.ts';
import type { ListPlan, ListResult, OrderTerm, Page } from '../plan/plan.ts';
import { countMatches } from '../read/count.ts';
import { listPage } from '../read/list.ts';
import type { View } from './view.ts';

const projection = { spec: { size: true } } as const;
/** Matches the outer SELECT of a page statement; its group is the inner SELECT. */
const outer = (keys: string): RegExp =>
  new RegExp(
    `^SELECT k\\.id, o\\.cluster, o\\.namespace, o\\.name, o\\.uid, o\\.rv, o\\.seq, o\\.health, o\\.health_reason, o\\.health_message, o\\.health_source, CASE WHEN b\\.text IS NULL THEN json_object\\(.*\\) ELSE b\\.text END${keys} FROM \\((.*)\\) AS k CROSS JOIN object AS o ON o\\.id = k\\.id CROSS JOIN body AS b ON b\\.id = k\\.id$`,
  );

async function openStore(count = 60): Promise<TestStore> {
  const store = openTestStore([
    { path: 'status.phase', type: 'String' },
    { path: 'spec.size', type: 'Int64' },
  ]);
  for (const cluster of ['east', 'west']) {
    await store.sync(
      promotedKey,
      cluster,
      Array.from({ length: count }, (_, index) =>
        thing({
          name: `n${String(index).padStart(3, '0')}`,
          namespace: `ns${index % 3}`,
          created: `2026-01-31T12:00:${String(index % 60).padStart(2, '0')}Z`,
          labels: { app: index % 30 === 0 ? 'rare' : 'web' },
          rest: {
            spec: { ...(index % 10 === 9 ? {} : { size: index }), other: `x${index % 7}` },
            status: { phase: index % 20 === 0 ? 'Failed' : 'Running' },
          },
        }),
      ),
    );
  }
  return store;
}

interface ListRun {
  readonly result: ListResult;
  readonly statements: readonly Statement[];
  /** The inner SELECTs of the page's statements, which find the keys. */
  readonly inner: readonly string[];
  readonly plans: readonly string[];
}

async function ask(
  store: TestStore,
  filter: Filter,
  orderBy: readonly OrderTerm[],
  page: Page = { direction: 'forward', limit: 3, after: null },
): Promise<ListRun> {
  const plan: ListPlan = { kinds: [plannedKind(promotedKey)], filter, orderBy, projection, page };
  return store.read(async (lease: Lease, view: View) => {
    const asked = recording(lease);
    const result = await listPage([{ lease: asked.lease, view }], plan);
    const { statements } = asked;
    const pages = statements.filter(({ sql }) => sql.startsWith('SELECT k.id'));
    const shape = outer('.*');
    const plans: string[] = [];
    for (const statement of pages) plans.push(await explain(lease, statement));
    return { result, statements, inner: pages.map(({ sql }) => shape.exec(flat(sql))?.[1] ?? sql), plans };
  });
}

function flat(sql: string): string {
  return sql.replace(/\s+/g, ' ');
}

function names({ result }: ListRun): string[] {
  return result.rows.map((row) => `${row.cluster}/${row.name}`);
}

const phase = (value: string): Filter => ({
  kind: 'compare',
  path: parsePath('status.phase'),
  type: 'String',
  operator: 'eq',
  values: [value],
  ignoreCase: false,
});
const app = (value: string): Filter => ({
  kind: 'labels',
  requirements: [{ key: 'app', operator: 'In', values: [value] }],
});
const publishedRows = '+p.rowset IN (SELECT rowset FROM resource WHERE kind = +? AND synced = 1)';
const keyList = 'p.id AS id, p.cluster AS cluster, p.namespace AS namespace, p.name AS name, p.c1 AS k0';

describe('an order by a promoted column', () => {
  test('the first page reads the rows with a key along the index, then those without', async () => {
    const store = await openStore();
    const asked = await ask(store, everything, [orderTerm('spec.size', 'Int64', 'DESC')]);
    const rest = `AND (((p.id * 40503 >> 16) & 255) <> 0 OR tick() = 0) AND ${publishedRows}) ORDER BY k0 DESC, p.cluster DESC, p.namespace DESC, p.name DESC LIMIT +?`;
    expect(asked.inner).toEqual([
      `SELECT ${keyList} FROM p1 AS p WHERE (p.c1 >= -9e999 ${rest}`,
      `SELECT ${keyList} FROM p1 AS p WHERE (p.c1 IS NULL ${rest}`,
    ]);
    expect(flat(asked.statements[0]?.sql ?? '')).toMatch(outer(', CAST\\(k\\.k0 AS TEXT\\)'));
    expect(asked.statements[0]?.params.slice(-2)).toEqual([1n, 4n]);
    expect(names(asked)).toEqual(['west/n058', 'east/n058', 'west/n057']);
    expect(asked.result.rows[0]?.body).toEqual({ spec: { size: 58 } });
    expect([asked.result.hasNextPage, asked.result.hasPreviousPage]).toEqual([true, false]);
  });

  test('later pages are ranges of the index, and nothing is sorted', async () => {
    const store = await openStore();
    for (const direction of ['ASC', 'DESC'] as const) {
      for (const nulls of ['FIRST', 'LAST'] as const) {
        const order = [orderTerm('spec.size', 'Int64', direction, nulls)];
        let cursor: string | null = null;
        for (let page = 0; page < 45; page++) {
          const asked: ListRun = await ask(store, everything, order, { direction: 'forward', limit: 3, after: cursor });
          for (const plan of asked.plans) {
            expect(plan).toContain('USING INDEX p1_c1 (c1');
            expect(plan).not.toContain('TEMP B-TREE');
            expect(plan).not.toContain('SCAN p');
          }
          cursor = asked.result.rows.at(-1)?.cursor ?? null;
          if (!asked.result.hasNextPage) break;
        }
      }
    }
  });

  test('behind a cursor come equal keys, later keys, rows without a key', async () => {
    const store = await openStore();
    const order = [orderTerm('spec.size', 'Int64')];
    const first = await ask(store, everything, order);
    const next = await ask(store, everything, order, {
      direction: 'forward',
      limit: 3,
      after: first.result.rows[2]?.cursor ?? null,
    });
    expect(next.inner.map((sql) => /WHERE \((.*?) AND \(\(\(p\.id/.exec(sql)?.[1])).toEqual([
      'p.c1 = +? AND (p.cluster, p.namespace, p.name) > (+?, +?, +?)',
      'p.c1 > +?',
      'p.c1 IS NULL',
    ]);
    expect(next.plans[0]).toContain('c1=? AND (cluster,namespace,name)>(?,?,?)');
    expect(names(first)).toEqual(['east/n000', 'west/n000', 'east/n001']);
    expect(names(next)).toEqual(['west/n001', 'east/n002', 'west/n002']);
    const back = await ask(store, everything, order, {
      direction: 'backward',
      limit: 3,
      before: next.result.rows[0]?.cursor ?? null,
    });
    expect(names(back)).toEqual(names(first));
    expect([back.result.hasPreviousPage, back.result.hasNextPage]).toEqual([false, true]);
    expect(back.plans.every((plan) => !plan.includes('TEMP B-TREE'))).toBe(true);
  });

  test('a page between two cursors reads ranges that end at the second one', async () => {
    const store = await openStore();
    const order = [orderTerm('spec.size', 'Int64')];
    const { result } = await ask(store, everything, order);
    const between = (from: number, to: number) =>
      ask(store, everything, order, {
        direction: 'forward',
        limit: 3,
        after: result.rows[from]?.cursor ?? null,
        before: result.rows[to]?.cursor ?? '',
        isSized: true,
      });
    const ranges = ({ inner }: Awaited<ReturnType<typeof ask>>) =>
      inner.map((sql) => /WHERE \((.*?) AND \(\(\(p\.id/.exec(sql)?.[1]);
    const tied = await between(0, 1);
    expect(ranges(tied)).toEqual([
      'p.c1 = +? AND (p.cluster, p.namespace, p.name) > (+?, +?, +?) AND p.c1 = +? AND (p.cluster, p.namespace, p.name) < (+?, +?, +?)',
    ]);
    const other = await between(0, 2);
    expect(ranges(other)).toEqual([
      'p.c1 = +? AND (p.cluster, p.namespace, p.name) > (+?, +?, +?)',
      '(p.c1 > +? AND p.c1 < +?)',
      'p.c1 = +? AND (p.cluster, p.namespace, p.name) < (+?, +?, +?)',
    ]);
    expect(names(other)).toEqual(['west/n000']);
    // The other way round there is nothing, although each key has ties.
    expect(names(await between(2, 0))).toEqual([]);
    expect(other.plans[2]).toContain('c1=? AND (cluster,namespace,name)<(?,?,?)');
  });

  test('what the filter says of the same leaf bounds the range', async () => {
    const store = await openStore();
    const filter: Filter = {
      kind: 'compare',
      path: parsePath('spec.size'),
      type: 'Int64',
      operator: 'gte',
      values: ['5'],
      ignoreCase: false,
    };
    const asked = await ask(store, filter, [orderTerm('spec.size', 'Int64', 'ASC')]);
    expect(asked.inner).toHaveLength(1);
    expect(asked.inner[0]).toContain('WHERE (p.c1 >= +? AND');
    expect(names(asked)).toEqual(['east/n005', 'west/n005', 'east/n006']);
  });
});

describe('other orders', () => {
  test('creation time and identity have indexes of their own', async () => {
    const store = await openStore();
    const created = await ask(store, everything, [orderTerm('metadata.creationTimestamp', 'DateTime', 'DESC')]);
    expect(created.plans[0]).toContain('USING INDEX object_created (kind=? AND created>?)');
    expect(names(created)).toEqual(['west/n059', 'east/n059', 'west/n058']);
    const identity = await ask(store, everything, []);
    expect(identity.plans).toEqual([expect.stringContaining('USING INDEX object_identity (kind=?)')]);
    expect(names(identity)).toEqual(['east/n000', 'east/n003', 'east/n006']);
    for (const plan of [...created.plans, ...identity.plans]) expect(plan).not.toContain('TEMP B-TREE');
  });

  test('creation time as a time has the same index', async () => {
    const store = await openStore();
    const sorted = await ask(store, everything, [
      { ...orderTerm('metadata.creationTimestamp', 'Time', 'DESC'), cast: 'TIME' },
    ]);
    expect(sorted.plans[0]).toContain('USING INDEX object_created (kind=? AND created>?)');
    expect(names(sorted)).toEqual(['west/n059', 'east/n059', 'west/n058']);
    const late: Filter = {
      kind: 'compare',
      path: parsePath('metadata.creationTimestamp'),
      type: 'Time',
      cast: 'TIME',
      operator: 'gte',
      values: ['2026-01-31T12:00:58Z'],
      ignoreCase: false,
    };
    const found = await ask(store, late, []);
    expect(found.plans).toEqual([expect.stringContaining('USING INDEX object_created (kind=? AND created>?)')]);
    expect(names(found)).toEqual(['east/n058', 'east/n059', 'west/n058']);
    const day = await ask(store, { ...late, operator: 'lt', values: ['2026-02-01'] }, []);
    expect(names(day)).toEqual(['east/n000', 'east/n003', 'east/n006']);
    // Nothing is being deleted; the column says so without the body.
    const deleting = await ask(store, { ...late, path: parsePath('metadata.deletionTimestamp') }, []);
    expect(deleting.inner[0]).toContain('o.deleting >=');
    expect(deleting.result.rows).toEqual([]);
  });

  test('a day in a leaf of times is found as a time, although the slot has no key of it', async () => {
    const store = openTestStore([{ path: 'spec.at', type: 'DateTime' }]);
    const at = (name: string, time: string): string => thing({ name, rest: { spec: { at: time } } });
    await store.sync(promotedKey, 'east', [at('day', '2026-01-31'), at('moment', '2026-01-31T12:00:00Z')]);
    await store.sync(promotedKey, 'west', []);
    const filter: Filter = {
      kind: 'compare',
      path: parsePath('spec.at'),
      type: 'Time',
      cast: 'TIME',
      operator: 'gte',
      values: ['2026-01-31'],
      ignoreCase: false,
    };
    expect(names(await ask(store, filter, []))).toEqual(['east/day', 'east/moment']);
  });

  test('a leaf without an index is sorted by keys alone, in one statement', async () => {
    const store = await openStore();
    const order = [orderTerm('spec.other', 'String', 'DESC'), orderTerm('spec.size', 'Int64')];
    const first = await ask(store, everything, order);
    expect(first.inner).toHaveLength(1);
    expect(first.inner[0]).toContain('ORDER BY k0 DESC NULLS LAST, k1 ASC NULLS LAST, o.cluster ASC');
    const next = await ask(store, everything, order, {
      direction: 'forward',
      limit: 3,
      after: first.result.rows[2]?.cursor ?? null,
    });
    expect([...names(first), ...names(next)]).toEqual([
      'east/n006',
      'west/n006',
      'east/n013',
      'west/n013',
      'east/n020',
      'west/n020',
    ]);
  });
});

describe('the way in', () => {
  test('a rare condition is the way in, a common one is checked along the order', async () => {
    const store = await openStore();
    const order = [orderTerm('spec.size', 'Int64', 'DESC')];
    const rare = await ask(store, phase('Failed'), order);
    expect(rare.inner).toHaveLength(1);
    expect(rare.plans[0]).toContain('USING INDEX p1_c0 (c0=?)');
    expect(names(rare)).toEqual(['west/n040', 'east/n040', 'west/n020']);
    const common = await ask(store, phase('Running'), order);
    expect(common.plans[0]).toContain('USING INDEX p1_c1 (c1>?)');
    expect(common.inner[0]).toContain('+p.c0 = +?');
    expect(common.plans[0]).not.toContain('TEMP B-TREE');
    expect(names(common)).toEqual(['west/n058', 'east/n058', 'west/n057']);
  });

  test('labels are found in their table, or asked of their object', async () => {
    const store = await openStore();
    const rare = await ask(store, app('rare'), []);
    expect(rare.plans[0]).toContain('SEARCH d USING PRIMARY KEY (kind=? AND key=? AND value=?)');
    expect(names(rare)).toEqual(['east/n000', 'east/n030', 'west/n000']);
    const common = await ask(store, app('web'), []);
    expect(common.plans[0]).toContain('SEARCH l EXISTS USING INTEGER PRIMARY KEY (rowid=?)');
    expect(common.plans[0]).toContain('USING INDEX object_identity (kind=?)');
    expect(names(common)).toEqual(['east/n003', 'east/n006', 'east/n009']);
  });

  test('a list of some namespaces in identity order is a range for each of them', async () => {
    const store = await openStore();
    const filter: Filter = { kind: 'namespaces', in: ['ns2', 'ns1'] };
    const first = await ask(store, filter, []);
    expect(first.plans).toHaveLength(4);
    for (const plan of first.plans) {
      expect(plan).toContain('USING INDEX object_identity (kind=? AND cluster=? AND namespace=?)');
      expect(plan).not.toContain('TEMP B-TREE');
    }
    const last = await ask(store, filter, [], { direction: 'backward', limit: 3, before: null });
    expect(names(last)).toEqual(['west/n053', 'west/n056', 'west/n059']);
    const before = await ask(store, filter, [], {
      direction: 'backward',
      limit: 3,
      before: last.result.rows[0]?.cursor ?? null,
    });
    expect(before.plans[0]).toContain('(kind=? AND cluster=? AND namespace=? AND name<?)');
    expect(names(before)).toEqual(['west/n044', 'west/n047', 'west/n050']);

    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const asked: ListRun = await ask(store, filter, [], { direction: 'forward', limit: 7, after: cursor });
      seen.push(...names(asked));
      cursor = asked.result.hasNextPage ? (asked.result.rows.at(-1)?.cursor ?? null) : null;
    } while (cursor !== null);
    const numbers = (namespace: number): string[] =>
      Array.from({ length: 20 }, (_, index) => `n${String(index * 3 + namespace).padStart(3, '0')}`);
    const both = [...numbers(1), ...numbers(2)];
    expect(seen).toEqual(['east', 'west'].flatMap((cluster) => both.map((name) => `${cluster}/${name}`)));
  });
});

test('a count of everything is the one the store keeps; with a filter it is a scan that stops at the limit', async () => {
  const store = await openStore();
  await store.read(async (lease, view) => {
    const asked = recording(lease);
    const count = async (filter: Filter, limit: number | null): Promise<number> =>
      Number(await countMatches(asked.lease, view, { kinds: [plannedKind(promotedKey)], filter }, limit, boundless()));
    expect(await count(everything, null)).toBe(120);
    expect(await count({ kind: 'clusters', in: ['west', 'west'] }, null)).toBe(60);
    expect(asked.statements.every(({ sql }) => sql.includes('sum(objects)'))).toBe(true);
    expect(await count(phase('Failed'), null)).toBe(6);
    expect(await count(phase('Running'), 10)).toBe(10);
    expect(asked.statements.at(-1)?.params.at(-1)).toBe(10n);
  });
});

test('statements of one shape have one text', async () => {
  const store = await openStore();
  const texts = async (value: string): Promise<string[]> =>
    (await ask(store, phase(value), [orderTerm('spec.size', 'Int64')])).statements.map(({ sql }) => sql);
  expect(await texts("Robert'); DROP TABLE object; --")).toEqual(await texts('Failed'));
});
