/** Live lists of several kinds of callers who may not see all of them, and clients that are slow. */
import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { type Messages, nextOf, things } from '../../../test/kit/live-lists.ts';
import { allRows, noRows, type Scope } from '../../access/scope.ts';
import { must } from '../../base/must.ts';
import { everything } from '../../query/plan/filter.ts';
import { readLogFloor } from '../../store/read/changes.ts';
import type { CellStart, LiveMessage } from '../list/live-request.ts';
import { decodeLiveCursor } from '../log/live-cursor.ts';
import { liveObjects } from './live-objects.ts';

const gears = 'gears.example.com';
const spec = { type: 'object', properties: { size: { type: 'integer' } } };

async function world(scopes: Readonly<Record<string, Scope>>, maxBytes = 1e9) {
  const changeLog = { maxBytes, maxAgeMs: 3_600_000 };
  const fixture = engineFixture({ writer: { maxDifferences: 4, changeLog } });
  const described = (kind: string, plural: string) => describedCrd({ kind, plural, properties: { spec } });
  await fixture.declare(described('Thing', 'things'), described('Gear', 'gears'));
  const current = { scopes };
  const visibleTo = (caller: typeof current) => () => {
    const { scopes } = caller;
    return { id: JSON.stringify(scopes), of: (key: string): Scope => scopes[key] ?? noRows };
  };
  const { feed } = fixture.engine.source;
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  /** @param caller what the list's caller may see, which may change */
  const start = (isOptional = false, caller = current, from: CellStart = { at: 'snapshot' }): Messages => {
    const visible = visibleTo(caller);
    return liveObjects(feed, {
      kinds: [things, gears].map((key) => ({
        kind: { key, tree: must(fixture.engine.source.generation().kind(key), 'the kind is in the schema').tree },
        clusters: ['east'],
        isOptional,
      })),
      filter: everything,
      rights: { at: async () => visible(), after: visible },
      start: from,
      projection: 'whole',
      signal: stop.signal,
      chunk: 100,
      now: () => 0,
      check: () => {},
    });
  };
  return {
    ...fixture,
    feed,
    start,
    list: (key: string, ...names: readonly string[]) =>
      fixture.sync(
        key,
        names.map((name) => made({ name, spec: { size: 1 } })),
      ),
    put: (key: string, name: string, size = 1) => fixture.apply(key, 'MODIFIED', made({ name, spec: { size } })),
    see(scopes: Readonly<Record<string, Scope>>) {
      current.scopes = scopes;
      feed.interrupt();
    },
  };
}

const told = ({ changes }: LiveMessage): readonly string[] =>
  changes.map(({ type, identity: { key, name }, reason }) =>
    [type, key.split('.')[0], name, reason ?? ''].join(' ').trim(),
  );

/** A message that does not come. */
const silence = (pending: Promise<unknown>): Promise<unknown> =>
  Promise.race([pending, new Promise((resolve) => setTimeout(() => resolve('silence'), 300))]);

test('a hidden kind is not waited for, and its lists and changes cause no message and no read [L6]', async () => {
  const { start, list, put, statements } = await world({ [things]: allRows });
  await list(things, 'a');
  const messages = start();
  expect(told(await nextOf(messages))).toEqual(['ADDED things a']);
  expect(await nextOf(messages)).toMatchObject({ phase: 'SYNCED', totalCount: 1 });
  const pending = nextOf(messages);
  expect(await silence(pending)).toBe('silence');
  statements.length = 0;
  await list(gears, 'x', 'y');
  for (let size = 0; size < 10; size += 1) put(gears, 'x', size);
  await list(gears, ...'abcdefgh');
  expect(await silence(pending)).toBe('silence');
  expect(statements.filter(({ sql }) => sql.includes('change c'))).toEqual([]);
  put(things, 'b');
  expect(told(await pending)).toEqual(['ADDED things b']);
});

test('rights that change while a cursor is looked at do not continue it', async () => {
  const { start, list } = await world({ [things]: allRows, [gears]: allRows });
  await list(things, 'a');
  await list(gears, 'x');
  const messages = start();
  await nextOf(messages);
  const cursor = decodeLiveCursor((await nextOf(messages)).cursor);
  let reads = 0;
  // The snapshot shows the things alone. The rights that the cursor has come back after it.
  const caller = {
    get scopes(): Readonly<Record<string, Scope>> {
      reads += 1;
      return reads === 1 ? { [things]: allRows } : { [things]: allRows, [gears]: allRows };
    },
  };
  const resumed = start(false, caller, { at: 'cursor', cursor });
  expect((await nextOf(resumed)).phase).toBe('GAP');
  expect(told(await nextOf(resumed))).toEqual(['ADDED things a', 'ADDED gears x']);
});

test('rights that change add and remove the objects of their kinds, with the changes of the others in one message [T10]', async () => {
  const { start, list, put, see } = await world({ [things]: allRows, [gears]: allRows });
  await list(things, 'a');
  await list(gears, 'x');
  const messages = start();
  await nextOf(messages);
  expect(await nextOf(messages)).toMatchObject({ phase: 'SYNCED', totalCount: 2 });
  see({ [things]: allRows });
  const hidden = await nextOf(messages);
  expect(told(hidden)).toEqual(['REMOVED gears x NO_LONGER_VISIBLE']);
  expect(hidden).toMatchObject({ phase: 'LIVE', totalCount: 1 });
  const pending = nextOf(messages);
  put(gears, 'y');
  expect(await silence(pending)).toBe('silence');
  see({ [things]: allRows, [gears]: allRows });
  expect(told(await pending).toSorted()).toEqual(['ADDED gears x', 'ADDED gears y']);
});

