import { expect, test } from 'vitest';
import { type ClusterProgress, sumProgress } from './progress.ts';

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
