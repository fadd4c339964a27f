/** The compile cache of the image: two runs write the same bytes, and a process without the flag of these runs takes them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeBundle } from '../../deploy/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** As in deploy/Dockerfile. */
const flags = [
  ...['--v8-pool-size=1', '--max-semi-space-size=16', '--predictable'],
  ...['--import', join(root, 'deploy', 'image', 'compile-cache.ts')],
];

let folder: string;
let entry: string;
let cache: string;
const { NODE_COMPILE_CACHE: _, ...env } = process.env;

beforeAll(async () => {
  // Inside the project, so that the bundle finds the one package that it does not contain.
  const parent = join(root, 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  folder = mkdtempSync(join(parent, 'compile-cache-test-'));
  await writeBundle(join(folder, 'out'));
  entry = join(folder, 'out', 'src', 'portolan.js');
  cache = join(folder, 'out', 'node_modules', '.cache', 'portolan');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function contents(path: string): ReadonlyMap<string, string> {
  const names = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names
      .map(({ parentPath, name }): [string, string] => [name, readFileSync(join(parentPath, name), 'base64')])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

test('two runs write the same files', { timeout: 60_000 }, () => {
  const first = `${cache}-first`;
  execFileSync(process.execPath, [...flags, entry, '--version'], { env });
  renameSync(cache, first);
  execFileSync(process.execPath, [...flags, entry, '--version'], { env });
  const [a, b] = [contents(first), contents(cache)];
  // Each thread has a module of its own, and the packages of the gateway are in others.
  expect(a.size).toBeGreaterThan(50);
  expect([...b.keys()]).toEqual([...a.keys()]);
  expect([...b].filter(([name, bytes]) => a.get(name) !== bytes).map(([name]) => name)).toEqual([]);
});

test('a process with the flags of the image takes them', () => {
  const { stderr } = spawnSync(process.execPath, [...flags.slice(0, 3), entry, 'serve', '--help'], {
    env: { ...env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    encoding: 'utf8',
  });
  const taken = stderr.split('\n').filter((line) => line.includes('was accepted'));
  expect(taken.some((line) => line.includes('bundle/main.js'))).toBe(true);
});
