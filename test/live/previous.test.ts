/** What a change tells of the object before it (`previous`), and subscriptions of what is selected alone (`distinct`). */
import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { type Scope, scopeText } from '../../src/access/scope.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { nextOf, untilPhase } from '../kit/list-messages.ts';

const fields = 'metadata { name resourceVersion } spec { replicas } health { status }';
const text = `subscription ($filter: ExampleComWidgetFilter, $since: String) {
  list: exampleComWidgetChanges(filter: $filter, since: $since) {
    phase cursor changes { type reason object { ${fields} } previous { ${fields} } } } }`;

interface Shown {
  readonly phase: string;
  readonly cursor: string;
  readonly changes: readonly Readonly<Record<string, unknown>>[];
}

const next = nextOf<Shown>;
const until = untilPhase<Shown>;

const sized = (name: string, replicas: number, namespace = 'default') =>
  made({ name, namespace, spec: { replicas }, status: { phase: 'Failed' } });

async function world(scope: Scope = { rows: 'all' }) {
  const fixture = engineFixture({
    engine: { rights: fixedRights(() => ({ id: scopeText(scope), of: () => scope })) },
  });
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, []);
  await fixture.sync(gadgets, []);
  return fixture;
}

test('a change has the object before it, and a deleted object its last state', async () => {
  const { subscribe, apply } = await world();
  const events = await subscribe(text, { filter: { spec: { replicas: { lt: 9 } } } });
  await until(events, 'SYNCED');
  const first = sized('a', 1);
  apply(widgets, 'ADDED', first);
  expect((await next(events)).changes).toMatchObject([{ type: 'ADDED', previous: null }]);
  apply(widgets, 'MODIFIED', sized('a', 2));
  const version = (first['metadata'] as { resourceVersion: string }).resourceVersion;
  expect((await next(events)).changes).toMatchObject([
    {
      type: 'MODIFIED',
      object: { spec: { replicas: 2 } },
      previous: { metadata: { resourceVersion: version }, spec: { replicas: 1 }, health: { status: 'Failed' } },
    },
  ]);
  apply(widgets, 'MODIFIED', sized('a', 9));
  expect((await next(events)).changes).toMatchObject([
    { type: 'REMOVED', reason: 'NO_LONGER_MATCHES', object: null, previous: { spec: { replicas: 2 } } },
  ]);
  apply(widgets, 'ADDED', sized('b', 3));
  await next(events);
  apply(widgets, 'DELETED', sized('b', 4));
  const deleted = await next(events);
  expect(deleted.changes).toMatchObject([
    {
      type: 'REMOVED',
      reason: 'DELETED',
      object: null,
      previous: { metadata: { name: 'b' }, spec: { replicas: 3 }, health: { status: 'Failed' } },
    },
  ]);
  const all = await subscribe(text);
  await until(all, 'SYNCED');
  apply(widgets, 'DELETED', sized('a', 9));
  expect((await next(all)).changes).toMatchObject([{ previous: { spec: { replicas: 9 } } }]);
});

test('after a cursor, the same states come as to those who stayed', async () => {
  const { subscribe, apply } = await world();
  apply(widgets, 'ADDED', sized('a', 1));
  apply(widgets, 'ADDED', sized('b', 1));
  const staying = await subscribe(text, {});
  const { cursor } = await until(staying, 'SYNCED');
  apply(widgets, 'MODIFIED', sized('a', 2));
  const modified = await next(staying);
  apply(widgets, 'DELETED', sized('b', 1));
  const deleted = await next(staying);
  const late = await subscribe(text, { since: cursor });
  await until(late, 'SYNCED');
  const replayed = (await next(late)).changes;
  expect(replayed).toEqual([...modified.changes, ...deleted.changes]);
  expect(replayed.map(({ previous }) => (previous as { spec: unknown }).spec)).toEqual([
    { replicas: 1 },
    { replicas: 1 },
  ]);
});

test('a caller who sees one namespace gets no state of the others, and no relation of a hidden object', async () => {
  const scope: Scope = {
    rows: 'some',
    clusters: new Map([['east', { namespaces: new Set(['default']), names: new Map() }]]),
  };
  const { subscribe, apply } = await world(scope);
  apply(widgets, 'ADDED', sized('a', 1));
  apply(widgets, 'ADDED', sized('hidden', 1, 'other'));
  const events = await subscribe(text, {});
  await until(events, 'SYNCED');
  apply(widgets, 'MODIFIED', sized('hidden', 2, 'other'));
  apply(widgets, 'DELETED', sized('hidden', 2, 'other'));
  apply(widgets, 'DELETED', sized('a', 1));
  expect((await next(events)).changes).toMatchObject([{ type: 'REMOVED', previous: { metadata: { name: 'a' } } }]);
});

test('several kinds: `previous` has the fields of its kind', async () => {
  const { subscribe, apply } = await world();
  apply(widgets, 'ADDED', sized('a', 1));
  const events = await subscribe(
    `subscription { list: objectChanges(kinds: ["*.example.com"]) { phase cursor changes {
      type previous { kind metadata { name } owners { nodes { id } } usedBy { totalCount } ... on ExampleComWidget { spec { replicas } } } } } }`,
  );
  await until(events, 'SYNCED');
  apply(widgets, 'DELETED', sized('a', 1));
  expect((await next(events)).changes).toEqual([
    {
      type: 'REMOVED',
      previous: {
        kind: 'Widget',
        metadata: { name: 'a' },
        owners: { nodes: [] },
        usedBy: { totalCount: 0 },
        spec: { replicas: 1 },
      },
    },
  ]);
});

