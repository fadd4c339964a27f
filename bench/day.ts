/**
 * Memory and file of the demo over a compressed day, in a process with the options of `npm run demo` (bench/day.child.ts). Subscribers in
 * another process read all that they get (bench/day.subscribers.ts).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { must } from '../src/base/must.ts';

export const about = 'memory and file of the demo with subscribers over a compressed day; --help tells its options';

export const help = `Usage: npm run bench -- day [options]

  --hours N        hours of the world (24)
  --speed N        seconds of the world in a second (60): 24 hours take 24 minutes
  --pods N         Pods of the world (2000)
  --every N        minutes of the world between two lines (120)
  --subscribers N  live queries and subscriptions, half of each (0)

Memory in an hour of changes as of a small cluster: --hours 1 --speed 1 --every 10 --subscribers 50
`;

export async function run(args: readonly string[]): Promise<void> {
  const { environment, options } = demoScript();
  const program = fileURLToPath(new URL('./day.child.ts', import.meta.url));
  // The flag and the compile cache are those of src/portolan.js. Without compiled code, each thread loads the parser of TypeScript.
  const compiled = fileURLToPath(new URL('../node_modules/.cache/portolan', import.meta.url));
  const child = spawn(process.execPath, ['--no-wasm-code-gc', ...options, program, ...args], {
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...environment },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

/** The environment and the options of Node in the npm script `demo`. */
function demoScript(): { readonly environment: Record<string, string>; readonly options: readonly string[] } {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const [, before = '', options = ''] = must(
    /^((?:[A-Z_]+=\S+ )*)exec sh deploy\/node\.sh ((?:--\S+ )*)src\/portolan\.js demo$/.exec(scripts['demo'] ?? '') ??
      undefined,
    'the npm script demo has this form',
  );
  const assignments = before
    .trim()
    .split(' ')
    .filter((each) => each !== '');
  return {
    environment: Object.fromEntries(assignments.map((each) => each.split('=') as [string, string])),
    options: options.trim().split(' '),
  };
}
