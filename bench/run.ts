/**
 * `npm run bench -- NAME [arguments]`: runs one benchmark of this directory; without a name, lists them.
 *
 * A benchmark is a file NAME.ts that exports `about` (one sentence with its options), `run(args)`, and `help` where a sentence is too
 * short. It prints a table for people and one line of JSON for machines. It stops by itself, and sets the exit code when a number is
 * missed.
 */
import { readdirSync } from 'node:fs';

interface Benchmark {
  readonly about: string;
  readonly help?: string;
  run(args: readonly string[]): Promise<void>;
}

const names = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -3))
  // `engine.child.ts` and the like are parts of a benchmark.
  .filter((name) => !name.includes('.'))
  .sort();

async function load(name: string): Promise<Benchmark> {
  return (await import(new URL(`./${name}.ts`, import.meta.url).href)) as Benchmark;
}

async function list(): Promise<void> {
  process.stdout.write('Usage: npm run bench -- NAME\n\n');
  for (const name of names) process.stdout.write(`  ${name.padEnd(16)} ${(await load(name)).about}\n`);
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined || name === '--help' || name === '-h') {
  await list();
} else if (names.includes(name)) {
  const { about, help, run } = await load(name);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help ?? `npm run bench -- ${name}: ${about}\n`);
  } else await run(args);
} else {
  process.stderr.write(`There is no benchmark ${JSON.stringify(name)}; choose one of: ${names.join(', ')}.\n`);
  process.exitCode = 2;
}
