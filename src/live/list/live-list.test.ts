import { expect, test } from 'vitest';
import { LiveClient } from '../../../test/kit/live-client.ts';
import { colored, liveSetup, nextOf, thing, things, until } from '../../../test/kit/live-lists.ts';
import { allRows, type Scope, type Scopes } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';
import { everything } from '../../query/plan/filter.ts';
import { decodeLiveCursor, encodeLiveCursor, nowhere } from '../log/live-cursor.ts';
import type { CellStart, LiveMessage } from './live-request.ts';

const snapshot: CellStart = { at: 'snapshot' };
const red = colored('red');

function told({ changes }: LiveMessage): readonly string[] {
  return changes.map(({ type, identity }) => `${type} ${identity.name}`);
}

const since = (cursor: string): CellStart => ({ at: 'cursor', cursor: decodeLiveCursor(cursor) });

test('a snapshot in chunks, SYNCED, then every change [T1] [T7] [T9]', async () => {
  const { list, relist, put, remove, truth } = await liveSetup();
  await relist(['a', 'b', 'c'], 'red');
  const messages = list(snapshot);
  const first = await nextOf(messages);
  expect(first).toMatchObject({ phase: 'SNAPSHOT', reset: true, totalCount: null });
  expect(told(first)).toEqual(['ADDED a', 'ADDED b']);
  const second = await nextOf(messages);
  expect(second).toMatchObject({ phase: 'SNAPSHOT', reset: false });
  const synced = await nextOf(messages);
  expect(synced).toMatchObject({ phase: 'SYNCED', reset: false, totalCount: 3, changes: [] });
  expect(decodeLiveCursor(synced.cursor).sequence).toBe((await truth(everything)).revision);
  put('d', 'red');
  const added = await nextOf(messages);
  expect(added).toMatchObject({ phase: 'LIVE', totalCount: 4 });
  expect(told(added)).toEqual(['ADDED d']);
  put('d', 'green', 5);
  const [change] = (await nextOf(messages)).changes;
  expect(change).toMatchObject({ type: 'MODIFIED', object: { body: { spec: { color: 'green', size: 5 } } } });
  expect(change?.changedPaths()).toEqual(['spec.color', 'spec.size']);
  remove('d');
  const removed = await nextOf(messages);
  expect(removed).toMatchObject({ totalCount: 3, changes: [{ type: 'REMOVED', reason: 'DELETED', object: null }] });
  expect(removed.changes[0]?.changedPaths()).toBeNull();
});

test('a snapshot of nothing is one SYNCED with reset, read once [T2]', async () => {
  const { list, relist, put, fixture } = await liveSetup();
  await relist(['a'], 'green');
  fixture.statements.length = 0;
  const messages = list(snapshot, { filter: red });
  expect(await nextOf(messages)).toMatchObject({ phase: 'SYNCED', reset: true, totalCount: 0, changes: [] });
  expect(fixture.statements.filter(({ sql }) => sql.includes('kind_log'))).toHaveLength(0);
  put('a', 'red');
  expect(told(await nextOf(messages))).toEqual(['ADDED a']);
});

test('now: SYNCED without a snapshot, then changes without a count [T3]', async () => {
  const { list, relist, put } = await liveSetup();
  await relist(['a'], 'red');
  const messages = list({ at: 'now' });
  expect(await nextOf(messages)).toMatchObject({ phase: 'SYNCED', reset: false, totalCount: null, changes: [] });
  put('a', 'green');
  const message = await nextOf(messages);
  expect(message).toMatchObject({ phase: 'LIVE', totalCount: null });
  expect(told(message)).toEqual(['MODIFIED a']);
});

