import { expect, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { gadget, gadgets, widget, widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';
import { nextOf, untilPhase } from '../../../test/kit/list-messages.ts';

const text = `subscription ($filter: ExampleComWidgetFilter, $since: String, $snapshot: Boolean) {
  list: exampleComWidgetChanges(filter: $filter, since: $since, snapshot: $snapshot) {
    phase reset cursor totalCount removedIds
    changes { type id uid reason changedPaths at object { metadata { name } spec { replicas } } } } }`;

interface Shown {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly totalCount: number | null;
  readonly removedIds: readonly string[];
  readonly changes: readonly Readonly<Record<string, unknown>>[];
}

const next = nextOf<Shown>;
const until = untilPhase<Shown>;

const sized = (name: string, replicas: number) => made({ name, spec: { replicas } });

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [sized('a', 1), sized('b', 2)]);
  return fixture;
}

test('shows a snapshot, SYNCED and changes', async () => {
  const { subscribe, apply, query } = await world();
  const events = await subscribe(text, { filter: { spec: { replicas: { gte: 2 } } } });
  const snapshot = await next(events);
  expect(snapshot).toMatchObject({ phase: 'SNAPSHOT', reset: true, totalCount: null, removedIds: [] });
  expect(snapshot.changes).toMatchObject([
    {
      type: 'ADDED',
      uid: 'uid-default-b',
      reason: null,
      changedPaths: null,
      object: { metadata: { name: 'b' }, spec: { replicas: 2 } },
    },
  ]);
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', totalCount: 1, changes: [] });
  apply(widgets, 'MODIFIED', sized('b', 3));
  expect((await next(events)).changes).toMatchObject([
    {
      type: 'MODIFIED',
      changedPaths: ['spec.replicas'],
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      object: { spec: { replicas: 3 } },
    },
  ]);
  apply(widgets, 'MODIFIED', sized('b', 1));
  const { data } = await query('{ exampleComWidget(namespace: "default", name: "b") { id } }');
  expect(await next(events)).toMatchObject({
    phase: 'LIVE',
    totalCount: 0,
    removedIds: [data.exampleComWidget.id],
    changes: [{ type: 'REMOVED', reason: 'NO_LONGER_MATCHES', object: null, id: data.exampleComWidget.id }],
  });
});

test("a list's changesCursor goes on exactly where the list was read", async () => {
  const { subscribe, apply, query } = await world();
  const { data } = await query('{ exampleComWidgets { nodes { id } changesCursor } }');
  const { nodes, changesCursor } = data.exampleComWidgets;
  apply(widgets, 'MODIFIED', sized('a', 5));
  apply(widgets, 'ADDED', sized('c', 1));
  const events = await subscribe(text, {
    since: changesCursor,
    filter: { ids: nodes.map(({ id }: { id: string }) => id) },
  });
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', cursor: changesCursor, reset: false });
  expect((await next(events)).changes).toMatchObject([{ type: 'MODIFIED', object: { metadata: { name: 'a' } } }]);
});

test('without a snapshot it begins at once', async () => {
  const { subscribe, apply } = await world();
  const events = await subscribe(text, { snapshot: false });
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', reset: false, changes: [] });
  apply(widgets, 'ADDED', sized('c', 1));
  expect((await next(events)).changes).toMatchObject([{ type: 'ADDED' }]);
});

test.each([
  ['a malformed cursor', { since: 'x' }, /not a cursor/],
  ['a filter that is half empty', { filter: { spec: {} } }, /filter\.spec is empty/],
  ['a cluster that is not there', { filter: { clusters: ['west'] } }, /There is no cluster "west"/],
])('%s is an error of the subscribe step', async (_what, variables, message) => {
  const { subscribe } = await world();
  await expect(subscribe(text, variables)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringMatching(message),
  });
});

test('return ends it while it waits, and so does the request', async () => {
  const { subscribe, reader } = await world();
  const waiting = await subscribe(text);
  await until(waiting, 'SYNCED');
  const pending = waiting.next();
  await waiting.return();
  expect(await pending).toMatchObject({ done: true });
  const stop = new AbortController();
  const aborted = await subscribe(text, {}, stop.signal);
  await until(aborted, 'SYNCED');
  const last = aborted.next();
  stop.abort();
  expect(await last).toMatchObject({ done: true });
  const late = await subscribe(text, {}, AbortSignal.abort());
  expect(await late.next()).toMatchObject({ done: true });
  await eventually(() => expect(reader.stats().active).toBe(0));
});

test('reads just what is asked for, and nothing when no object is', async () => {
  const { subscribe, statements } = await world();
  statements.length = 0;
  await until(await subscribe(text), 'SYNCED');
  const fetched = () => statements.filter(({ sql }) => sql.includes('JOIN object AS o'));
  expect(fetched().filter(({ sql }) => sql.includes('b.body'))).toHaveLength(1);
  expect(fetched().filter(({ sql }) => sql.includes('coalesce(b.text'))).toEqual([]);
  statements.length = 0;
  await until(await subscribe('subscription { list: exampleComWidgetChanges { phase changes { id } } }'), 'SYNCED');
  expect(fetched().filter(({ sql }) => sql.includes('b.body'))).toEqual([]);
});

