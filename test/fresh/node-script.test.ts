/** deploy/node.sh finds a Node that can run Portolan, or says in one line what is missing. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mallocVariables } from '../kit/gateway-process.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A Node of this version, which prints its place and its arguments. */
const nodeOf = (version: string): string =>
  `#!/bin/sh\n[ "$1" = --version ] && echo v${version} || echo "${version}" "$@"\n`;
/** As the binary for glibc where there is only musl: the program that must load it does not exist. */
const withoutLoader = '#!/lib64/no-such-loader.so.2\n';

interface Machine {
  /** The text of node_modules/.bin/node. Null: there are packages without it. Undefined: there are no packages. */
  readonly own?: string | null;
  /** The version of the Node on PATH. */
  readonly path?: string;
  /** npm ended before everything was installed. */
  readonly partial?: boolean;
}

function run({ own, path, partial = false }: Machine): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const folder = join(temporaryDirectory('fresh'), 'ein Ordner 日本 папка');
  const program = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  };
  mkdirSync(join(folder, 'bin'), { recursive: true });
  if (own !== undefined) mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  if (own !== undefined && !partial) writeFileSync(join(folder, 'node_modules/.package-lock.json'), '{}');
  if (own != null) program('node_modules/.bin/node', own);
  if (path !== undefined) program('bin/node', nodeOf(path));
  const { status, stdout, stderr } = spawnSync('/bin/sh', [join(root, 'deploy/node.sh'), '--flag', 'a b'], {
    cwd: folder,
    env: { PATH: join(folder, 'bin') },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test.each<[string, Machine, string]>([
  ['that of the packages', { own: nodeOf('24.21.0'), path: '18.20.4' }, '24.21.0'],
  ['that of the packages, although PATH has a newer one', { own: nodeOf('24.21.0'), path: '26.1.0' }, '24.21.0'],
  ['that of PATH, where the packages have none', { own: null, path: '25.0.0' }, '25.0.0'],
  ['that of PATH, where that of the packages cannot run', { own: withoutLoader, path: '24.0.0' }, '24.0.0'],
  ['that of PATH, of any later version', { own: null, path: '100.0.0' }, '100.0.0'],
])('it runs %s', (_, machine, version) => {
  expect(run(machine)).toEqual({ status: 0, stdout: `${version} --flag a b\n`, stderr: '' });
});

/** What it sets of glibc's variables for a program. */
function mallocOf(program: string, given: Readonly<Record<string, string>> = {}): readonly string[] {
  const folder = temporaryDirectory('fresh');
  writeFileSync(join(folder, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v24.21.0 || env\n');
  chmodSync(join(folder, 'node'), 0o755);
  mkdirSync(join(folder, 'node_modules'));
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), '{}');
  const { stdout } = spawnSync('/bin/sh', [join(root, 'deploy/node.sh'), '--flag', program, 'serve'], {
    cwd: folder,
    env: { PATH: `${folder}:/usr/bin:/bin`, ...given },
    encoding: 'utf8',
  });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('MALLOC_'))
    .toSorted();
}

test("it sets glibc's variables for Portolan alone, to the values of the image, and keeps those that are set", () => {
  const own = Object.entries(mallocVariables).map(([name, value]) => `${name}=${value}`);
  expect(own).toHaveLength(2);
  expect(mallocOf('src/portolan.js')).toEqual(own);
  expect(mallocOf('src/portolan.js', { MALLOC_ARENA_MAX: '4' })).toEqual(['MALLOC_ARENA_MAX=4', own[1]]);
  expect(mallocOf('bench/run.ts')).toEqual([]);
  expect(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')).toContain(`\nENV ${own.join(' ')}\n`);
});

test.each<[string, Machine, string]>([
  ['npm ci was not run', { path: '24.0.0' }, 'the packages are not installed, or not all of them; run npm ci.'],
  [
    'npm ci has failed and left a folder behind',
    { own: null, path: '24.0.0', partial: true },
    'the packages are not installed, or not all of them; run npm ci.',
  ],
  [
    'the packages are old',
    { own: nodeOf('22.1.0') },
    'the packages are those of an earlier version of Portolan; run npm ci.',
  ],
  [
    'npm ran no install scripts',
    { own: null, path: '18.20.4' },
    'Node 24 is missing from the packages, and Node v18.20.4 is too old; run npm rebuild node --ignore-scripts=false, or install Node 24 or later.',
  ],
  [
    'there is no Node at all',
    { own: null },
    'Node 24 is missing from the packages, and no other Node was found; run npm rebuild node --ignore-scripts=false, or install Node 24 or later.',
  ],
  [
    'the system has musl, or another processor',
    { own: withoutLoader, path: '22.23.0' },
    'the Node of the packages cannot run on this system, and Node v22.23.0 is too old; install Node 24 or later for this system.',
  ],
])('where %s, one line says so', (_, machine, line) => {
  expect(run(machine)).toEqual({ status: 1, stdout: '', stderr: `portolan: ${line}\n` });
});

test('where the program is started without npm, it says that packages are missing', () => {
  const folder = temporaryDirectory('fresh');
  for (const part of ['sim', 'src']) cpSync(join(root, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const program = [join(folder, 'src/portolan.js'), '--version'];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^portolan: Cannot find package '[^']+'; run npm ci in the repository, or npm install beside a bundle\.\n$/,
  );
});

test('npm ci ends well where the packages for development, which bundle the playground, are left out', () => {
  const folder = temporaryDirectory('fresh');
  for (const part of ['deploy', 'src', 'web']) cpSync(join(root, part), join(folder, part), { recursive: true });
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  mkdirSync(join(folder, 'node_modules'));
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), '{}');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const { status, stdout, stderr } = spawnSync('sh', ['-c', scripts.prepare], { cwd: folder, env, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'portolan: the playground is not bundled; npm run playground does it\n',
    stderr: 'playground: the packages for development are not installed\n',
  });
});

test('every npm script begins with it, so that no flag reaches an older Node', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const others = Object.entries(scripts).filter(
    ([, script]) => !/^(?:exec )?sh deploy\/node\.sh |^npm run --silent codegen && /.test(script),
  );
  expect(others).toEqual([]);
});
