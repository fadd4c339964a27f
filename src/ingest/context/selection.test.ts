import { expect, test } from 'vitest';
import { selects, unmatchedNames } from './selection.ts';

const pods = { group: '', plural: 'pods', kind: 'Pod', shortNames: ['po'], categories: ['all'] };
const leases = { group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease' };
const events = { group: '', plural: 'events', kind: 'Event' };
const foreignEvents = { group: 'example.com', plural: 'events', kind: 'Event' };
const widgets = {
  group: 'shop.example.com',
  plural: 'widgets',
  kind: 'Widget',
  shortNames: ['wi'],
  categories: ['all'],
};

test('everything but leases, unless they are named', () => {
  expect([pods, events, widgets, leases].map((each) => selects(each, {}))).toEqual([true, true, true, false]);
  expect(selects(leases, { include: ['*'] })).toBe(false);
  for (const name of ['leases', 'Lease', 'leases.coordination.k8s.io', '*.coordination.k8s.io']) {
    expect(selects(leases, { include: [name] })).toBe(true);
  }
});

test.each([
  ['pods', [pods]],
  ['POD', [pods]],
  ['widgets', [widgets]],
  ['widgets.shop.example.com', [widgets]],
  ['Widget', [widgets]],
  ['*.example.com', [foreignEvents, widgets]],
  ['*s', [pods, events, foreignEvents, widgets, leases]],
  ['events', [events, foreignEvents]],
  ['events.', [events]],
  ['event*.example.com', [foreignEvents]],
  ['pod', [pods]],
  ['po.s', []],
  ['po', [pods]],
  ['WI', [widgets]],
  ['all', [pods, widgets]],
  ['al*', []],
])('%s means what it says', (pattern, expected) => {
  const all = [pods, events, foreignEvents, widgets, leases];
  expect(all.filter((each) => selects(each, { include: [pattern] }))).toEqual(expected);
});

test('what is excluded is out, whatever includes it', () => {
  expect(selects(pods, { include: ['pods'], exclude: ['po*'] })).toBe(false);
  expect(selects(events, { exclude: ['pods'] })).toBe(true);
  expect([pods, events, widgets].map((each) => selects(each, { exclude: ['all'] }))).toEqual([false, true, false]);
});

test('names that select nothing, with a similar name', () => {
  expect(unmatchedNames([pods, events, widgets], { include: ['po', 'all', 'evnts', 'wii', 'zzzz'] })).toEqual([
    { name: 'evnts', similar: 'events' },
    { name: 'wii', similar: 'wi' },
    { name: 'zzzz', similar: null },
  ]);
});

test('sets for kubectl are never ingested, in whatever group Portolan serves them', () => {
  const served = { group: 'apis.abc.com', plural: 'shadowresources', kind: 'ShadowResource' };
  for (const include of [[], ['*'], ['ShadowResource'], ['shadowresources.apis.abc.com']])
    expect(selects(served, { include })).toBe(false);
  expect(selects({ ...served, plural: 'shadows' }, {})).toBe(true);
  expect(selects({ ...served, kind: 'Shadow' }, {})).toBe(true);
});
