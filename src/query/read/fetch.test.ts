import { expect, test } from 'vitest';
import { openTestStore, plainKey, plannedKind, promotedKey, thing } from '../../../test/kit/query-store.ts';
import type { Identity } from '../plan/filter.ts';
import { everything } from '../plan/filter.ts';
import { fetchObjects } from './fetch.ts';
import { matchingObjects } from './match-ids.ts';

test('objects come in the order asked, null where there is none', async () => {
  const store = openTestStore([], ['east', 'west', 'north']);
  await store.sync(promotedKey, 'east', [thing({ name: 'a', uid: 'u-a' }), thing({ name: 'é😀\0', namespace: null })]);
  await store.sync(plainKey, 'west', [thing({ name: 'a', namespace: "it's" })]);
  store.writer.replace(store.handle(promotedKey, 'north')).put([{ text: thing({ name: 'a' }) }]);
  const of = (cluster: string, key: string, namespace: string | null, name: string): Identity => ({
    cluster,
    key,
    namespace,
    name,
  });
  const asked = [
    of('west', plainKey, "it's", 'a'),
    of('east', promotedKey, 'default', 'gone'),
    of('east', promotedKey, null, 'é😀\0'),
    of('north', promotedKey, 'default', 'a'),
    of('east', 'pods', 'default', 'a'),
    of('east', promotedKey, 'default', 'a'),
    of('east', promotedKey, 'default', 'a'),
  ];
  await store.read(async (lease, view) => {
    const found = await fetchObjects(lease, view, asked, { metadata: { uid: true } });
    expect(found.map((row) => row && [row.cluster, row.key, row.namespace, row.name])).toEqual([
      ['west', plainKey, "it's", 'a'],
      null,
      ['east', promotedKey, null, 'é😀\0'],
      null,
      null,
      ['east', promotedKey, 'default', 'a'],
      ['east', promotedKey, 'default', 'a'],
    ]);
    expect(found[5]).toMatchObject({ uid: 'u-a', body: { metadata: { uid: 'u-a' } } });
    expect(await fetchObjects(lease, view, [], 'whole')).toEqual([]);

    const [first] = await matchingObjects(lease, view, plannedKind(promotedKey), everything);
    expect(first).toEqual({
      objectId: expect.any(Number),
      seq: expect.any(Number),
      identity: of('east', promotedKey, null, 'é😀\0'),
    });
    expect(found[2]).toMatchObject({ objectId: first?.objectId, seq: first?.seq });
  });
});
