/**
 * Known defects of other lists over cached objects, a to j: wrong or expensive answers. Each test holds the query and the right answer.
 */
import { expect, test } from 'vitest';
import type { Statement } from '../../src/store/types/statement.ts';
import { type EngineFixture, engineFixture, made } from '../kit/engine-fixture.ts';
import { widget, widgetProperties, widgets } from '../kit/graphql-world.ts';
import { explain } from '../kit/query-store.ts';

interface Listed {
  readonly names: readonly string[];
  readonly totalCount: number | null;
  readonly endCursor: string | null;
}

async function world(objects: readonly Readonly<Record<string, unknown>>[], properties = widgetProperties) {
  const fixture = engineFixture();
  await fixture.declare(widget('east', properties));
  await fixture.sync(widgets, objects);
  return {
    ...fixture,
    async list(args: Readonly<Record<string, unknown>>): Promise<Listed> {
      const { data, errors } = await fixture.query(
        `query ($filter: ExampleComWidgetFilter, $orderBy: [ObjectOrder!], $first: Int, $after: String) {
          exampleComWidgets(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
            nodes { metadata { name } spec { free } } totalCount pageInfo { endCursor } } }`,
        args,
      );
      expect(errors).toEqual([]);
      const { nodes, totalCount, pageInfo } = data.exampleComWidgets;
      const names = nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
      return { names, totalCount, endCursor: pageInfo.endCursor };
    },
  };
}

/** The statements of one list that read objects, and how SQLite runs them. */
async function plans(fixture: EngineFixture, work: () => Promise<unknown>): Promise<{ sql: string; plan: string }[]> {
  fixture.statements.length = 0;
  await work();
  const read: Statement[] = fixture.statements.filter(({ sql }) => /\b(object|body|p\d+) AS\b/.test(sql));
  return fixture.reader.lease(async (lease) => {
    const found: { sql: string; plan: string }[] = [];
    for (const statement of read) found.push({ sql: statement.sql, plan: await explain(lease, statement) });
    return found;
  });
}

const phases = Array.from({ length: 40 }, (_, index) =>
  made({
    name: `w${index}`,
    labels: { app: 'x' },
    spec: { replicas: index % 7 },
    status: { phase: index % 2 ? 'A' : 'B' },
  }),
);

test('a: a label that was taken off a living object no longer finds it', async () => {
  const { list, apply } = await world([made({ name: 'a', labels: { app: 'web', tier: 'front' } })]);
  expect((await list({ filter: { labelSelector: 'tier=front' } })).names).toEqual(['a']);
  apply(widgets, 'MODIFIED', made({ name: 'a', labels: { app: 'web' }, resourceVersion: '1000' }));
  expect((await list({ filter: { labelSelector: 'tier=front' } })).names).toEqual([]);
  expect((await list({ filter: { labelSelector: '!tier' } })).names).toEqual(['a']);
});

test('b: underscores, percent signs and backslashes are letters like others', async () => {
  const names = ['foo_bar', 'fooxbar', '100%', '100x', 'a\\b', 'ab'];
  const { list } = await world(names.map((name, index) => made({ name: `w${index}`, spec: { name } })));
  const found = async (condition: unknown): Promise<readonly string[]> =>
    (await list({ filter: { spec: { name: condition } } })).names;
  expect(await found({ eq: 'foo_bar' })).toEqual(['w0']);
  expect(await found({ ne: 'foo_bar' })).toHaveLength(5);
  expect(await found({ eq: '100%' })).toEqual(['w2']);
  expect(await found({ eq: 'a\\b' })).toEqual(['w4']);
  expect(await found({ contains: '_' })).toEqual(['w0']);
  expect(await found({ startsWith: '100%' })).toEqual(['w2']);
});

test('c: numbers compare by value, at full width', async () => {
  const { list } = await world([
    made({ name: 'nine', spec: { replicas: 9, total: 16777216 } }),
    made({ name: 'eleven', spec: { replicas: 11, total: 16777217 } }),
    made({ name: 'time', spec: { replicas: 10, total: 1767225600001 } }),
  ]);
  expect((await list({ filter: { spec: { replicas: { gt: 10 } } } })).names).toEqual(['eleven']);
  expect((await list({ filter: { spec: { total: { gt: 16777216 } } } })).names).toEqual(['eleven', 'time']);
  expect((await list({ filter: { spec: { total: { gt: 1767225600000 } } } })).names).toEqual(['time']);
  const byNumber = await list({ orderBy: [{ path: 'spec.replicas' }] });
  expect(byNumber.names).toEqual(['nine', 'time', 'eleven']);
});

