import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';

/** A rule: objects whose status.phase is one of these are Failed. */
const failing = (...phases: string[]): HealthRules => [
  {
    source: 'CONFIGURED',
    cases: [
      { status: 'Failed', when: [{ path: 'status.phase', oneOf: phases }], message: 'status.text' },
      { status: 'Current', when: [{ path: 'status.phase', exists: true }] },
    ],
  },
];

const text = `{ exampleComWidgets(orderBy: [{ path: "metadata.name" }]) { nodes { metadata { name } health { status reason message source } } } }`;
const counts = `{ resources { counts { health objects } } }`;

async function world() {
  const fixture = engineFixture();
  await fixture.declare({ ...widget(), health: failing('odd') });
  await fixture.sync(
    widgets,
    Array.from({ length: 700 }, (_, at) =>
      made({ name: `w${String(at).padStart(3, '0')}`, status: { phase: at % 2 === 0 ? 'Even' : 'Odd', text: 'Why.' } }),
    ),
  );
  return fixture;
}

test('a declared rule decides on stored, changed, live and past objects alike', async () => {
  const { query, apply, subscribe } = await world();
  const { data, errors } = await query(text);
  expect(errors).toEqual([]);
  expect(data.exampleComWidgets.nodes.slice(0, 2).map(({ health }: { health: unknown }) => health)).toEqual([
    { status: 'Current', reason: null, message: null, source: 'CONFIGURED' },
    { status: 'Failed', reason: 'Odd', message: 'Why.', source: 'CONFIGURED' },
  ]);
  const events = await subscribe(
    `subscription { list: exampleComWidgetChanges(filter: { health: { status: { eq: Failed } } }, snapshot: false) { phase changes { type object { metadata { name } health { status message source } } } } }`,
  );
  const next = async () => JSON.parse(JSON.stringify((await events.next()).value)).data.list;
  const changed = next().then(async (message) => (message.phase === 'LIVE' ? message : next()));
  await new Promise((resolve) => setTimeout(resolve, 50));
  apply(widgets, 'MODIFIED', made({ name: 'w000', status: { phase: 'Odd', text: 'Now.' } }));
  expect((await changed).changes).toEqual([
    {
      type: 'ADDED',
      object: { metadata: { name: 'w000' }, health: { status: 'Failed', message: 'Now.', source: 'CONFIGURED' } },
    },
  ]);
  const { data: past, errors: none } = await query(
    `{ changes(since: "-1h", kinds: ["ExampleComWidget"], first: 1) { nodes { before { health { status } } object { health { status source } } } } }`,
  );
  expect(none).toEqual([]);
  expect(past.changes.nodes).toEqual([
    { before: { health: { status: 'Current' } }, object: { health: { status: 'Failed', source: 'CONFIGURED' } } },
  ]);
});

test('changed rules reach stored objects, their counts, indexed columns and live lists', async () => {
  const fixture = await world();
  const { query, writer, subscribe } = fixture;
  writer().promote({ key: widgets, path: 'health.status', type: 'String' });
  while (writer().maintain());
  const events = await subscribe(`subscription { list: exampleComWidgetChanges(snapshot: false) { phase } }`);
  const next = async () => JSON.parse(JSON.stringify((await events.next()).value)).data.list.phase;
  const seen = (async () => {
    const phases: string[] = [];
    while (!phases.includes('GAP')) phases.push(await next());
    return phases;
  })();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await fixture.declare({ ...widget(), health: failing('even') });
  while (writer().maintain());
  expect(await seen).toContain('GAP');
  const { data } = await query(
    `{ exampleComWidgets(filter: { health: { status: { eq: Failed } } }, orderBy: [{ path: "health.status" }, { path: "metadata.name" }]) { totalCount nodes { metadata { name } } } }`,
  );
  expect(data.exampleComWidgets.totalCount).toBe(350);
  expect(data.exampleComWidgets.nodes[0].metadata.name).toBe('w000');
  expect((await query(counts)).data.resources[0].counts).toEqual([
    { health: 'Current', objects: 350 },
    { health: 'Failed', objects: 350 },
  ]);
});

test('rules that changed while no process ran are applied when the kind is declared again', async () => {
  const fixture = await world();
  fixture.reopen();
  await fixture.declare({ ...widget(), health: [] });
  while (fixture.writer().maintain());
  // Without a rule, Even and Odd are unknown words.
  expect((await fixture.query(counts)).data.resources[0].counts).toEqual([{ health: 'Unknown', objects: 700 }]);
});
