import { expect, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';
import { nextOf, untilPhase } from '../../../test/kit/list-messages.ts';
import { fixedRights } from '../../access/rights.ts';
import { allRows, noRows } from '../../access/scope.ts';

const text = `subscription ($kinds: [String!]!, $filter: ObjectFilter, $since: String, $snapshot: Boolean) {
  list: objectChanges(kinds: $kinds, filter: $filter, since: $since, snapshot: $snapshot) {
    phase reset cursor totalCount removedIds
    changes {
      type id reason changedPaths
      object { kind metadata { name } value(path: "spec.replicas") ... on ExampleComWidget { spec { replicas } } }
    } } }`;

interface Shown {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly totalCount: number | null;
  readonly removedIds: readonly string[];
  readonly changes: readonly {
    readonly type: string;
    readonly object: { readonly kind: string; readonly metadata: { readonly name: string } } | null;
  }[];
}

const next = nextOf<Shown>;
const until = untilPhase<Shown>;

const told = ({ changes }: Shown): readonly string[] =>
  changes.map(({ type, object }) =>
    `${type} ${object === null ? '' : `${object.kind} ${object.metadata.name}`}`.trim(),
  );

const sized = (name: string, replicas: number) => made({ name, spec: { replicas } });
const plain = (name: string) => made({ name, namespace: null });
const both = { kinds: ['ExampleComWidget', gadgets] };

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [sized('a', 1), sized('b', 2)]);
  await fixture.sync(gadgets, [plain('g')]);
  return fixture;
}

test('one snapshot of all kinds, and then the changes of each, with one cursor', async () => {
  const { subscribe, apply } = await world();
  const events = await subscribe(text, both);
  const snapshot = await next(events);
  expect(snapshot).toMatchObject({ phase: 'SNAPSHOT', reset: true, totalCount: null });
  expect(told(snapshot)).toEqual(['ADDED Widget a', 'ADDED Widget b', 'ADDED Gadget g']);
  expect(snapshot.changes[0]?.object).toMatchObject({ value: 1, spec: { replicas: 1 } });
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', totalCount: 3, changes: [] });
  apply(gadgets, 'ADDED', plain('h'));
  expect(await next(events)).toMatchObject({ phase: 'LIVE', totalCount: 4, changes: [{ type: 'ADDED' }] });
  apply(widgets, 'MODIFIED', sized('a', 5));
  expect(await next(events)).toMatchObject({
    phase: 'LIVE',
    totalCount: 4,
    changes: [{ type: 'MODIFIED', changedPaths: ['spec.replicas'], object: { kind: 'Widget', value: 5 } }],
  });
});

test('a cursor goes on for all kinds: of a message, and of the list [T4]', async () => {
  const { subscribe, apply, query } = await world();
  const { cursor } = await until(await subscribe(text, both), 'SYNCED');
  const { data } = await query(`{ objects(kinds: ["ExampleComWidget", "${gadgets}"]) { changesCursor } }`);
  apply(widgets, 'DELETED', sized('a', 1));
  apply(gadgets, 'ADDED', plain('h'));
  for (const since of [cursor, data.objects.changesCursor as string]) {
    const events = await subscribe(text, { ...both, since });
    expect(await next(events)).toMatchObject({ phase: 'SYNCED', cursor: since, reset: false, changes: [] });
    const live = await next(events);
    expect(told(live)).toEqual(['REMOVED', 'ADDED Gadget h']);
    expect(live.removedIds).toHaveLength(1);
  }
});

test('a cursor of other kinds is GAP and a snapshot [T5] [L3]', async () => {
  const { subscribe, query } = await world();
  const { data } = await query('{ exampleComWidgets { changesCursor } }');
  const since = data.exampleComWidgets.changesCursor as string;
  const events = await subscribe(text, { ...both, since });
  expect(await next(events)).toMatchObject({ phase: 'GAP' });
  expect(await next(events)).toMatchObject({ phase: 'SNAPSHOT', reset: true });
  // One kind alone has the cursors of its own subscription.
  expect(await next(await subscribe(text, { kinds: ['ExampleComWidget'], since }))).toMatchObject({ phase: 'SYNCED' });
});

test('without a snapshot it begins at once; filters hold for all kinds', async () => {
  const { subscribe, apply } = await world();
  const events = await subscribe(text, { ...both, snapshot: false, filter: { metadata: { name: { in: ['x'] } } } });
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', reset: false, changes: [] });
  apply(widgets, 'ADDED', sized('y', 1));
  apply(gadgets, 'ADDED', plain('x'));
  expect(told(await next(events))).toEqual(['ADDED Gadget x']);
});

