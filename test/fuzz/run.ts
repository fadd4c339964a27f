/**
 * `npm run fuzz -- NAME [--cases N] [--seed S] [--from NUMBER]`: plays a fuzzer of this directory; without a name, lists them.
 *
 * Prints how many cases were played and how fast. A case that fails is printed with the command that plays it alone, and sets the
 * exit code. Cases follow from the seed and their numbers, so a long run may be cut into several with --from.
 */
import { parseArgs } from 'node:util';
import * as bytes from './bytes.ts';
import * as documents from './documents.ts';
import type { Fuzzer, FuzzOptions } from './fuzz.ts';
import * as query from './query.ts';
import * as relations from './relations.ts';

const fuzzers: Readonly<Record<string, Fuzzer>> = { query, documents, bytes, relations };
const progressMs = 10_000;
const mostShown = 10;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function play(name: string, fuzzer: Fuzzer, options: Omit<FuzzOptions, 'progress'>): Promise<void> {
  const { seed, cases, from } = options;
  const began = performance.now();
  let told = began;
  const perSecond = (asked: number): string => (asked / ((performance.now() - began) / 1000)).toFixed(0);
  print(`${name}: ${cases} cases from case ${from}, seed ${seed}`);
  const { asked, failures, about } = await fuzzer.fuzz({
    ...options,
    progress(soFar, failed) {
      if (performance.now() - told < progressMs) return;
      told = performance.now();
      print(`  ${soFar} of ${cases}, ${perSecond(soFar)} a second, ${failed} failed`);
    },
  });
  for (const { number, what } of failures.slice(0, mostShown)) {
    const alone = `npm run fuzz -- ${name} --seed ${seed} --from ${number} --cases 1`;
    print(`case ${number} of seed ${seed} failed; play it alone: ${alone}\n${what}\n`);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  print(
    `${name}: ${asked} cases in ${seconds} s (${perSecond(asked)} a second) on ${about}, ${failures.length} failed`,
  );
  if (failures.length > 0) process.exitCode = 1;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: 'string' }, seed: { type: 'string' }, from: { type: 'string' } },
});
const [name = ''] = positionals;
const fuzzer = Object.hasOwn(fuzzers, name) ? fuzzers[name] : undefined;
if (fuzzer === undefined) {
  print('Usage: npm run fuzz -- NAME [--cases N] [--seed S] [--from NUMBER]\n');
  for (const [each, { about, defaultCases }] of Object.entries(fuzzers)) {
    print(`  ${each.padEnd(12)} ${about} ${defaultCases} cases.`);
  }
  if (name !== '') process.exitCode = 2;
} else {
  await play(name, fuzzer, {
    cases: Number(values.cases ?? fuzzer.defaultCases),
    seed: Number(values.seed ?? Date.now() % 1_000_000),
    from: Number(values.from ?? 0),
  });
}
