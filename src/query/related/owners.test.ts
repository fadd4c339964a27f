import { describe, expect, test } from 'vitest';
import { openTestStore, plainKey, promotedKey, type TestStore, thing } from '../../../test/kit/query-store.ts';
import type { ListResult } from '../plan/plan.ts';
import { fetchObjects } from '../read/fetch.ts';
import { countOwned, type OwnedOptions, type OwnerReference, ownedBy, ownersOf } from './owners.ts';

const references = (...uids: string[]) => ({
  ownerReferences: uids.map((uid) => ({ uid, name: uid, kind: 'X', apiVersion: 'v1' })),
});

/** In east, widgets own gadgets and a widget. The objects of west have the same owner uids. */
async function openStore(): Promise<TestStore> {
  const store = openTestStore([], ['east', 'west', 'north']);
  for (const cluster of ['east', 'west']) {
    await store.sync(promotedKey, cluster, [
      thing({ name: 'owner', uid: 'u-owner' }),
      thing({ name: 'scoped', namespace: null, uid: 'u-scoped' }),
      thing({ name: 'child', uid: `u-child-${cluster}`, metadata: references('u-owner') }),
    ]);
    await store.sync(plainKey, cluster, [
      thing({ name: 'b', uid: `u-b-${cluster}`, metadata: references('u-owner', 'u-scoped') }),
      thing({ name: 'a', uid: `u-a-${cluster}`, metadata: references('u-owner', 'u-missing') }),
      thing({ name: 'a', namespace: 'z', uid: `u-z-${cluster}`, metadata: references('u-scoped') }),
      thing({ name: 'none', uid: `u-none-${cluster}` }),
    ]);
  }
  // This list is never published.
  store.writer
    .replace(store.handle(plainKey, 'north'))
    .put([{ text: thing({ name: 'x', metadata: references('u-owner') }) }]);
  return store;
}

const owner: OwnerReference = { cluster: 'east', uid: 'u-owner' };
const scoped: OwnerReference = { cluster: 'east', uid: 'u-scoped' };

function owned(
  store: TestStore,
  owners: readonly OwnerReference[],
  options: Partial<OwnedOptions> = {},
): Promise<ListResult[]> {
  return store.read((lease, view) =>
    ownedBy(lease, view, owners, { keys: null, limit: 10, after: null, ...options }, { metadata: { name: true } }),
  );
}

const shown = ({ rows }: ListResult): string[] =>
  rows.map(({ cluster, key, namespace, name }) => `${cluster} ${key.split('.')[0]} ${namespace}/${name}`);

describe('ownedBy', () => {
  test('answers a batch in its order, each in identity order with the kind first', async () => {
    const store = await openStore();
    const pages = await owned(store, [scoped, { cluster: 'east', uid: 'u-nobody' }, owner, scoped]);
    expect(pages.map(shown)).toEqual([
      ['east gadgets default/b', 'east gadgets z/a'],
      [],
      ['east gadgets default/a', 'east gadgets default/b', 'east widgets default/child'],
      ['east gadgets default/b', 'east gadgets z/a'],
    ]);
    expect(pages[2]?.rows[0]?.body).toEqual({ metadata: { name: 'a' } });
    expect(pages.every(({ hasNextPage, hasPreviousPage }) => !hasNextPage && !hasPreviousPage)).toBe(true);
  });

  test('owner and owned are of one cluster, and of published rows', async () => {
    const store = await openStore();
    expect(
      (await owned(store, [{ cluster: 'west', uid: 'u-owner' }])).flatMap(shown).every((row) => row.startsWith('west')),
    ).toBe(true);
    expect((await owned(store, [{ cluster: 'north', uid: 'u-owner' }])).flatMap(shown)).toEqual([]);
  });

  test('takes the kinds that are asked for', async () => {
    const store = await openStore();
    expect((await owned(store, [owner], { keys: [promotedKey] })).map(shown)).toEqual([['east widgets default/child']]);
    expect((await owned(store, [owner], { keys: ['unknown'] })).map(shown)).toEqual([[]]);
  });

  test('pages by cursor, over the border between kinds', async () => {
    const store = await openStore();
    const seen: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 3; page++) {
      const [result]: ListResult[] = await owned(store, [owner], { limit: 1, after });
      if (result === undefined) throw new Error('one owner, one page');
      seen.push(...shown(result));
      expect(result.hasNextPage).toBe(page < 2);
      expect(result.hasPreviousPage).toBe(page > 0);
      after = result.rows.at(-1)?.cursor ?? null;
    }
    expect(seen).toEqual(['east gadgets default/a', 'east gadgets default/b', 'east widgets default/child']);
    await expect(owned(store, [owner], { keys: [plainKey], after })).rejects.toThrow(/another list/);
  });

  test('counts without reading', async () => {
    const store = await openStore();
    const count = (limit: number | null) =>
      store.read((lease, view) =>
        countOwned(lease, view, [owner, { cluster: 'east', uid: 'x' }, scoped], { keys: null, limit }),
      );
    expect(await count(null)).toEqual([3, 0, 2]);
    expect(await count(2)).toEqual([2, 0, 2]);
  });
});

test('ownersOf gives the owners that are there, in the cluster of the owned', async () => {
  const store = await openStore();
  const result = await store.read(async (lease, view) => {
    const identities = (['b', 'none', 'a'] as const).map((name) => ({
      cluster: 'west',
      key: plainKey,
      namespace: 'default',
      name,
    }));
    const found = await fetchObjects(lease, view, identities, {});
    return ownersOf(
      lease,
      view,
      found.map((row) => row?.objectId ?? -1),
      'whole',
    );
  });
  expect(result.map(shown)).toEqual([
    ['west widgets null/scoped', 'west widgets default/owner'],
    [],
    ['west widgets default/owner'],
  ]);
});