test('d: an ordered page walks an index, and sorts nothing', async () => {
  const fixture = await world(phases);
  const found = await plans(fixture, () => fixture.list({ orderBy: [{ path: 'status.phase' }], first: 5 }));
  expect(found.length).toBeGreaterThan(0);
  for (const { plan } of found) {
    expect(plan).toMatch(/USING (COVERING )?INDEX p\d+_c\d+/);
    expect(plan).not.toContain('TEMP B-TREE FOR ORDER BY');
  }
});

test('e: pages are found by their keys, and only the objects of the page are read whole', async () => {
  const fixture = await world(phases);
  const found = await plans(fixture, () => fixture.list({ orderBy: [{ path: 'spec.replicas' }], first: 5 }));
  const bodies = found.filter(({ sql }) => sql.includes('body AS b ON b.id = k.id'));
  expect(bodies.length).toBeGreaterThan(0);
  for (const { sql } of bodies) {
    const [inner = ''] = /FROM \(([\s\S]*LIMIT \+\?)\) AS k/.exec(sql)?.slice(1) ?? [];
    expect(inner).not.toBe('');
    // The sorted columns hold keys and no body.
    expect(inner.slice(0, inner.indexOf('FROM'))).not.toMatch(/json\(b\.body\)|b\.text/);
  }
});

test('f: a negative label selector counts without making bodies distinct', async () => {
  const fixture = await world(phases);
  let counted: Listed | null = null;
  const found = await plans(fixture, async () => {
    counted = await fixture.list({ filter: { labelSelector: 'app!=y' }, first: 0 });
  });
  expect(counted).toMatchObject({ totalCount: 40 });
  for (const { sql, plan } of found) {
    expect(sql).not.toMatch(/\bDISTINCT\b/);
    expect(plan).not.toContain('TEMP B-TREE FOR DISTINCT');
  }
  expect(found.some(({ sql }) => sql.includes('NOT EXISTS'))).toBe(true);
});

test('g: a count without a filter reads a counter', async () => {
  const fixture = await world(phases);
  const found = await plans(fixture, () => fixture.query('{ exampleComWidgets(first: 0) { totalCount } }'));
  expect(found.filter(({ sql }) => sql.includes('count('))).toEqual([]);
});

test('h: pages of equal values lose and repeat nothing, while objects come and go between them', async () => {
  const { list, apply } = await world(phases);
  const seen: string[] = [];
  let after: string | null = null;
  for (let round = 0; round < 20; round += 1) {
    const page: Listed = await list({ orderBy: [{ path: 'spec.replicas' }], first: 3, after });
    seen.push(...page.names);
    if (page.names.length < 3) break;
    after = page.endCursor;
    apply(
      widgets,
      'ADDED',
      made({ name: `new${round}`, spec: { replicas: 0 }, resourceVersion: String(2000 + round) }),
    );
  }
  const first = seen.filter((name) => name.startsWith('w'));
  expect(new Set(seen).size).toBe(seen.length);
  expect(first.toSorted()).toEqual(phases.map(({ metadata }) => (metadata as { name: string }).name).toSorted());
});

test('i: an element that does not fit its list costs that element, not the object', async () => {
  const { list, query } = await world([
    made({ name: 'odd', spec: { tags: ['x', 5, { a: 1 }, null] } }),
    made({ name: 'even', spec: { tags: ['x'] } }),
  ]);
  expect((await list({ filter: { spec: { tags: { some: { eq: 'x' } } } } })).names).toEqual(['even', 'odd']);
  const { data, errors } = await query('{ exampleComWidget(namespace: "default", name: "odd") { spec { tags } raw } }');
  expect(errors.map(({ path }) => path?.join('.'))).toEqual(['exampleComWidget.spec.tags.2']);
  expect(data.exampleComWidget.spec.tags).toEqual(['x', '5', null, null]);
  expect(data.exampleComWidget.raw.spec.tags).toEqual(['x', 5, { a: 1 }, null]);
});

test('j: IPv6 addresses are ordered by all their bits', async () => {
  const addresses = ['2001:db8::ffff:0:0:1', '2001:db8::1', 'fe80::2', '2001:db8::ffff:0:0:0', '10.0.0.2', '9.0.0.1'];
  const properties = {
    ...widgetProperties,
    spec: {
      ...widgetProperties.spec,
      properties: { ...widgetProperties.spec.properties, address: { type: 'string', format: 'ip' } },
    },
  };
  const { list } = await world(
    addresses.map((address, index) => made({ name: `w${index}`, spec: { address } })),
    properties,
  );
  const { names } = await list({ orderBy: [{ path: 'spec.address' }] });
  expect(names.map((name) => addresses[Number(name.slice(1))])).toEqual([
    '9.0.0.1',
    '10.0.0.2',
    '2001:db8::1',
    '2001:db8::ffff:0:0:0',
    '2001:db8::ffff:0:0:1',
    'fe80::2',
  ]);
});