test('a cursor loses nothing and repeats nothing, with any filter [T4] [L2]', async () => {
  const { list, relist, put, truth } = await liveSetup();
  await relist(['a', 'b'], 'red');
  const { held, revision } = await truth(red);
  const epoch = decodeLiveCursor((await nextOf(list({ at: 'now' }))).cursor).epoch;
  const cursor = encodeLiveCursor({ epoch, sequence: revision });
  put('a', 'green');
  put('c', 'red');
  const messages = list(since(cursor), { filter: red });
  const client = new LiveClient({ held, cursor });
  expect(await until(messages, client, 'SYNCED')).toMatchObject({ cursor, reset: false, totalCount: null });
  await until(messages, client, 'LIVE');
  expect(client.held).toEqual((await truth(red)).held);
  const again = list(since(client.cursor ?? ''), { filter: colored('green') });
  await nextOf(again);
  put('c', 'green');
  expect(told(await nextOf(again))).toEqual(['ADDED c']);
});

test.each<[string, (epoch: string, revision: number) => { epoch: string; sequence: number }]>([
  ['another epoch', (_epoch, sequence) => ({ epoch: 'another', sequence })],
  ['the future', (epoch, revision) => ({ epoch, sequence: revision + 1 })],
  ['below the floor of the log', (epoch) => ({ epoch, sequence: 0 })],
  ['the middle of a snapshot', (epoch) => ({ epoch, sequence: nowhere })],
])('a cursor of %s is GAP and then a snapshot with reset [T5] [L3]', async (_what, cursorOf) => {
  const { list, relist, put, fixture, truth } = await liveSetup({ changeLog: { maxBytes: 1500, maxAgeMs: 3_600_000 } });
  await relist(['a', 'b', 'c'], 'red');
  for (let size = 0; size < 10; size += 1) put('a', 'red', size);
  while (fixture.writer().maintain());
  const { epoch } = decodeLiveCursor((await nextOf(list({ at: 'now' }))).cursor);
  const cursor = cursorOf(epoch, (await truth(everything)).revision);
  const messages = list({ at: 'cursor', cursor });
  const gap = await nextOf(messages);
  expect(gap).toMatchObject({ phase: 'GAP', reset: false, changes: [] });
  expect(decodeLiveCursor(gap.cursor)).toEqual({ epoch, sequence: nowhere });
  const client = new LiveClient({ held: new Map([['gone', '{}']]), cursor: encodeLiveCursor(cursor) });
  await until(messages, client, 'SYNCED');
  expect(client.phases).toEqual(['SNAPSHOT', 'SNAPSHOT', 'SYNCED']);
  expect(client.held).toEqual((await truth(everything)).held);
});

test('rights that change while a cursor is looked at do not continue it', async () => {
  const { list, relist } = await liveSetup();
  await relist(['a', 'b'], 'red');
  const messages = list(snapshot);
  await nextOf(messages);
  const { cursor } = await nextOf(messages);
  const single: Scope = {
    rows: 'some',
    clusters: new Map([['east', { namespaces: new Set<string>(), names: new Map([['default', new Set(['a'])]]) }]]),
  };
  // The snapshot shows one object. The rights that the cursor has come back after it.
  let reads = 0;
  const scopes = (): Scopes => {
    reads += 1;
    const scope = reads === 1 ? single : allRows;
    return { id: String(reads > 1), of: () => scope };
  };
  const resumed = list(since(cursor), { rights: { at: async () => scopes(), after: scopes } });
  expect((await nextOf(resumed)).phase).toBe('GAP');
  expect(told(await nextOf(resumed))).toEqual(['ADDED a', 'ADDED b']);
});

test('objects that change under a snapshot are told as they were at its revision [L5]', async () => {
  const { list, relist, put, remove, truth } = await liveSetup();
  await relist(['a', 'b', 'c', 'd', 'e', 'f'], 'red');
  const before = await truth(red);
  const client = new LiveClient();
  const messages = list(snapshot, { filter: red, chunk: 1 });
  client.take(await nextOf(messages));
  put('b', 'green');
  remove('c');
  put('g', 'red');
  put('d', 'red', 7);
  put('d', 'green', 8);
  remove('e');
  put('e', 'red', 9);
  const synced = await until(messages, client, 'SYNCED');
  expect(decodeLiveCursor(synced.cursor).sequence).toBe(before.revision);
  expect(client.held).toEqual(before.held);
  const after = await truth(red);
  while (client.sequence !== after.revision) await until(messages, client, 'LIVE');
  expect(client.held).toEqual(after.held);
  expect(client.phases.filter((phase) => phase === 'GAP')).toEqual([]);
});

