/** Subscriptions of callers who see some objects: what becomes of hidden objects shows in no message, also while rights change. */
import { expect, test } from 'vitest';
import type { CallerRights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scope, scopeText } from '../../src/access/scope.ts';
import { must } from '../../src/base/must.ts';
import { parsePath } from '../../src/catalog/tree/path.ts';
import type { CellStart, LiveMessage } from '../../src/live/list/live-request.ts';
import { decodeLiveCursor } from '../../src/live/log/live-cursor.ts';
import type { Filter } from '../../src/query/plan/filter.ts';
import { LiveClient } from '../kit/live-client.ts';
import { liveSetup, nextOf, until } from '../kit/live-lists.ts';

function some(...names: readonly string[]): Scope {
  const named = new Map([['default', new Set(names)]]);
  return { rows: 'some', clusters: new Map([['east', { namespaces: new Set(), names: named }]]) };
}

async function world(names: readonly string[], scope: Scope) {
  const setup = await liveSetup();
  await setup.relist(names, 'red');
  const current = { scope };
  const scopes = () => {
    const { scope } = current;
    return { id: scopeText(scope), of: () => scope };
  };
  const rights: CallerRights = { at: async () => scopes(), after: scopes };
  return {
    ...setup,
    start: (start: CellStart) => setup.list(start, { rights }),
    see(scope: Scope) {
      current.scope = scope;
      setup.feed.interrupt();
    },
  };
}

/** What a client can tell of a message, without its place in the log. */
function shown({ cursor: _cursor, changes, ...message }: LiveMessage): unknown {
  return {
    ...message,
    changes: changes.map(({ changedPaths: _paths, object, previous, ...change }) => ({
      ...change,
      body: object?.body ?? null,
      before: previous?.body ?? null,
    })),
  };
}

const names = ({ changes }: LiveMessage): readonly string[] => changes.map(({ identity: { name } }) => name);

test.each([
  ['all objects', allRows],
  ['more objects', some('a', 'b', 'c')],
  ['other objects', some('b')],
])('a cursor of a caller who sees %s gives GAP and a new snapshot [T5] [L3]', async (_of, scope) => {
  const { start, see } = await world(['a', 'b', 'c'], scope);
  const { cursor } = await until(start({ at: 'snapshot' }), new LiveClient(), 'SYNCED');
  see(some('a'));
  const list = start({ at: 'cursor', cursor: decodeLiveCursor(cursor) });
  expect((await nextOf(list)).phase).toBe('GAP');
  const snapshot = await nextOf(list);
  expect(snapshot).toMatchObject({ phase: 'SNAPSHOT', reset: true });
  expect(names(snapshot)).toEqual(['a']);
});

test('lists that began at different times share no move, though their relative times are written alike', async () => {
  const setup = await liveSetup();
  await setup.relist(['a'], '2026-01-01T09:30:00Z');
  const since = (time: string): Filter => ({
    kind: 'compare',
    path: parsePath('spec.color'),
    type: 'String',
    operator: 'gte',
    values: [time],
    ignoreCase: false,
    relative: ['-1h'],
  });
  const current: { scope: Scope } = { scope: noRows };
  const scopes = () => {
    const { scope } = current;
    return { id: scopeText(scope), of: () => scope };
  };
  const rights: CallerRights = { at: async () => scopes(), after: scopes };
  const early = setup.list({ at: 'snapshot' }, { rights, filter: since('2026-01-01T09:00:00Z') });
  const late = setup.list({ at: 'snapshot' }, { rights, filter: since('2026-01-01T11:00:00Z') });
  await until(early, new LiveClient(), 'SYNCED');
  await until(late, new LiveClient(), 'SYNCED');
  current.scope = allRows;
  setup.feed.interrupt();
  expect(names(await nextOf(early))).toEqual(['a']);
  setup.put('b', '2026-01-01T11:30:00Z');
  expect(names(await nextOf(late))).toEqual(['b']);
});

test('after rights were removed between two chunks of a snapshot, a new snapshot has the visible objects alone [T8] [L7]', async () => {
  const { start, see } = await world(['a', 'b', 'c', 'd', 'e'], allRows);
  const list = start({ at: 'snapshot' });
  const client = new LiveClient();
  const first = await nextOf(list);
  client.take(first);
  expect(names(first)).toEqual(['a', 'b']);
  see(some('a', 'e'));
  const next = await nextOf(list);
  client.take(next);
  expect(next.reset).toBe(true);
  expect(names(next)).toEqual(['a', 'e']);
  client.take(await nextOf(list));
  expect([...client.held.keys()]).toEqual(['east default a', 'east default e']);
});

test('rights removed after the last chunk remove the objects after SYNCED [T10]', async () => {
  const { start, see } = await world(['a', 'b'], allRows);
  const list = start({ at: 'snapshot' });
  const client = new LiveClient();
  client.take(await nextOf(list));
  see(some('a'));
  client.take(await nextOf(list));
  const moved = await until(list, client, 'LIVE');
  expect(moved.changes).toMatchObject([
    { type: 'REMOVED', reason: 'NO_LONGER_VISIBLE', identity: { name: 'b' }, object: null, previous: null },
  ]);
  expect([...client.held.keys()]).toEqual(['east default a']);
});

test('a hidden object that is made anew does not divide the message of visible changes [L6]', async () => {
  const messages: unknown[] = [];
  for (const hidden of [false, true]) {
    const { start, put, remove } = await world(['a', 'b', 'secret'], some('a', 'b'));
    const { cursor } = await until(start({ at: 'snapshot' }), new LiveClient(), 'SYNCED');
    put('a', 'green');
    if (hidden) {
      remove('secret');
      put('secret', 'green');
    }
    put('b', 'green');
    const list = start({ at: 'cursor', cursor: decodeLiveCursor(cursor) });
    await nextOf(list);
    messages.push(names(await nextOf(list)));
  }
  expect(messages).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

test('a hidden object that is made anew does not make changed rights a GAP', async () => {
  const { start, put, remove, see } = await world(['a', 'b', 'secret'], some('a'));
  const list = start({ at: 'snapshot' });
  await until(list, new LiveClient(), 'SYNCED');
  see(some('a', 'b'));
  put('a', 'green');
  remove('secret');
  put('secret', 'green');
  put('b', 'green');
  const changes = [
    { type: 'MODIFIED', identity: { name: 'a' } },
    { type: 'ADDED', identity: { name: 'b' } },
  ];
  expect(await nextOf(list)).toMatchObject({ phase: 'LIVE', changes });
});

test.each([
  ['modified', ({ put }: Changer) => put('b', 'green')],
  ['deleted', ({ remove }: Changer) => remove('b')],
  [
    'deleted and made anew',
    ({ remove, put }: Changer) => {
      remove('b');
      put('b', 'blue');
    },
  ],
])('the removal of an object that is no longer visible does not tell that it was %s since', async (_what, change) => {
  const messages: unknown[] = [];
  for (const changed of [false, true]) {
    const setup = await world(['a', 'b'], allRows);
    const { start, see } = setup;
    const list = start({ at: 'snapshot' });
    await until(list, new LiveClient(), 'SYNCED');
    see(some('a'));
    // Before the subscription learns of its rights.
    if (changed) change(setup);
    const message = await nextOf(list);
    expect(message.changes).toMatchObject([
      { type: 'REMOVED', reason: 'NO_LONGER_VISIBLE', object: null, previous: null },
    ]);
    messages.push(shown(message));
  }
  expect(must(messages[1], 'a message')).toEqual(messages[0]);
});

interface Changer {
  put(name: string, color: string): void;
  remove(name: string): void;
}
