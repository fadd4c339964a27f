import { expect, test } from 'vitest';
import { openTestStore, plainKey, promotedKey, thing } from '../../../test/kit/query-store.ts';
import { idleStatus } from '../../store/types/progress.ts';
import { readiness, requireReady } from './readiness.ts';

test('a kind is ready when one of the chosen clusters has synced it', async () => {
  const store = openTestStore([]);
  await store.read(async (lease) => {
    expect(await readiness(lease, [promotedKey, 'pods'])).toEqual([
      { key: promotedKey, cluster: 'east', synced: false, whole: false, refusal: null, related: true },
      { key: promotedKey, cluster: 'west', synced: false, whole: false, refusal: null, related: true },
    ]);
    await expect(requireReady([lease], [promotedKey, plainKey])).rejects.toThrow(
      expect.objectContaining({ code: 'CACHE_NOT_READY', details: { resources: [promotedKey, plainKey] } }),
    );
  });
  await store.sync(promotedKey, 'east', [thing({ name: 'a' })]);
  await store.read(async (lease) => {
    expect(await requireReady([lease], [promotedKey])).toEqual([{ key: promotedKey, cluster: 'west' }]);
    expect(await requireReady([lease], [promotedKey], ['east'])).toEqual([]);
    await expect(requireReady([lease], [promotedKey], ['west'])).rejects.toThrow(/has not been synced yet in west/);
    await expect(requireReady([lease], [promotedKey, plainKey])).rejects.toThrow(`${plainKey} has not been synced`);
    await expect(requireReady([lease], ['pods'])).rejects.toThrow(expect.objectContaining({ code: 'CACHE_NOT_READY' }));
  });
  await store.sync(promotedKey, 'west', []);
  await store.read(async (lease) => expect(await requireReady([lease], [promotedKey])).toEqual([]));
});

test('a kind that every chosen cluster refuses is reported as refused, not as coming', async () => {
  const store = openTestStore([]);
  const refuse = (cluster: string) =>
    store.writer.setStatus(store.handle(promotedKey, cluster), {
      ...idleStatus,
      phase: 'PARKED',
      error: `widgets are forbidden in ${cluster}`,
      refused: true,
    });
  refuse('east');
  await store.read(async (lease) => {
    await expect(requireReady([lease], [promotedKey])).rejects.toThrow(
      expect.objectContaining({ code: 'CACHE_NOT_READY' }),
    );
    await expect(requireReady([lease], [promotedKey, plainKey], ['east'])).rejects.toThrow(
      expect.objectContaining({
        code: 'RESOURCE_REFUSED',
        message: `The API server refuses ${promotedKey} to Portolan in east: widgets are forbidden in east. Grant Portolan list and watch on ${promotedKey}.`,
      }),
    );
  });
  refuse('west');
  await store.read(async (lease) => {
    await expect(requireReady([lease], [promotedKey])).rejects.toThrow(
      expect.objectContaining({ code: 'RESOURCE_REFUSED', details: { resources: [promotedKey] } }),
    );
  });
  await store.sync(promotedKey, 'west', []);
  await store.read(async (lease) => {
    expect(await requireReady([lease], [promotedKey])).toEqual([{ key: promotedKey, cluster: 'east' }]);
  });
});
