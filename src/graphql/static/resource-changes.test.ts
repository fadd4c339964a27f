import { expect, test } from 'vitest';
import { describedCrd, type Events, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { gadget, gadgets, widget, widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';
import { fixedRights } from '../../access/rights.ts';
import { allRows, noRows } from '../../access/scope.ts';

const text = `subscription ($kinds: [String!], $clusters: [String!]) {
  list: resourceChanges(kinds: $kinds, clusters: $clusters) {
    phase reset
    changes { type id resource { key cluster plural synced type subscription objects counts(by: []) { objects } } }
  } }`;

interface Shown {
  readonly phase: string;
  readonly reset: boolean;
  readonly changes: readonly {
    readonly type: string;
    readonly id: string;
    readonly resource: Readonly<Record<string, unknown>> | null;
  }[];
}

async function next(events: Events): Promise<Shown> {
  const { value } = await events.next();
  if (value === undefined) throw new Error('the subscription is over');
  if (value.errors?.[0] !== undefined) throw value.errors[0];
  return JSON.parse(JSON.stringify(value)).data.list as Shown;
}

const told = ({ changes }: Shown): readonly string[] =>
  changes.map(({ type, resource }) => `${type} ${resource?.['key'] ?? ''} ${resource?.['synced'] ?? ''}`.trim());

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  return fixture;
}

test('a snapshot of the resources, and then each that is synced, added and removed', async () => {
  const { subscribe, sync, declare, writer, handle, engine } = await world();
  const events = await subscribe(text);
  const snapshot = await next(events);
  expect(snapshot).toMatchObject({ phase: 'SNAPSHOT', reset: true });
  expect(told(snapshot)).toEqual([`ADDED ${gadgets} false`, `ADDED ${widgets} true`]);
  expect(snapshot.changes[1]?.resource).toMatchObject({
    plural: 'widgets',
    cluster: 'east',
    type: 'ExampleComWidget',
    subscription: 'exampleComWidgetChanges',
    objects: 1,
    counts: [{ objects: 1 }],
  });
  expect(await next(events)).toMatchObject({ phase: 'SYNCED', reset: false, changes: [] });

  await sync(gadgets, [made({ name: 'g', namespace: null })]);
  const synced = await next(events);
  expect(synced).toMatchObject({ phase: 'LIVE', reset: false });
  expect(told(synced)).toEqual([`MODIFIED ${gadgets} true`]);

  const others = describedCrd({ kind: 'Other', plural: 'others', properties: {} });
  await declare(others);
  const added = await next(events);
  expect(told(added)).toEqual(['ADDED others.example.com false']);
  expect(added.changes[0]?.resource).toMatchObject({ type: 'ExampleComOther' });

  await writer().drop(handle('others.example.com'));
  await engine.refreshCatalog();
  const removed = await next(events);
  expect(removed.changes).toEqual([{ type: 'REMOVED', id: added.changes[0]?.id, resource: null }]);
});

test('a kind with another schema is MODIFIED, and changed objects are not told', async () => {
  const { subscribe, apply, declare } = await world();
  const events = await subscribe(text);
  await next(events);
  await next(events);
  const waiting = next(events);
  for (let index = 0; index < 5; index += 1) apply(widgets, 'ADDED', made({ name: `n${index}` }));
  const { spec } = widgetProperties;
  await declare(widget('east', { spec: { ...spec, properties: { ...spec.properties, more: { type: 'string' } } } }));
  const modified = await waiting;
  expect(told(modified)).toEqual([`MODIFIED ${widgets} true`]);
  expect(modified.changes[0]?.resource).toMatchObject({ objects: 6 });
});

test('takes the arguments of resources', async () => {
  const { subscribe } = await world();
  expect(told(await next(await subscribe(text, { kinds: ['ExampleComWidget'] })))).toEqual([`ADDED ${widgets} true`]);
  const none = await subscribe(text, { clusters: ['west'] });
  expect(await next(none)).toMatchObject({ phase: 'SYNCED', reset: true, changes: [] });
  await expect(subscribe(text, { kinds: ['Nothing'] })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('return ends it while it waits, and no lease stays open', async () => {
  const { subscribe, reader } = await world();
  const events = await subscribe(text);
  await next(events);
  await next(events);
  await eventually(() => expect(reader.stats().active).toBe(0));
  const pending = events.next();
  await events.return();
  expect(await pending).toMatchObject({ done: true });
});

test('resources of which the caller sees nothing are not told', async () => {
  const rights = fixedRights(() => ({ id: 'widgets', of: (key) => (key === widgets ? allRows : noRows) }));
  const { declare, sync, subscribe } = engineFixture({ engine: { rights } });
  await declare(widget(), gadget());
  const events = await subscribe(text);
  expect(told(await next(events))).toEqual([`ADDED ${widgets} false`]);
  await next(events);
  const waiting = next(events);
  await sync(gadgets, [made({ name: 'g', namespace: null })]);
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  await sync(widgets, [made({ name: 'a' })]);
  expect(told(await waiting)).toEqual([`MODIFIED ${widgets} true`]);
});
