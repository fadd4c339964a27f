/**
 * Prepared answers with relations against the executor, as in prepared.property.test.ts: references, owners and selectors in both
 * directions, to one object and to several, nested, with filters, orders, pages and cursors. Status and every byte of the body are equal.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { type AnswerPair, answerPair, expectSameAnswers, type PairOptions } from '../kit/answer-pair.ts';
import { made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { randomQuery } from '../kit/random-query.ts';
import { randomRuns } from '../kit/random-runs.ts';

const { relations, problems } = readRelations(
  {
    relations: [
      { from: 'Widget.example.com', name: 'gadget', to: 'Gadget.example.com', reverse: 'widgets', at: ['spec.name'] },
      { from: 'Widget.example.com', name: 'tagged', to: 'Widget.example.com', reverse: 'taggers', at: ['spec.tags[]'] },
      {
        from: 'Widget.example.com',
        name: 'selected',
        to: 'Widget.example.com',
        reverse: 'selectors',
        selector: 'spec.settings',
        form: 'map',
        empty: 'none',
      },
      { from: 'Widget.example.com', name: 'parent', to: 'Widget.example.com', reverse: 'parts', owner: true },
    ],
  },
  'CONFIGURED',
);
const fieldNames = relations.flatMap(({ name, reverse }) => (reverse === null ? [name] : [name, reverse]));

function related(resource: DescribedResource): DescribedResource {
  const own = relations.filter(({ source }) => source.kind === resource.resource.kind);
  return { ...resource, relations: own.map((relation) => describeRelation(relation)) };
}

const names = ['a', 'b', 'c', 'd', 'é', 'f"'];
const some = { requiredKeys: [] };
const aWidget = (index: number) =>
  fc
    .record({
      spec: fc.record(
        {
          name: fc.constantFrom('g1', 'g2', 'gone'),
          tags: fc.array(fc.constantFrom(...names), { maxLength: 3 }),
          settings: fc.constantFrom({}, { app: 'x' }, { app: 'y' }, { app: 'x', tier: '1' }),
          total: fc.integer({ min: 0, max: 3 }),
          template: fc.constantFrom(null, {}, { image: 'i' }),
        },
        some,
      ),
      labels: fc.constantFrom({}, { app: 'x' }, { app: 'x', tier: '1' }, { app: 'y' }),
      parent: fc.option(fc.integer({ min: 0, max: 5 })),
      deep: fc.integer({ min: 0, max: 4 }),
    })
    .map(({ spec, labels, parent, deep }) =>
      made({
        name: names[index] ?? '',
        namespace: `n${index % 2}`,
        // Too deep for SQLite: the store has such a body as text too.
        spec: deep === 0 ? { ...spec, free: JSON.parse('['.repeat(1100) + ']'.repeat(1100)) } : spec,
        metadata: {
          uid: `u${index}`,
          labels,
          ...(parent === null
            ? {}
            : { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'p', uid: `u${parent}` }] }),
        },
      }),
    );
const world = fc.tuple(...names.map((_, index) => aWidget(index)));

const args = [
  '',
  '(first: 3)',
  '(last: 2)',
  '(first: 0)',
  '(orderBy: [{ path: "spec.total" }], first: 4)',
  '(first: $first)',
];
const relatedArgs = [
  '',
  '',
  '(first: 1)',
  '(first: 0)',
  '(first: 2)',
  '(first: 3)',
  '(first: 3)',
  '(first: -1)',
  '(after: "nonsense")',
  '(first: 2, orderBy: [{ path: "metadata.name", direction: DESC }])',
  '(orderBy: [{ path: "metadata.creationTimestamp" }], first: $first)',
  '(filter: { metadata: { name: { in: ["a", "b", "g1", "é"] } } })',
  '(filter: { clusters: ["east"], labelSelector: "app=x" }, first: 1)',
  '(filter: { metadata: { name: { gt: "a" } } }, orderBy: [{ path: "metadata.name" }])',
];

/** Pages of related objects with it are left to the executor. */
const without = ['changesCursor'];

const one = { gadget: 'gadget', parent: 'widget' } as const;
const many = ['tagged', 'taggers', 'selected', 'selectors', 'parts'];
const plain = [
  'id',
  'kind',
  'metadata { name uid }',
  'metadata { labels }',
  'spec { name total }',
  'spec { template { image } }',
  'spec { name free }',
  'health { status }',
  'alone: health(rollUp: null) { status source }',
];

