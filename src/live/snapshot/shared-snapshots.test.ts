import { expect, test } from 'vitest';
import { LiveClient } from '../../../test/kit/live-client.ts';
import { liveSetup, type Messages, nextOf } from '../../../test/kit/live-lists.ts';
import { everything } from '../../query/plan/filter.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import { SharedSnapshots, type TakenSnapshot } from './shared-snapshots.ts';
import { Matches } from './snapshot.ts';

const names = Array.from({ length: 30 }, (_, index) => `n${index}`);

async function upToSynced(messages: Messages, client: LiveClient): Promise<readonly LiveMessage[]> {
  const got: LiveMessage[] = [];
  for (;;) {
    const message = await nextOf(messages);
    got.push(message);
    client.take(message);
    if (message.phase === 'SYNCED') return got;
  }
}

test('lists that come at the same time send the same messages [L10]', async () => {
  const { list, relist, truth } = await liveSetup();
  await relist(names, 'red');
  const { held } = await truth(everything);
  const begun = Array.from({ length: 10 }, () => ({ client: new LiveClient(), messages: list({ at: 'snapshot' }) }));
  const got = await Promise.all(begun.map(({ messages, client }) => upToSynced(messages, client)));
  for (const { client } of begun) expect(client.held).toEqual(held);
  const chunks = new Set(got.flatMap((messages) => messages.filter(({ phase }) => phase === 'SNAPSHOT')));
  expect(chunks.size).toBe(names.length / 2);
});

const lease = { epoch: 'e', revision: 7 } as Lease;
const taken: TakenSnapshot = { epoch: 'e', revision: 7, objects: new Matches(new Float64Array()) };

test('a list that comes while a snapshot is taken gets the same one', async () => {
  const snapshots = new SharedSnapshots();
  const { promise, resolve } = Promise.withResolvers<TakenSnapshot>();
  const first = snapshots.join(lease, 'pods', () => promise);
  const second = snapshots.join(lease, 'pods', () => Promise.reject(new Error('taken again')));
  resolve(taken);
  expect(await second).toBe(await first);
});

test('a list that comes while a snapshot cannot be taken takes its own', async () => {
  const snapshots = new SharedSnapshots();
  const first = snapshots.join(lease, 'pods', () => Promise.reject(new Error('no reader')));
  const second = snapshots.join(lease, 'pods', async () => taken);
  await expect(first).rejects.toThrow('no reader');
  expect((await second).taken).toBe(taken);
});

test('a list whose lease is older than the snapshot that is taken takes its own', async () => {
  const snapshots = new SharedSnapshots();
  const first = snapshots.join(lease, 'pods', async () => taken);
  const older = { ...taken, revision: 6 };
  const second = snapshots.join({ ...lease, revision: 6 }, 'pods', async () => older);
  expect((await first).taken).toBe(taken);
  expect((await second).taken).toBe(older);
});

test('chunks are kept while a list sends the snapshot, and not longer', async () => {
  const snapshots = new SharedSnapshots();
  const shared = await snapshots.join(lease, 'pods', async () => ({
    ...taken,
    objects: new Matches(new Float64Array(3)),
  }));
  const message: LiveMessage = { phase: 'SNAPSHOT', reset: true, cursor: '', totalCount: null, changes: [] };
  let reads = 0;
  const ask = () =>
    snapshots.chunk(shared, 0, { last: null, most: 3 }, async (end) => {
      reads += 1;
      return { message, end, revision: 7, characters: 100 };
    });
  snapshots.enter(shared);
  snapshots.enter(shared);
  await ask();
  snapshots.leave(shared);
  await ask();
  expect(reads).toBe(1);
  // The list that asked is the last one, and leaves while its chunk is read.
  snapshots.leave(shared);
  await ask();
  await ask();
  expect(reads).toBe(3);
});

test('a list that comes alone gets the newest state', async () => {
  const { list, relist, put, truth } = await liveSetup();
  await relist(names, 'red');
  await upToSynced(list({ at: 'snapshot' }), new LiveClient());
  put('n3', 'green');
  const client = new LiveClient();
  await upToSynced(list({ at: 'snapshot' }), client);
  expect(client.held).toEqual((await truth(everything)).held);
});

test('a list whose lease was repeated leaves no snapshot for later lists', async () => {
  const { feed, list, relist, put, truth } = await liveSetup();
  await relist(names, 'red');
  const { lease } = feed;
  feed.lease = async (work, signal) => {
    feed.lease = lease;
    await feed.lease(work, signal);
    return feed.lease(work, signal);
  };
  await upToSynced(list({ at: 'snapshot' }), new LiveClient());
  put('n3', 'green');
  const client = new LiveClient();
  await upToSynced(list({ at: 'snapshot' }), client);
  expect(client.held).toEqual((await truth(everything)).held);
});

test('a list that joins a snapshot gets the changes since [L5] [L10]', async () => {
  const { list, relist, put, remove, truth } = await liveSetup();
  await relist(names, 'red');
  const first = list({ at: 'snapshot' });
  const begun = new LiveClient();
  begun.take(await nextOf(first));
  put('n3', 'green');
  remove('n4');
  const second = list({ at: 'snapshot' });
  const joined = new LiveClient();
  await Promise.all([upToSynced(first, begun), upToSynced(second, joined)]);
  const { held, revision } = await truth(everything);
  while (begun.sequence !== revision) begun.take(await nextOf(first));
  while (joined.sequence !== revision) joined.take(await nextOf(second));
  expect(begun.held).toEqual(held);
  expect(joined.held).toEqual(held);
});

test('the oldest snapshots are let go when lists that are not read hold too many objects', async () => {
  const snapshots = new SharedSnapshots(() => 0, 10);
  const made = async (question: string) => {
    const objects = new Matches(new Float64Array(4));
    const shared = await snapshots.join(lease, question, async () => ({ ...taken, objects }));
    snapshots.enter(shared);
    return { shared, objects };
  };
  const [first, second, third] = [await made('a'), await made('b'), await made('c')];
  expect([first, second, third].map(({ objects }) => objects.slice(0, 2))).toEqual([null, [0, 0], [0, 0]]);
  expect(snapshots.held).toBe(8);
  const again = await made('a');
  expect(again.shared).not.toBe(first.shared);
  expect(second.objects.slice(0, 1)).toBeNull();
  for (const { shared } of [first, second, third, again]) snapshots.leave(shared);
  expect(snapshots.held).toBe(0);
});

test('a list whose snapshot was let go brings a newer one [T8]', async () => {
  const { list, relist, put, truth, feed } = await liveSetup();
  await relist(names, 'red');
  const client = new LiveClient();
  const messages = list({ at: 'snapshot' });
  client.take(await nextOf(messages));
  const others = { length: 5_000_000, letGo: () => {} };
  feed.snapshots.enter(await feed.snapshots.join(lease, 'others', async () => ({ ...taken, objects: others })));
  put('n0', 'blue');
  const got = await upToSynced(messages, client);
  expect(got.filter(({ phase, reset }) => phase === 'SNAPSHOT' && reset)).toHaveLength(1);
  const { held } = await truth(everything);
  expect(client.held).toEqual(held);
});

test('a snapshot that is larger than the bound is sent', async () => {
  const snapshots = new SharedSnapshots(() => 0, 2);
  const objects = new Matches(new Float64Array(4));
  snapshots.enter(await snapshots.join(lease, 'a', async () => ({ ...taken, objects })));
  expect(objects.slice(0, 4)).toEqual([0, 0, 0, 0]);
});
