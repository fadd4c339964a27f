/** A short run of each fuzzer (test/fuzz/). `npm run fuzz` runs them longer. */
import { expect, test } from 'vitest';
import { randomRuns } from '../kit/random-runs.ts';
import * as bytes from './bytes.ts';
import * as documents from './documents.ts';
import type { Fuzzer } from './fuzz.ts';
import * as query from './query.ts';
import * as relations from './relations.ts';

test.each<[string, Fuzzer, number]>([
  ['query', query, randomRuns(500, 2000)],
  ['documents', documents, randomRuns(200, 500)],
  ['bytes', bytes, 5000],
  ['relations', relations, randomRuns(300, 1000)],
])('%s', { timeout: 600_000 }, async (_name, fuzzer, cases) => {
  const { asked, failures } = await fuzzer.fuzz({ from: 0, cases, seed: 1, progress: () => {} });
  expect(failures).toEqual([]);
  expect(asked).toBe(cases);
});
