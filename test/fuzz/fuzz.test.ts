/** A short run of each fuzzer (test/fuzz/). `npm run fuzz` runs them longer. */
import { expect, test } from 'vitest';
import * as bytes from './bytes.ts';
import * as documents from './documents.ts';
import type { Fuzzer } from './fuzz.ts';
import * as query from './query.ts';
import * as relations from './relations.ts';

test.each<[string, Fuzzer, number]>([
  ['query', query, 2000],
  ['documents', documents, 500],
  ['bytes', bytes, 5000],
  ['relations', relations, 1000],
])('%s', { timeout: 600_000 }, async (_name, fuzzer, cases) => {
  const { asked, failures } = await fuzzer.fuzz({ from: 0, cases, seed: 1, progress: () => {} });
  expect(failures).toEqual([]);
  expect(asked).toBe(cases);
});