const beating = (beat: number, status: string, { replicas = 1, other = 'x' } = {}) =>
  made({
    name: 'a',
    spec: { replicas, ports: [{ name: 'http', number: 1, id: String(beat) }], tags: [other] },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Beat', status: 'True', message: String(beat) },
        { type: 'Ready', status, message: String(beat), lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  });

/** Selections that a heartbeat does not change, each with what the change of the condition shows. */
test.each([
  ['a condition', 'condition(type: "Ready") { status }', { condition: { status: 'False' } }],
  ['conditions', 'status { conditions { type status } }', { status: {} }],
  ['the health', 'health { status reason }', { health: {} }],
  ['columns', 'columns { name value }', {}],
  ['a value', 'value(path: "status.conditions[type=Ready].status")', { value: 'False' }],
  ['a value by a variable', 'value(path: $path)', { value: 'False' }],
  ['a fragment', '...F', { metadata: { name: 'a' } }],
  ['what is left out', 'metadata { name resourceVersion @include(if: $no) } condition(type: "Ready") { status }', {}],
])('distinct: %s shows no heartbeat, and the next difference', async (_of, selection, shown) => {
  const { subscribe, apply } = await world();
  apply(widgets, 'ADDED', beating(0, 'True'));
  const declared = selection.includes('$path')
    ? '($path: Path!)'
    : selection.includes('$no')
      ? '($no: Boolean = false)'
      : '';
  const fragment = selection.startsWith('...')
    ? 'fragment F on ExampleComWidget { metadata { name } ... on KubernetesObject { condition(type: "Ready") { status } } spec { ports { name number } } }'
    : '';
  const events = await subscribe(
    `subscription ${declared} { list: exampleComWidgetChanges(distinct: true) { phase cursor changes { type object { ${selection} } } } } ${fragment}`,
    { path: 'status.conditions[type=Ready].status' },
  );
  await until(events, 'SYNCED');
  for (const beat of [1, 2, 3]) apply(widgets, 'MODIFIED', beating(beat, 'True', { other: String(beat) }));
  apply(widgets, 'MODIFIED', beating(4, 'False'));
  const { changes } = await next(events);
  expect(changes).toMatchObject([{ type: 'MODIFIED', object: shown }]);
  // The heartbeats before would have come in messages of their own.
  apply(widgets, 'DELETED', beating(5, 'False'));
  expect((await next(events)).changes).toMatchObject([{ type: 'REMOVED' }]);
});

test.each([
  ['the version', 'metadata { resourceVersion }'],
  ['the whole object', 'raw'],
  ['a list of texts', 'spec { tags }'],
  ['a member of list elements', 'spec { ports { id_ } }'],
  ['a label', 'metadata { label(key: "beat") }'],
])('distinct: %s shows each change', async (_of, selection) => {
  const { subscribe, apply } = await world();
  const at = (beat: number) => {
    const object = beating(beat, 'True', { other: String(beat) }) as { metadata: Record<string, unknown> };
    return { ...object, metadata: { ...object.metadata, labels: { beat: String(beat) } } };
  };
  apply(widgets, 'ADDED', at(0));
  const events = await subscribe(
    `subscription { list: exampleComWidgetChanges(distinct: true) { phase cursor changes { type object { ${selection} } } } }`,
  );
  await until(events, 'SYNCED');
  for (const beat of [1, 2]) {
    apply(widgets, 'MODIFIED', at(beat));
    expect((await next(events)).changes).toMatchObject([{ type: 'MODIFIED' }]);
  }
});

test('distinct: no selected field of the object means no MODIFIED, and other changes and counts come as ever', async () => {
  const { subscribe, apply } = await world();
  const events = await subscribe(
    'subscription { list: exampleComWidgetChanges(distinct: true) { phase cursor totalCount changes { type changedPaths } } }',
  );
  await until(events, 'SYNCED');
  apply(widgets, 'ADDED', beating(0, 'True'));
  expect(await next(events)).toMatchObject({ totalCount: 1, changes: [{ type: 'ADDED' }] });
  apply(widgets, 'MODIFIED', beating(1, 'True'));
  apply(widgets, 'DELETED', beating(2, 'True'));
  expect(await next(events)).toMatchObject({ totalCount: 0, changes: [{ type: 'REMOVED' }] });
});

test('distinct: subscriptions of one filter and other selections do not disturb each other; also of several kinds', async () => {
  const { subscribe, apply } = await world();
  apply(widgets, 'ADDED', beating(0, 'True'));
  const of = (root: string, rest: string) =>
    subscribe(`subscription { list: ${root} { phase cursor changes { type object { ${rest} } } } }`);
  const quiet = await of('exampleComWidgetChanges(distinct: true)', 'spec: value(path: "spec.replicas")');
  const loud = await of('exampleComWidgetChanges', 'spec: value(path: "spec.replicas")');
  const other = await of('exampleComWidgetChanges(distinct: true)', 'spec: value(path: "spec.tags")');
  const kinds = await of(
    'objectChanges(kinds: ["*.example.com"], distinct: true)',
    '... on ExampleComWidget { spec { replicas } }',
  );
  for (const each of [quiet, loud, other, kinds]) await until(each, 'SYNCED');
  apply(widgets, 'MODIFIED', beating(1, 'True', { other: 'y' }));
  expect((await next(loud)).changes).toMatchObject([{ object: { spec: 1 } }]);
  expect((await next(other)).changes).toMatchObject([{ object: { spec: ['y'] } }]);
  apply(widgets, 'MODIFIED', beating(2, 'True', { other: 'y', replicas: 7 }));
  expect((await next(quiet)).changes).toMatchObject([{ object: { spec: 7 } }]);
  expect((await next(loud)).changes).toMatchObject([{ object: { spec: 7 } }]);
  expect((await next(kinds)).changes).toMatchObject([{ object: { spec: { replicas: 7 } } }]);
});