test('a generation that does not concern the kind is not noticed', async () => {
  const { subscribe, apply, declare, engine } = await world();
  const events = await subscribe(text);
  await until(events, 'SYNCED');
  const waiting = next(events);
  const before = engine.source.generation();
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  expect(engine.source.generation()).not.toBe(before);
  apply(widgets, 'ADDED', sized('c', 1));
  expect(await waiting).toMatchObject({ phase: 'LIVE', totalCount: 3, changes: [{ type: 'ADDED' }] });
  apply(widgets, 'DELETED', sized('c', 1));
  expect(await next(events)).toMatchObject({ phase: 'LIVE', totalCount: 2 });
});

test('a kind that changed is GAP and a snapshot, by its new types [T11] [T13]', async () => {
  const { subscribe, declare, apply } = await world();
  const events = await subscribe(text);
  await until(events, 'SYNCED');
  const waiting = next(events);
  const { spec } = widgetProperties;
  const properties = { spec: { ...spec, properties: { ...spec.properties, replicas: { type: 'string' } } } };
  await declare(widget('east', properties));
  expect(await waiting).toMatchObject({ phase: 'GAP', changes: [] });
  expect(await next(events)).toMatchObject({ phase: 'SNAPSHOT', reset: true });
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', totalCount: 2 });
  apply(widgets, 'MODIFIED', made({ name: 'a', spec: { replicas: 'many' } }));
  expect((await next(events)).changes).toMatchObject([{ object: { spec: { replicas: 'many' } } }]);
});

test('a generation in the middle of a snapshot begins the snapshot anew [T8]', async () => {
  const { subscribe, declare, sync } = await world();
  await sync(
    widgets,
    Array.from({ length: 150 }, (_, index) => sized(`n${index}`, index)),
  );
  const events = await subscribe(text);
  expect((await next(events)).changes).toHaveLength(20);
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  let message = await next(events);
  expect(message).toMatchObject({ phase: 'SNAPSHOT', reset: true });
  let objects = 0;
  for (; message.phase === 'SNAPSHOT'; message = await next(events)) objects += message.changes.length;
  expect(objects).toBe(150);
  expect(message).toMatchObject({ phase: 'SYNCED', totalCount: 150 });
});

test('a cursor that was not yet looked at goes over to the next generation', async () => {
  const { subscribe, declare, query, apply } = await world();
  const { data } = await query('{ exampleComWidgets { changesCursor } }');
  const events = await subscribe(text, { since: data.exampleComWidgets.changesCursor });
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', cursor: data.exampleComWidgets.changesCursor });
  apply(widgets, 'DELETED', sized('a', 1));
  expect((await next(events)).changes).toMatchObject([{ type: 'REMOVED' }]);
});

test.each<[string, Readonly<Record<string, unknown>> | null, unknown]>([
  ['a kind that is gone', null, {}],
  ['a selected field that is gone', { spec: { type: 'object', properties: { name: { type: 'string' } } } }, {}],
  [
    'a variable that does not fit any more',
    { spec: { type: 'object', properties: { replicas: { type: 'string' } } } },
    { filter: { spec: { replicas: { gt: 1 } } } },
  ],
])('%s ends the subscription with SCHEMA_RELOAD', async (_what, properties, variables) => {
  const { subscribe, declare, writer, handle, engine } = await world();
  const events = await subscribe(text, variables as Readonly<Record<string, unknown>>);
  await until(events, 'SYNCED');
  const waiting = events.next();
  const caught = waiting.catch((error: unknown) => error);
  if (properties === null) {
    await writer().drop(handle(widgets));
    expect((await waiting).value?.data).toMatchObject({ list: { phase: 'GAP' } });
    await engine.refreshCatalog();
    await expect(events.next()).rejects.toMatchObject({ code: 'SCHEMA_RELOAD' });
  } else {
    await declare(widget('east', properties));
    expect(await caught).toMatchObject({
      code: 'SCHEMA_RELOAD',
      message: expect.stringContaining('does not fit the new schema'),
    });
  }
});

test('a kind that is not synced is silent, then snapshots', async () => {
  const { subscribe, sync } = await world();
  const events = await subscribe('subscription { list: exampleComGadgetChanges { phase reset changes { id } } }');
  const first = next(events);
  await sync(gadgets, [made({ name: 'g', namespace: null })]);
  expect(await first).toMatchObject({ phase: 'SNAPSHOT', reset: true });
});

test('matches casts of free JSON', async () => {
  const { subscribe, apply } = await world();
  const filter = { path: [{ path: 'spec.free.size', as: 'QUANTITY', gte: '1Gi' }] };
  const events = await subscribe(text, { filter });
  const free = (size: unknown) => made({ name: 'a', spec: { free: { size } } });
  expect(await until(events, 'SYNCED')).toMatchObject({ totalCount: 0 });
  for (const size of ['1023Mi', 'much', '1024Mi']) apply(widgets, 'MODIFIED', free(size));
  expect((await next(events)).changes).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }]);
  apply(widgets, 'MODIFIED', free(1073741823));
  expect((await next(events)).changes).toMatchObject([{ type: 'REMOVED', reason: 'NO_LONGER_MATCHES' }]);
});
