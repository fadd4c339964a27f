import { expect, test } from 'vitest';
import { describedResource } from '../../../test/kit/store-file.ts';
import { type IngestStatus, idleStatus, type ResourceState } from '../../store/types/progress.ts';
import { type ClusterProgress, lostProgress, staleIn, sumProgress } from './progress.ts';

const east: ClusterProgress = {
  cluster: 'east',
  known: true,
  remembered: false,
  tried: true,
  resourcesDone: 3,
  resourcesSynced: 3,
  resourcesTotal: 3,
  objects: 7,
  failing: [],
  stale: [],
  unmatched: null,
};
const failing = [{ cluster: 'west', resource: 'everything', error: 'it is down' }];
const down: ClusterProgress = {
  ...east,
  cluster: 'west',
  known: false,
  resourcesDone: 0,
  resourcesSynced: 0,
  resourcesTotal: 0,
  objects: 0,
  failing,
};

test('ready: everything that was started is done, and a cluster that is down harms nobody', () => {
  expect(sumProgress([east, down])).toMatchObject({
    ready: true,
    catalogKnown: true,
    resourcesDone: 3,
    resourcesSynced: 3,
    objects: 7,
    failing,
  });
});

test('not ready: something is not done, not tried, or nothing was ever reached', () => {
  expect(sumProgress([{ ...east, resourcesDone: 2 }, down]).ready).toBe(false);
  expect(sumProgress([east, { ...down, tried: false }])).toMatchObject({ ready: false, catalogKnown: false });
  expect(sumProgress([down])).toMatchObject({ ready: false, catalogKnown: true });
  expect(sumProgress([]).ready).toBe(false);
});

test('room on the disk is told in steps, so that not every commit is news', () => {
  const disk = { usedBytes: 5_000_001, maxBytes: null, tight: false, shed: { changes: 0, events: 0 } };
  expect(sumProgress([], disk).disk).toEqual({ ...disk, usedBytes: 5 * 2 ** 20 });
  expect(sumProgress([]).disk).toBeNull();
});

test('a cluster that the store remembers can be read before it is reached, and is not ready before', () => {
  const remembered = { ...down, remembered: true, tried: false, failing: [] };
  expect(sumProgress([remembered])).toMatchObject({ catalogKnown: true, ready: false });
  expect(sumProgress([east, remembered])).toMatchObject({ catalogKnown: true, ready: false });
  expect(sumProgress([remembered, { ...remembered, remembered: false }]).catalogKnown).toBe(false);
});

test('without a store nothing is done, and the clusters stay known', () => {
  const fault = { kind: 'lost', error: 'it is gone', since: 7 } as const;
  const last = sumProgress([east, down]);
  expect(lostProgress(last, fault)).toMatchObject({
    ready: false,
    hasStore: false,
    catalogKnown: true,
    resourcesDone: 0,
    resourcesSynced: 0,
    resourcesTotal: 3,
    objects: 0,
    failing: [],
    clusters: [{ cluster: 'east' }, { cluster: 'west' }],
    fault,
  });
});

test('stale is what waits after an error or is not ingested, since the oldest of its namespaces', () => {
  const state = (key: string, namespace: string, status: Partial<IngestStatus>, synced = true): ResourceState => ({
    handle: { id: 1, cluster: 'east', key, namespace },
    described: describedResource({ plural: key, kind: key }),
    lastResourceVersion: '1',
    synced,
    outdated: false,
    objects: 1,
    status: { ...idleStatus, ...status },
  });
  const states = [
    state('pods', 'a', { phase: 'PARKED', error: 'full', staleSince: 20 }),
    state('pods', 'b', { phase: 'BACKOFF', error: 'full', staleSince: 10 }),
    state('nodes', '', { phase: 'STOPPED', staleSince: 30 }),
    state('jobs', '', { phase: 'WATCHING', staleSince: 40 }),
    state('secrets', '', { phase: 'PARKED', error: 'forbidden', staleSince: null }, false),
    state('leases', '', { phase: 'WATCHING', lastSignAt: 50 }),
    state('services', '', { phase: 'POLLING', lastSignAt: 50 }, false),
    state('configmaps', '', { phase: 'WATCHING', lastSignAt: 70 }),
  ];
  const waiting = [
    { cluster: 'east', key: 'pods', since: 10, phase: 'BACKOFF', error: 'full' },
    { cluster: 'east', key: 'nodes', since: 30, phase: 'STOPPED', error: null },
  ];
  expect(staleIn(states, null)).toEqual(waiting);
  expect(staleIn(states, 60)).toEqual([
    ...waiting,
    { cluster: 'east', key: 'leases', since: 50, phase: 'WATCHING', error: null },
  ]);
});