test('a snapshot whose revision the log has lost starts over with reset [T8]', async () => {
  const { list, relist, put, fixture, truth } = await liveSetup({ changeLog: { maxBytes: 1000, maxAgeMs: 3_600_000 } });
  await relist(['a', 'b', 'c'], 'red');
  const client = new LiveClient();
  const messages = list(snapshot, { chunk: 1 });
  client.take(await nextOf(messages));
  for (let size = 0; size < 20; size += 1) put('b', 'green', size);
  while (fixture.writer().maintain());
  await until(messages, client, 'SYNCED');
  expect(client.phases).toEqual(['SNAPSHOT', 'SNAPSHOT', 'SNAPSHOT', 'SNAPSHOT', 'SYNCED']);
  expect(client.held).toEqual((await truth(everything)).held);
});

test('a wholesale relist under a snapshot and after it [T8] [T11] [T13]', async () => {
  const { list, relist, fixture, truth } = await liveSetup({ maxDifferences: 2 });
  await relist(['a', 'b', 'c', 'd'], 'red');
  const before = await truth(everything);
  const client = new LiveClient();
  const messages = list(snapshot);
  client.take(await nextOf(messages));
  await relist(['b', 'c', 'd', 'e', 'f'], 'green');
  await until(messages, client, 'SYNCED');
  expect(client.held).toEqual(before.held);
  await until(messages, client, 'GAP');
  await until(messages, client, 'SYNCED');
  expect(client.held).toEqual((await truth(everything)).held);
  // The same again, with the old rows deleted before the rest of the snapshot is read.
  const late = new LiveClient();
  const slow = list(snapshot);
  late.take(await nextOf(slow));
  await relist(['x', 'y', 'z'], 'red');
  while (fixture.writer().maintain());
  await until(slow, late, 'SYNCED');
  expect(late.held).toEqual((await truth(everything)).held);
});

test('a recreated object is REMOVED and then ADDED, with the count of each moment [L4]', async () => {
  const { list, relist, put, remove } = await liveSetup();
  await relist(['a', 'b'], 'red');
  const messages = list(snapshot);
  const client = new LiveClient();
  await until(messages, client, 'SYNCED');
  remove('a');
  put('a', 'green');
  const first = await nextOf(messages);
  expect(told(first)).toEqual(['REMOVED a']);
  expect(first.totalCount).toBe(1);
  const second = await nextOf(messages);
  expect(told(second)).toEqual(['ADDED a']);
  expect(second.totalCount).toBe(2);
});

