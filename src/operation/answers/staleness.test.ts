import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { allRows, noRows, unrestricted } from '../../access/scope.ts';
import { idleStatus, type ResourceProgress } from '../../store/types/progress.ts';
import { Staleness } from './staleness.ts';

const full = { phase: 'PARKED', error: 'full' } as const;
const pods = { cluster: 'west', key: 'pods', since: 20, ...full };
const nodes = { cluster: 'west', key: 'nodes', since: 10, ...full };

test('an answer lists what it read, and nothing of which its caller sees no object', () => {
  const staleness = new Staleness(new ManualClock());
  staleness.set([pods, nodes]);
  expect(staleness.of((key) => key === 'pods', unrestricted)).toEqual([pods]);
  expect(staleness.of(() => true, null)).toEqual([pods, nodes]);
  const scopes = { id: 'pods alone', of: (key: string) => (key === 'pods' ? allRows : noRows) };
  expect(staleness.of(() => true, scopes)).toEqual([pods]);
});

test('the version changes with the resources, so that no answer is kept beyond that', () => {
  const staleness = new Staleness(new ManualClock());
  const before = staleness.version;
  staleness.set([]);
  expect(staleness.version).toBe(before);
  staleness.set([pods]);
  const with1 = staleness.version;
  expect(with1).not.toBe(before);
  staleness.set([{ ...pods }]);
  expect(staleness.version).toBe(with1);
});

test('the oldest of some kinds in a cluster', () => {
  const staleness = new Staleness(new ManualClock());
  staleness.set([pods, nodes, { ...nodes, cluster: 'east', since: 1 }]);
  expect(staleness.since('west', ['pods', 'nodes', 'jobs'])).toBe(10);
  expect(staleness.since('west', ['jobs'])).toBeNull();
  // The watch is open, and its cluster cannot be read.
  const jobs = { ...pods, key: 'jobs', phase: 'WATCHING', error: null } as const;
  staleness.set([jobs]);
  expect(staleness.since('west', ['jobs'])).toBeNull();
  staleness.set([{ ...jobs, phase: 'STOPPED' }]);
  expect(staleness.since('west', ['jobs'])).toBe(20);
});

test('a stored state is shown as ingest says', () => {
  const stored = (key: string): ResourceProgress => ({
    cluster: 'west',
    key,
    lastResourceVersion: '1',
    synced: true,
    objects: 1,
    status: { ...idleStatus, phase: 'WATCHING', lastEventAt: 5 },
    collections: [],
  });
  const staleness = new Staleness(new ManualClock());
  const states = [stored('pods'), stored('jobs')];
  expect(staleness.shownIn(states)).toBe(states);
  staleness.set([pods]);
  expect(staleness.shownIn(states)).toEqual([
    { ...states[0], status: { ...idleStatus, phase: 'PARKED', error: 'full', staleSince: 20, lastEventAt: 5 } },
    states[1],
  ]);
});

test('a resource counts for a moment after its end, because the events that it missed are on their way', () => {
  const clock = new ManualClock();
  const staleness = new Staleness(clock);
  const read = () => staleness.of(() => true, unrestricted);
  staleness.set([pods, nodes]);
  staleness.set([nodes]);
  expect(read()).toEqual([nodes, pods]);
  clock.advance(999);
  staleness.set([{ ...nodes, error: 'another' }]);
  expect(read()).toEqual([{ ...nodes, error: 'another' }, pods]);
  clock.advance(1);
  expect(read()).toEqual([{ ...nodes, error: 'another' }]);
  staleness.set([]);
  staleness.set([nodes]);
  expect(read()).toEqual([nodes]);
  expect(staleness.since('west', ['pods'])).toBeNull();
});
