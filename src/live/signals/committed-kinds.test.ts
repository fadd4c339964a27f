import { expect, test } from 'vitest';
import type { CommittedChanges } from '../../store/types/change.ts';
import { CommittedKinds } from './committed-kinds.ts';

const pods = 1;
const events = 2;
const nodes = 3;

function commit(after: number, revision: number, ...kindIds: number[]): CommittedChanges {
  return { epoch: 'e', after, revision, kindIds };
}

function after(...signals: readonly (CommittedChanges | undefined)[]): CommittedKinds {
  const committed = new CommittedKinds();
  for (const signal of signals) committed.note(signal);
  return committed;
}

test('a kind is unchanged from where it was read up to the newest signal, unless a signal in between names it', () => {
  const committed = after(commit(10, 12, pods), commit(12, 15, events));
  expect(committed.unchangedUntil(nodes, 'e', 10)).toBe(15);
  expect(committed.unchangedUntil(nodes, 'e', 11)).toBe(15);
  expect(committed.unchangedUntil(pods, 'e', 12)).toBe(15);
  expect(committed.unchangedUntil(pods, 'e', 11)).toBeNull();
  expect(committed.unchangedUntil(events, 'e', 14)).toBeNull();
  expect(committed.unchangedUntil(events, 'e', 15)).toBe(15);
});

test('one who has read beyond the newest signal stays where he is', () => {
  expect(after(commit(10, 12, pods)).unchangedUntil(pods, 'e', 20)).toBe(20);
});

test('nothing is known of what no signal covers', () => {
  expect(after().unchangedUntil(pods, 'e', 10)).toBeNull();
  expect(after(commit(10, 12, pods)).unchangedUntil(nodes, 'e', 9)).toBeNull();
  const missed = after(commit(10, 12, pods), commit(13, 15, events));
  expect(missed.unchangedUntil(nodes, 'e', 12)).toBeNull();
  expect(missed.unchangedUntil(nodes, 'e', 13)).toBe(15);
});

test('signals may be repeated and may overlap', () => {
  const committed = after(commit(10, 12, pods), commit(10, 12, pods), commit(11, 14, pods, events), commit(14, 14));
  expect(committed.unchangedUntil(nodes, 'e', 10)).toBe(14);
  expect(committed.unchangedUntil(pods, 'e', 12)).toBeNull();
  expect(after(commit(10, 14, pods), commit(10, 12, pods)).unchangedUntil(pods, 'e', 13)).toBeNull();
});

test('a wake without a signal voids what is known, until the next signal', () => {
  const committed = after(commit(10, 12, pods), undefined);
  expect(committed.unchangedUntil(nodes, 'e', 12)).toBeNull();
  committed.note(commit(14, 15, pods));
  expect(committed.unchangedUntil(nodes, 'e', 12)).toBeNull();
  expect(committed.unchangedUntil(nodes, 'e', 14)).toBe(15);
});

test('another epoch has nothing to do with the one before', () => {
  const committed = after(commit(10, 12, pods), { ...commit(0, 3, events), epoch: 'f' });
  expect(committed.unchangedUntil(nodes, 'e', 12)).toBeNull();
  expect(committed.unchangedUntil(pods, 'f', 0)).toBe(3);
  expect(committed.unchangedUntil(events, 'f', 0)).toBeNull();
});