test('a kind that is listed again after it had objects is GAP and a snapshot of all kinds [T11] [T13]', async () => {
  const { start, list } = await world({ [things]: allRows, [gears]: allRows });
  await list(things, 'a');
  await list(gears, 'x');
  const messages = start();
  await nextOf(messages);
  await nextOf(messages);
  await list(gears, ...'abcdefgh');
  expect(await nextOf(messages)).toMatchObject({ phase: 'GAP', changes: [] });
  expect((await nextOf(messages)).changes).toHaveLength(9);
  expect(await nextOf(messages)).toMatchObject({ phase: 'SYNCED', totalCount: 9 });
});

test('lists that ask the same share each pull, its message and the snapshot [L10]', async () => {
  const { start, list, put, feed } = await world({ [things]: allRows, [gears]: allRows });
  await list(things, ...'abcdef');
  await list(gears, 'x');
  const { lease } = feed;
  let leases = 0;
  feed.lease = (work, signal) => {
    leases += 1;
    return lease.call(feed, work, signal) as never;
  };
  const lists = Array.from({ length: 20 }, () => start());
  const took = async (): Promise<readonly LiveMessage[]> => Promise.all(lists.map((messages) => nextOf(messages)));
  expect(new Set(await took()).size).toBeLessThan(4);
  expect((await took()).every(({ phase, totalCount }) => phase === 'SYNCED' && totalCount === 7)).toBe(true);
  const pending = took();
  await silence(pending);
  leases = 0;
  put(gears, 'y');
  const messages = await pending;
  expect(told(must(messages[0], 'a message'))).toEqual(['ADDED gears y']);
  expect(new Set(messages).size).toBe(1);
  // Without sharing it would be a lease for each list.
  expect(leases).toBeLessThan(6);
});

test('a pull of a caller who sees more is not shared [L7]', async () => {
  const both = { [things]: allRows, [gears]: allRows };
  const { start, list, put } = await world(both);
  await list(things, 'a');
  await list(gears, 'x');
  const [one, other] = [{ scopes: both }, { scopes: both as Readonly<Record<string, Scope>> }];
  const lists = [start(false, one), start(false, other)] as const;
  for (const messages of lists) {
    await nextOf(messages);
    await nextOf(messages);
  }
  const pending = lists.map((messages) => nextOf(messages));
  await silence(Promise.all(pending));
  other.scopes = { [things]: allRows };
  put(gears, 'y');
  expect((await Promise.all(pending)).map(told)).toEqual([['ADDED gears y'], ['REMOVED gears x NO_LONGER_VISIBLE']]);
});

test('a slow client gets the changes of all kinds together, up to one moment [L1] [L8]', async () => {
  const { start, list, put, reader, feed } = await world({ [things]: allRows, [gears]: allRows });
  await list(things, 'a');
  await list(gears, 'x');
  const messages = start();
  await nextOf(messages);
  const { cursor } = await nextOf(messages);
  for (let size = 0; size < 1200; size += 1) {
    put(size % 3 === 0 ? gears : things, `n${size % 7}`, size);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Nothing was made for it meanwhile.
  expect(feed.held).toBe(0);
  let last = decodeLiveCursor(cursor).sequence;
  let [live, changes] = [0, 0];
  const { revision } = await reader.lease(async (lease) => ({ revision: lease.revision }));
  while (last < revision) {
    const message = await nextOf(messages);
    expect(message.phase).toBe('LIVE');
    const { sequence } = decodeLiveCursor(message.cursor);
    expect(sequence).toBeGreaterThan(last);
    last = sequence;
    live += 1;
    changes += message.changes.length;
  }
  expect(live).toBeLessThan(6);
  expect(changes).toBeLessThan(100);
});

test('a client that waits keeps up with the log while only other kinds change', { timeout: 30_000 }, async () => {
  const { start, list, put, writer, reader } = await world({ [things]: allRows }, 20_000);
  await list(things, 'a');
  await list(gears, 'x');
  const messages = start();
  await nextOf(messages);
  const { sequence } = decodeLiveCursor((await nextOf(messages)).cursor);
  const pending = nextOf(messages);
  expect(await silence(pending)).toBe('silence');
  const floor = (): Promise<number> => reader.lease(readLogFloor);
  for (let size = 0; size < 20; size += 1) put(gears, 'x', size);
  expect(await floor()).toBeLessThanOrEqual(sequence);
  const moved = writer().revision();
  // Its position moves at the next look.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  for (let size = 0; (await floor()) <= sequence; size += 1) {
    put(gears, 'x', size);
    while (writer().maintain());
  }
  expect(await floor()).toBeLessThanOrEqual(moved);
  put(things, 'b');
  expect(await pending).toMatchObject({ phase: 'LIVE', totalCount: 2 });
});

test('many snapshots at once read two at a time, so that they do not take all readers', async () => {
  const { feed, start, list } = await world({ [things]: allRows, [gears]: allRows });
  await list(things, 'a', 'b', 'c');
  await list(gears, 'd');
  const lease = feed.lease.bind(feed);
  let [open, most] = [0, 0];
  feed.lease = async (work, signal) => {
    open += 1;
    most = Math.max(most, open);
    try {
      return await lease(work, signal);
    } finally {
      open -= 1;
    }
  };
  const lists = Array.from({ length: 10 }, () => start());
  const upToSynced = async (messages: Messages): Promise<void> => {
    while ((await nextOf(messages)).phase !== 'SYNCED');
  };
  await Promise.all(lists.map(upToSynced));
  expect(most).toBe(2);
});