test('a kind that is not synced stays silent, then snapshots [T6] [L11]', async () => {
  const { list, relist, feed } = await liveSetup();
  const messages = list(snapshot);
  let answered = false;
  const first = nextOf(messages).then((message) => {
    answered = true;
    return message;
  });
  for (let wake = 0; wake < 5; wake += 1) {
    feed.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(answered).toBe(false);
  await relist(['a'], 'red');
  expect(await first).toMatchObject({ phase: 'SNAPSHOT', reset: true });
});

test('a kind of which nothing is asked for in any cluster is an empty snapshot, not silence', async () => {
  const { list } = await liveSetup();
  const messages = list(snapshot, { clusters: [], filter: { kind: 'clusters', in: [] } });
  expect(await nextOf(messages)).toMatchObject({ phase: 'SYNCED', totalCount: 0 });
});

test('a kind that is withdrawn and comes again: GAP, silence, snapshot [T12] [T13]', async () => {
  const { list, relist, fixture } = await liveSetup();
  await relist(['a'], 'red');
  const client = new LiveClient();
  const messages = list(snapshot);
  await until(messages, client, 'SYNCED');
  await fixture.writer().drop(fixture.handle(things));
  await until(messages, client, 'GAP');
  const next = until(messages, client, 'SYNCED');
  fixture.writer().declare(thing());
  await relist(['b'], 'red');
  await next;
  expect([...client.held.keys()]).toEqual(['east default b']);
});

test('a place goes on unheard, with its count; or says GAP when it must [T5]', async () => {
  const { list, relist, put } = await liveSetup();
  await relist(['a', 'b'], 'red');
  const client = new LiveClient();
  await until(list(snapshot), client, 'SYNCED');
  put('c', 'red');
  const cursor = decodeLiveCursor(client.cursor ?? '');
  const unheard = list({ at: 'place', cursor, totalCount: 2, changed: false });
  const message = await nextOf(unheard);
  expect(message).toMatchObject({ phase: 'LIVE', totalCount: 3 });
  expect(told(message)).toEqual(['ADDED c']);
  expect(await nextOf(list({ at: 'place', cursor, totalCount: 2, changed: true }))).toMatchObject({ phase: 'GAP' });
  const lost = { ...cursor, epoch: 'another' };
  expect(await nextOf(list({ at: 'place', cursor: lost, totalCount: 2, changed: false }))).toMatchObject({
    phase: 'GAP',
  });
});

test('check is asked before each message and at an interruption, with the place of a successor', async () => {
  const { list, relist, put, feed } = await liveSetup();
  await relist(['a'], 'red');
  const asked: CellStart[] = [];
  let moved = false;
  const messages = list(snapshot, {
    check: (successor) => {
      asked.push(successor);
      if (moved) throw new PortolanError('SCHEMA_RELOAD', 'Load the schema anew.');
    },
  });
  await nextOf(messages);
  const synced = await nextOf(messages);
  expect(new Set(asked.map(({ at }) => at))).toEqual(new Set(['snapshot']));
  put('b', 'red');
  const live = await nextOf(messages);
  const waiting = nextOf(messages);
  moved = true;
  feed.interrupt();
  await expect(waiting).rejects.toMatchObject({ code: 'SCHEMA_RELOAD' });
  const places = asked.filter((start) => start.at === 'place');
  expect(places[0]).toMatchObject({ cursor: decodeLiveCursor(synced.cursor), totalCount: 1 });
  expect(places.at(-1)).toMatchObject({ cursor: decodeLiveCursor(live.cursor), totalCount: 2, changed: false });
});

test.each(['while it waits', 'in the middle of a snapshot'])(
  'the signal ends a list %s without an error [T14]',
  async (when) => {
    const { list, relist } = await liveSetup();
    await relist(['a', 'b', 'c'], 'red');
    const stop = new AbortController();
    const messages = list(snapshot, { signal: stop.signal, chunk: 1 });
    await nextOf(messages);
    if (when === 'while it waits') await until(messages, new LiveClient(), 'SYNCED').catch(() => {});
    const next = messages.next();
    stop.abort();
    expect(await next).toMatchObject({ done: true });
  },
);

test('the close of the feed ends a list, and nothing stays in memory when the last one has left [T14] [L12]', async () => {
  const { list, relist, put, feed } = await liveSetup();
  await relist(['a'], 'red');
  const first = list(snapshot);
  const second = list(snapshot);
  for (const messages of [first, second]) await until(messages, new LiveClient(), 'SYNCED');
  for (const name of ['b', 'c', 'd']) {
    put(name, 'red');
    await nextOf(first);
  }
  const held = feed.held;
  expect(held).toBeGreaterThan(0);
  await first.return();
  expect(feed.held).toBe(held);
  const waiting = second.next();
  feed.close();
  await waiting;
  expect(await second.next()).toMatchObject({ done: true });
  expect(feed.held).toBe(0);
});
