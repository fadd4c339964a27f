import { expect, test } from 'vitest';
import { LiveClient } from '../../../test/kit/live-client.ts';
import { liveSetup, type Messages, nextOf } from '../../../test/kit/live-lists.ts';
import { everything } from '../../query/plan/filter.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';

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

test('lists that come at the same time send the same messages', async () => {
  const { list, relist, truth } = await liveSetup();
  await relist(names, 'red');
  const { held } = await truth(everything);
  const begun = Array.from({ length: 10 }, () => ({ client: new LiveClient(), messages: list({ at: 'snapshot' }) }));
  const got = await Promise.all(begun.map(({ messages, client }) => upToSynced(messages, client)));
  for (const { client } of begun) expect(client.held).toEqual(held);
  const chunks = new Set(got.flatMap((messages) => messages.filter(({ phase }) => phase === 'SNAPSHOT')));
  // The first lists may take a snapshot each.
  expect(chunks.size).toBeLessThanOrEqual(2 * (names.length / 2));
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

test('a list that joins a snapshot gets the changes since', async () => {
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
