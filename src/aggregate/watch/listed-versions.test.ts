import { expect, test } from 'vitest';
import { ListedVersions } from './listed-versions.ts';

test('a note is of one caller, one scope and one version, for one watch within a minute', () => {
  let now = 0;
  const listed = new ListedVersions(() => now);
  const scope = { caller: 'jane', namespace: 'shop', query: new URLSearchParams('labelSelector=a&limit=5') };
  const watch = { ...scope, query: new URLSearchParams('watch=1&labelSelector=a') };
  listed.note(scope, 10n);
  for (const other of [
    { ...watch, caller: 'joe' },
    { ...watch, namespace: null },
    { ...watch, query: new URLSearchParams('watch=1') },
  ]) {
    expect(listed.take(other, 10n)).toBe(false);
  }
  expect(listed.take(watch, 11n)).toBe(false);
  expect([listed.take(watch, 10n), listed.take(watch, 10n)]).toEqual([true, false]);
  listed.note(scope, 10n);
  now = 60_000;
  expect(listed.take(watch, 10n)).toBe(false);
});

test('long selectors do not hold memory: the oldest notes go', () => {
  const listed = new ListedVersions(() => 0);
  const scopeOf = (index: number) => {
    const query = new URLSearchParams(`labelSelector=a in (${'x,'.repeat(50_000)}${index})`);
    return { caller: 'jane', namespace: null, query };
  };
  for (let index = 0; index < 100; index += 1) listed.note(scopeOf(index), 10n);
  const kept = Array.from({ length: 100 }, (_, index) => listed.take(scopeOf(index), 10n));
  expect(kept.filter((each) => each).length).toBeLessThanOrEqual(40);
  expect(kept.at(-1)).toBe(true);
});