/** A query with relations at most levels and every part of their connections, all of which a plan has. */
const joins = fc.gen().map((draw) => {
  const pick = <T>(from: readonly T[]): T => draw(() => fc.constantFrom(...from));
  const chance = (percent: number): boolean => draw(fc.integer, { min: 1, max: 100 }) <= percent;
  const object = (kind: 'widget' | 'gadget', depth: number): string => {
    const fields = plain.filter((each) => chance(40) && (kind === 'widget' || !/template|free/.test(each)));
    if (depth > 0 && kind === 'gadget') fields.push(connection('widgets', depth));
    if (depth > 0 && kind === 'widget') {
      for (const name of many) if (chance(35)) fields.push(connection(name, depth));
      for (const [name, of] of Object.entries(one)) if (chance(40)) fields.push(`${name} { ${object(of, depth - 1)} }`);
      if (chance(20)) fields.push(`again: ${connection(pick(many), depth)}`);
    }
    return fields.length === 0 ? '__typename' : fields.join(' ');
  };
  const parts = (kind: 'widget' | 'gadget', depth: number): string => {
    const found: string[] = [];
    if (chance(70)) found.push(`nodes { ${object(kind, depth)} }`);
    if (chance(30)) found.push(`edges { cursor node { ${object(kind, depth)} } }`);
    const facts = ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'].filter(() => chance(30));
    if (facts.length > 0 || found.length === 0) found.push(`pageInfo { ${facts.join(' ')} __typename }`);
    return found.join(' ');
  };
  // Small pages inside related objects keep the cost within the limit.
  const argsAt = (depth: number): readonly string[] =>
    relatedArgs.filter((each) => !/-1|nonsense/.test(each) && (depth > 2 || /first: \d/.test(each)));
  const connection = (name: string, depth: number): string =>
    `${name}${pick(argsAt(depth))} { ${parts('widget', depth - 1)} }`;
  const root = chance(70)
    ? `exampleComWidgets${pick(args)} { ${parts('widget', 3)} }`
    : `exampleComGadgets${pick(args)} { ${parts('gadget', 3)} }`;
  const used = 'used: exampleComWidgets(first: $first) { pageInfo { hasNextPage } }';
  return { query: `query ($first: Int) { ${root} ${used} }`, variables: {} };
});

async function pairOfWidgets(options: PairOptions = {}): Promise<AnswerPair> {
  const pair = await answerPair(options);
  const { fixture } = pair;
  await fixture.declare(related(widget()), related(gadget()));
  await fixture.sync(gadgets, [
    made({ name: 'g1', namespace: null, spec: { name: 'n', total: 5 } }),
    made({ name: 'g2', namespace: null, spec: { replicas: 'r' } }),
  ]);
  return pair;
}

const settle = ({ fixture }: AnswerPair): void => {
  while (fixture.writer().maintain());
};

test('a roll-up of the health is left to the executor, also by a variable', async () => {
  const pair = await pairOfWidgets();
  const failed = { conditions: [{ type: 'Stalled', status: 'True' }] };
  await pair.fixture.sync(widgets, [
    made({ name: 'a', uid: 'u-a' }),
    made({ name: 'b', owner: { uid: 'u-a' }, status: failed }),
  ]);
  settle(pair);
  const query =
    'query ($of: RollUp) { exampleComWidgets { nodes { metadata { name } health(rollUp: $of) { status } } } }';
  for (const [of, status] of [
    [undefined, 'Current'],
    ['OWNED', 'Failed'],
    [null, 'Current'],
    ['RELATED', 'Failed'],
  ]) {
    for (const { text } of await pair.ask(JSON.stringify({ query, variables: { of } }))) {
      expect(JSON.parse(text).data.exampleComWidgets.nodes).toEqual([
        { metadata: { name: 'a' }, health: { status } },
        { metadata: { name: 'b' }, health: { status: 'Failed' } },
      ]);
    }
  }
});

const runs = randomRuns(15, 60);

