/** A kept value is given for its own state alone, and all of them have a bound in bytes. */
import { expect, test } from 'vitest';
import type { ObjectRow } from '../../query/plan/plan.ts';
import type { SetRecord } from '../../sets/record/set-record.ts';
import type { Lease } from '../../store/types/lease.ts';
import { SetCache } from './set-cache.ts';

const leaseOf = (epoch: string): Lease => ({
  ...{ epoch, revision: 1, layoutVersion: 1 },
  all: async () => [],
  fill: async () => [],
});
const rowOf = (objectId: number, seq: number): ObjectRow => ({
  ...{ objectId, seq, cluster: 'east', key: 'pods', namespace: 'shop', name: 'a', uid: 'u', resourceVersion: '1' },
  health: { status: 'Current', reason: null, message: null, source: null } as never,
  body: {},
});
const recordOf = (uid: string, resourceVersion: string): SetRecord => ({
  ...{ uid, resourceVersion, name: 'web', namespace: 'shop', labels: {}, annotations: {}, finalizers: [] },
  ...{ deletionTimestamp: null, generation: 1, phase: 'Applied', members: [], lastApplied: null },
});

test('a manifest is of one store, version of its record, index and change of its member', () => {
  const cache = new SetCache();
  const lease = leaseOf('one');
  const manifest = { kind: 'Pod' };
  cache.keepManifest(lease, recordOf('web', '5'), 0, rowOf(1, 7), manifest);
  expect(cache.manifest(lease, recordOf('web', '5'), 0, rowOf(1, 7))).toBe(manifest);
  const others = [
    cache.manifest(leaseOf('two'), recordOf('web', '5'), 0, rowOf(1, 7)),
    cache.manifest(lease, recordOf('web', '6'), 0, rowOf(1, 7)),
    cache.manifest(lease, recordOf('api', '5'), 0, rowOf(1, 7)),
    cache.manifest(lease, recordOf('web', '5'), 1, rowOf(1, 7)),
    cache.manifest(lease, recordOf('web', '5'), 0, rowOf(2, 7)),
    cache.manifest(lease, recordOf('web', '5'), 0, rowOf(1, 8)),
  ];
  expect(others).toEqual(others.map(() => undefined));
});

test('a record is of one store and one change of its row', () => {
  const cache = new SetCache();
  const stored = { record: recordOf('web', '5'), createdAt: '', problem: null };
  cache.keepRecord(leaseOf('one'), rowOf(1, 7), stored);
  expect(cache.record(leaseOf('one'), rowOf(1, 7))).toBe(stored);
  expect(cache.record(leaseOf('two'), rowOf(1, 7))).toBeUndefined();
  expect(cache.record(leaseOf('one'), rowOf(1, 8))).toBeUndefined();
  expect(cache.record(leaseOf('one'), rowOf(2, 7))).toBeUndefined();
});

test('more than the bound is not kept; what was used last stays', () => {
  const cache = new SetCache(100_000);
  const lease = leaseOf('one');
  const manifest = { text: 'x'.repeat(1000) };
  const keep = (index: number): void =>
    cache.keepManifest(lease, recordOf('web', '5'), index, rowOf(index, 7), manifest);
  const isKept = (index: number): boolean =>
    cache.manifest(lease, recordOf('web', '5'), index, rowOf(index, 7)) !== undefined;
  for (let index = 0; index < 1000; index += 1) {
    keep(index);
    expect(isKept(0)).toBe(true);
  }
  const kept = Array.from({ length: 1000 }, (_, index) => index).filter(isKept);
  expect(kept.length * 1000).toBeLessThan(100_000);
  expect(kept).toContain(999);
  expect(kept).not.toContain(500);
  cache.keepManifest(lease, recordOf('web', '5'), 1000, rowOf(1000, 7), { text: 'x'.repeat(100_000) });
  expect(isKept(1000)).toBe(false);
});
