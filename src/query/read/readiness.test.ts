import { expect, test } from 'vitest';
import { openTestStore, plainKey, promotedKey, thing } from '../../../test/kit/query-store.ts';
import { readiness, requireReady } from './readiness.ts';

test('a kind is ready when one of the chosen clusters has synced it', async () => {
  const store = openTestStore([]);
  await store.read(async (lease) => {
    expect(await readiness(lease, [promotedKey, 'pods'])).toEqual([
      { key: promotedKey, cluster: 'east', synced: false, whole: false },
      { key: promotedKey, cluster: 'west', synced: false, whole: false },
    ]);
    await expect(requireReady(lease, [promotedKey, plainKey])).rejects.toThrow(
      expect.objectContaining({ code: 'CACHE_NOT_READY', details: { resources: [promotedKey, plainKey] } }),
    );
  });
  await store.sync(promotedKey, 'east', [thing({ name: 'a' })]);
  await store.read(async (lease) => {
    expect(await requireReady(lease, [promotedKey])).toEqual([{ key: promotedKey, cluster: 'west' }]);
    expect(await requireReady(lease, [promotedKey], ['east'])).toEqual([]);
    await expect(requireReady(lease, [promotedKey], ['west'])).rejects.toThrow(/has not been synced yet in west/);
    await expect(requireReady(lease, [promotedKey, plainKey])).rejects.toThrow(`${plainKey} has not been synced`);
    await expect(requireReady(lease, ['pods'])).rejects.toThrow(expect.objectContaining({ code: 'CACHE_NOT_READY' }));
  });
  await store.sync(promotedKey, 'west', []);
  await store.read(async (lease) => expect(await requireReady(lease, [promotedKey])).toEqual([]));
});