test('prepared answers with relations are what the executor gives, byte for byte', { timeout: 300_000 }, async () => {
  expect(problems).toEqual([]);
  const pair = await pairOfWidgets();
  const { fixture, pages } = pair;
  const { schema } = fixture.engine.source.generation();
  const roots = ['exampleComWidgets', 'exampleComWidgets', 'exampleComGadgets'];
  const anyQuery = randomQuery(schema, { roots, code: 0, args, relatedArgs, relations: fieldNames, without });
  const query = fc.oneof(anyQuery, { weight: 2, arbitrary: joins });
  let [joined, written] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      world,
      fc.array(query, { minLength: 8, maxLength: 12 }),
      fc.constantFrom(undefined, 1, 2),
      async (objects, queries, first) => {
        await fixture.sync(widgets, [...objects]);
        settle(pair);
        for (const each of queries) {
          const isJoined = new RegExp(`\\b(${fieldNames.join('|')})\\b`).test(each.query);
          const before = pages.given + pages.atOnce;
          await expectSameAnswers(pair, each, first, 2);
          joined += isJoined ? 1 : 0;
          written += isJoined && pages.given + pages.atOnce > before ? 1 : 0;
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
  // Otherwise the test would compare the executor with itself.
  expect(joined).toBeGreaterThan(3 * runs);
  expect(written / joined).toBeGreaterThan(0.4);
});

test('a cursor of a page of related objects continues it, in any order', async () => {
  const pair = await pairOfWidgets();
  await pair.fixture.sync(
    widgets,
    names.map((name, index) => made({ name, namespace: 'n', spec: { name: 'g1', total: index % 3 } })),
  );
  settle(pair);
  for (const order of ['', ', orderBy: [{ path: "spec.total", direction: DESC }]']) {
    const found: string[] = [];
    let after = 'null';
    for (let page = 0; page < 3; page += 1) {
      const query = `{ exampleComGadgets(first: 1) { nodes { widgets(first: 2, after: ${after}${order}) { nodes { metadata { name } } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }`;
      const before = pair.pages.given;
      const [mine, executors] = await pair.ask(JSON.stringify({ query }));
      expect(mine, query).toEqual(executors);
      expect(pair.pages.given).toBe(before + 1);
      const [gadget] = JSON.parse(mine.text).data.exampleComGadgets.nodes;
      const { nodes, pageInfo } = gadget.widgets;
      expect(pageInfo).toMatchObject({ hasNextPage: page < 2, hasPreviousPage: page > 0 });
      found.push(...nodes.map(({ metadata }: { metadata: { name: string } }) => metadata.name));
      after = JSON.stringify(pageInfo.endCursor);
    }
    expect(found.toSorted()).toEqual(names.toSorted());
  }
});

test('an object that is reached on several ways is read once and written on each of them', async () => {
  const pair = await pairOfWidgets();
  const all = names.map((name) => made({ name, namespace: 'n', spec: { name: 'g1' } }));
  await pair.fixture.sync(widgets, all);
  settle(pair);
  const query =
    '{ exampleComWidgets { nodes { gadget { metadata { name } widgets(first: 2) { nodes { metadata { name } } } } } } }';
  const [mine, executors] = await pair.ask(JSON.stringify({ query }));
  expect(mine).toEqual(executors);
  expect(mine.text.match(/"name":"g1"/g)).toHaveLength(names.length);
});

test('a relation that is not ready is left to the executor, which waits for it', async () => {
  const pair = await pairOfWidgets();
  await pair.fixture.sync(widgets, [made({ name: 'a', namespace: 'n', spec: { name: 'g1' } })]);
  const body = JSON.stringify({ query: '{ exampleComWidgets { nodes { gadget { metadata { name } } } } }' });
  const [early, executors] = await pair.ask(body);
  expect(early).toEqual(executors);
  settle(pair);
  const [mine] = await pair.ask(body);
  expect(mine.text).toContain('"gadget":{"metadata":{"name":"g1"}}');
  expect(pair.pages.given).toBeGreaterThan(0);
});

test('a value of a related object that nests too deep is an error at its field', async () => {
  const pair = await pairOfWidgets();
  const free = JSON.parse('['.repeat(1100) + ']'.repeat(1100));
  await pair.fixture.sync(widgets, [made({ name: 'a', namespace: 'n', spec: { name: 'g1', free } })]);
  settle(pair);
  const query = '{ exampleComGadgets { nodes { widgets { nodes { spec { name free } } } } } }';
  const [mine, executors] = await pair.ask(JSON.stringify({ query }));
  expect(mine).toEqual(executors);
  expect(mine.text).toContain('nests deeper than 1000 levels');
  expect(mine.text).toContain('"spec":{"name":"g1","free":null}');
  // The executor answers such a page.
  expect(pair.pages.given).toBe(0);
});

test('an answer that repeats a large object beyond the limit is left to the executor, which refuses it', async () => {
  const pair = await pairOfWidgets({ maxReadBytes: 4_000_000 });
  const note = 'x'.repeat(1_000_000);
  await pair.fixture.sync(gadgets, [made({ name: 'g1', namespace: null, metadata: { annotations: { note } } })]);
  await pair.fixture.sync(
    widgets,
    names.map((name) => made({ name, namespace: 'n', spec: { name: 'g1' } })),
  );
  settle(pair);
  const query = '{ exampleComWidgets { nodes { gadget { metadata { annotations } } } } }';
  const [mine, executors] = await pair.ask(JSON.stringify({ query }));
  // Reads run beside each other, so the bytes that were read when the limit was found may differ.
  const text = ({ text: whole }: { readonly text: string }): string =>
    whole.replace(/reads \d+ bytes/g, 'reads N bytes').replace(/"bytes":\d+/g, '"bytes":N');
  expect({ ...mine, text: text(mine) }).toEqual({ ...executors, text: text(executors) });
  for (const { text: whole } of [mine, executors]) {
    expect(Number(/reads (\d+) bytes/.exec(whole)?.[1])).toBeGreaterThan(4_000_000);
  }
  expect(mine.text).toContain('QUERY_TOO_COSTLY');
});
