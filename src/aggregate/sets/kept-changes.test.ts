import { expect, test } from 'vitest';
import { overlapMs as defaultOverlapMs, KeptChanges } from './kept-changes.ts';

interface Change {
  readonly name: string;
  readonly high: bigint;
}

/** The example of the header, with seconds. */
function example() {
  let seconds = 0;
  const kept = new KeptChanges<Change>({ charactersOf: () => 100, now: () => seconds * 1000, overlapMs: 10_000 });
  const at = (second: number, name: string, high: bigint): void => {
    seconds = second;
    kept.add([{ name, high }], high);
  };
  kept.begin(1000n);
  at(20, 'web 1010', 1010n);
  at(24, 'api 1015', 1015n);
  at(25, 'web 1012', 1015n);
  at(50, 'web 1020', 1020n);
  return { kept, at };
}

const namesOf = (changes: readonly Change[] | undefined) => changes?.map(({ name }) => name);

test('from a list: what came after it; from an event: also what came shortly before its version', () => {
  const { kept } = example();
  expect(namesOf(kept.since(1015n)?.changes)).toEqual(['web 1012', 'web 1020']);
  expect(kept.resumed(1015n)).toMatchObject({ whole: false });
  expect(namesOf(kept.resumed(1015n)?.changes)).toEqual(['web 1010', 'api 1015', 'web 1012', 'web 1020']);
  expect(namesOf(kept.resumed(1016n)?.changes)).toEqual(['web 1020']);
  expect(namesOf(kept.since(1020n)?.changes)).toEqual([]);
});

test('a version that this process has not reached: the overlap before now', () => {
  const { kept, at } = example();
  expect(namesOf(kept.resumed(2000n)?.changes)).toEqual(['web 1020']);
  at(70, 'api 1030', 1030n);
  expect(namesOf(kept.resumed(2000n)?.changes)).toEqual(['api 1030']);
  expect(namesOf(kept.since(2000n)?.changes)).toEqual([]);
});

test('after the load every set may have changed; versions before it are gone', () => {
  const { kept } = example();
  expect(kept.resumed(1000n)).toMatchObject({ whole: true, changes: { length: 4 } });
  expect(kept.resumed(1005n)).toMatchObject({ whole: false });
  expect([kept.since(999n), kept.resumed(999n)]).toEqual([null, null]);
});

test('of many changes the oldest are forgotten, and their versions are gone', () => {
  const { kept, at } = example();
  for (let index = 0; index < 10_000; index += 1) at(100 + index, `change ${index}`, 2000n + BigInt(index));
  expect(kept.since(1020n)?.changes).toHaveLength(10_000);
  expect(kept.since(1019n)).toBeNull();
  expect(kept.resumed(1020n)).toMatchObject({ whole: true });
  expect(kept.resumed(2500n)).toMatchObject({ whole: false });
});

test.each([
  { overlapMs: defaultOverlapMs, told: [1010n, 1012n] },
  // Without an overlap, the client never gets 1010.
  { overlapMs: 0, told: [] },
])(
  'a version of another replica, before which a smaller one came late at the other replica: overlap $overlapMs',
  ({ overlapMs, told }) => {
    let now = 0;
    const here = new KeptChanges<{ readonly high: bigint; readonly version: bigint }>({
      charactersOf: () => 100,
      now: () => now,
      overlapMs,
    });
    here.begin(1000n);
    now = 20_000;
    here.add([{ version: 1010n, high: 1010n }], 1010n);
    here.add([{ version: 1012n, high: 1012n }], 1012n);
    now = 21_000;
    here.add([], 1015n);
    expect(here.resumed(1015n)?.changes.map(({ version }) => version)).toEqual(told);
  },
);