test('a kind of a pattern that is not synced yet joins without a GAP', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [sized('a', 1)]);
  const events = await fixture.subscribe(text, { kinds: ['*.example.com'] });
  expect(told(await next(events))).toEqual(['ADDED Widget a']);
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', totalCount: 1 });
  await fixture.sync(gadgets, [plain('g'), plain('h')]);
  const joined = await next(events);
  expect(joined).toMatchObject({ phase: 'LIVE', totalCount: 3 });
  expect(told(joined)).toEqual(['ADDED Gadget g', 'ADDED Gadget h']);
  fixture.apply(gadgets, 'DELETED', plain('g'));
  expect(told(await next(events))).toEqual(['REMOVED']);
});

test('a named kind that is not synced keeps the subscription silent', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [sized('a', 1)]);
  const first = next(await fixture.subscribe(text, both));
  await fixture.sync(gadgets, [plain('g')]);
  expect(told(await first)).toEqual(['ADDED Widget a', 'ADDED Gadget g']);
});

test('a new kind of a pattern is GAP and a snapshot, and then it joins', async () => {
  const { subscribe, declare, sync } = await world();
  const events = await subscribe(text, { kinds: ['*.example.com'] });
  await until(events, 'SYNCED');
  const waiting = next(events);
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  expect(await waiting).toMatchObject({ phase: 'GAP' });
  expect(await until(events, 'SYNCED')).toMatchObject({ totalCount: 3 });
  await sync('others.example.com', [made({ name: 'o' })]);
  expect(told(await next(events))).toEqual(['ADDED Other o']);
});

test('a generation that does not concern its kinds is not noticed', async () => {
  const { subscribe, declare, apply } = await world();
  const events = await subscribe(text, both);
  await until(events, 'SYNCED');
  const waiting = next(events);
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  apply(widgets, 'ADDED', sized('c', 1));
  expect(await waiting).toMatchObject({ phase: 'LIVE', totalCount: 4 });
});

test('a kind that changed is GAP and a snapshot of all', async () => {
  const { subscribe, declare } = await world();
  const events = await subscribe(text, both);
  await until(events, 'SYNCED');
  const waiting = next(events);
  const { spec } = widgetProperties;
  await declare(widget('east', { spec: { ...spec, properties: { ...spec.properties, more: { type: 'string' } } } }));
  expect(await waiting).toMatchObject({ phase: 'GAP' });
  expect((await next(events)).changes).toHaveLength(3);
});

test.each([
  ['a kind that is not there', { kinds: ['Nothing'] }, /There is no kind "Nothing"/],
  ['a pattern without a kind', { kinds: ['*.nothing'] }, /No kind fits/],
  ['no kind', { kinds: [] }, /`kinds` is empty/],
  ['a malformed cursor', { ...both, since: 'x' }, /not a cursor/],
  ['a cluster that is not there', { ...both, filter: { clusters: ['west'] } }, /There is no cluster "west"/],
])('%s is an error of the subscribe step', async (_what, variables, message) => {
  const { subscribe } = await world();
  await expect(subscribe(text, variables)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringMatching(message),
  });
});

test('return ends it while it waits, and no read is left', async () => {
  const { subscribe, reader } = await world();
  const events = await subscribe(text, both);
  await until(events, 'SYNCED');
  const pending = events.next();
  await events.return();
  expect(await pending).toMatchObject({ done: true });
  expect(reader.stats().active).toBe(0);
});

test('changes of other kinds cause no read of the log [L9]', async () => {
  const fixture = await world();
  const events = await fixture.subscribe(text, { kinds: [gadgets] });
  await until(events, 'SYNCED');
  const waiting = next(events);
  // The first pull, which moves to the newest revision.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { leases, now, bodies } = fixture.engine.source.feed.reads;
  fixture.statements.length = 0;
  for (let index = 0; index < 20; index += 1) fixture.apply(widgets, 'MODIFIED', sized('a', index));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(fixture.statements.filter(({ sql }) => sql.includes('FROM change c'))).toEqual([]);
  expect(fixture.engine.source.feed.reads).toMatchObject({ leases, now, bodies });
  fixture.apply(gadgets, 'ADDED', plain('h'));
  expect(told(await waiting)).toEqual(['ADDED Gadget h']);
});

test('kinds of which the caller sees nothing are left out; with no other kind it is FORBIDDEN', async () => {
  const rights = fixedRights(() => ({ id: 'widgets', of: (key) => (key === widgets ? allRows : noRows) }));
  const { declare, sync, subscribe } = engineFixture({ engine: { rights } });
  await declare(widget(), gadget());
  await sync(widgets, [sized('a', 1)]);
  await sync(gadgets, [plain('g')]);
  const events = await subscribe(text, both);
  expect(told(await next(events))).toEqual(['ADDED Widget a']);
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', totalCount: 1 });
  await expect(subscribe(text, { kinds: [gadgets] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('it takes no filter by related objects', async () => {
  const { subscribe } = await world();
  await expect(subscribe(text, { ...both, filter: { usedBy: { exists: false } } })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringContaining('cannot filter by related objects'),
  });
});
