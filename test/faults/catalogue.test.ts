import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { catalogue } from './catalogue.ts';
import { printCatalogue } from './print-catalogue.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const faults = fileURLToPath(new URL('.', import.meta.url));

/** The names of tests in a file, as they are written there. */
function namesIn(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  // A name is the first text behind `test(`, `it(` or the closing parenthesis of a table of cases.
  return [...source.matchAll(/(?:\b(?:test|it)\(|\)\(\s*)\s*(['`])((?:[^'`\\\n]|\\.)+)\1\s*,/g)].map(
    ([, , name]) => name ?? '',
  );
}

test('every fault stands in the catalogue, once, in order, with a test or the reason why there is none', () => {
  expect(catalogue.map(({ number }) => number)).toEqual(Array.from({ length: 55 }, (_, index) => index + 1));
  const silent = catalogue.filter(({ tests, note }) => tests.length === 0 && note === undefined);
  expect(silent).toEqual([]);
});

test('every test that the catalogue names is in its file', () => {
  const missing = catalogue.flatMap(({ tests }) => tests).filter(({ file, name }) => !namesIn(file).includes(name));
  expect(missing).toEqual([]);
});

test('every test of this folder that has a number stands in the catalogue', () => {
  const known = new Set(catalogue.flatMap(({ tests }) => tests.map(({ name }) => name)));
  const files = readdirSync(faults).filter((file) => file.endsWith('.test.ts') && file !== 'catalogue.test.ts');
  const named = files.flatMap((file) => namesIn(`test/faults/${file}`)).filter((name) => /^(F\d+|%s): /.test(name));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('docs/faults.md is what the catalogue prints', async () => {
  await expect(printCatalogue()).toMatchFileSnapshot('../../docs/faults.md');
});
