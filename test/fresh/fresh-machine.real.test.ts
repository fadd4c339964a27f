/**
 * Runs README's two commands on a machine that has only npm. It is a minimal Debian without git and without a compiler. The user is an
 * ordinary one, and the path has blanks and letters of other scripts.
 *
 * PORTOLAN_FRESH names the root file system, which test/fresh/debian-root.sh makes. The npm of that Debian installs, and also the newest
 * npm 10 on Node 22 and npm 11 on Node 24. Packages come from the npm registry. It takes two to four minutes.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { data } from '../kit/graphql-client.ts';
import { missingSandbox, runSandboxed, type Sandboxed, sandboxUser } from '../kit/sandbox.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';
import { type MachineNpm, machineNpm, missingRegistry } from './machine-npm.ts';

const rootfs = process.env['PORTOLAN_FRESH'] ?? '';
const missing = rootfs === '' ? 'PORTOLAN_FRESH is not set' : (missingSandbox() ?? missingRegistry());

const source = fileURLToPath(new URL('../..', import.meta.url));
const place = '/home/user/Мои проекты/ポルトラン مشروع/portolan';

/** The packages of the npm registry that a machine has on PATH before Debian's Node and npm. */
const machines: readonly (readonly [string, readonly string[]])[] = [
  ['Node 22 and npm 10', [`node-linux-${process.arch}@22`, 'npm@10']],
  ['Node 24 and npm 11', [`node-linux-${process.arch}@24`, 'npm@11']],
  // The last one: later tests use what it has installed.
  ["Debian's own Node and npm", []],
];

/** Ctrl-C reaches the shell as well. It waits for npm, and then tells which processes are left. */
const thenList = (command: string): string => `
  trap : INT
  ${command}
  code=$?
  for process in /proc/[0-9]*; do echo "left: $(cat $process/comm)"; done
  exit $code`;

describe.skipIf(missing !== null)(`a fresh machine (${missing ?? basename(rootfs)})`, { timeout: 300_000 }, () => {
  let folder: string;
  let home: string;
  let npm: MachineNpm;

  beforeAll(() => {
    folder = sharedDirectory('fresh');
    home = join(folder, 'home');
    mkdirSync(home);
    npm = machineNpm(home, join(folder, 'certificates.pem'));
    for (const each of [home, join(home, '.npmrc')]) chownSync(each, sandboxUser.uid, sandboxUser.gid);
    chmodSync(folder, 0o755);
  });

  /** The files of the repository, as the user's own. */
  function checkOut(): void {
    const target = join(home, relative('/home/user', place));
    rmSync(target, { recursive: true, force: true });
    const left = new Set(['node_modules', '.git', '.cache', 'coverage', 'dist', 'dist-image', 'dist-client']);
    cpSync(source, target, {
      recursive: true,
      filter: (path) => !left.has(basename(path)) && !path.endsWith('test/generated'),
    });
    execFileSync('chown', ['-R', `${sandboxUser.uid}:${sandboxUser.gid}`, home]);
  }

  /** If `frozen` is set, the command cannot change the user's files. */
  function run(command: string, { tools = '', frozen = false } = {}): Promise<Sandboxed> {
    return runSandboxed({
      rootfs,
      command: ['sh', '-c', command],
      folder: place,
      env: { HOME: '/home/user', PATH: `${tools === '' ? '' : '/opt/.bin:'}/usr/local/bin:/usr/bin:/bin`, ...npm.env },
      readable: {
        ...npm.readable,
        ...(tools === '' ? {} : { '/opt': tools }),
        ...(frozen ? { '/home/user': home } : {}),
      },
      writable: frozen ? {} : { '/home/user': home },
    });
  }

  /** Waits for the demo, asks it, and ends it with Ctrl-C. */
  async function askAndEnd(demo: Sandboxed): Promise<void> {
    const [, url = ''] = await demo.line(/^Playground: (\S+)$/);
    // Pods are not there at once.
    const { pods } = await eventually(() => data(url, '{ pods(first: 1) { nodes { kind } } }'));
    expect(pods).toEqual({ nodes: [{ kind: 'Pod' }] });
    demo.kill('SIGINT');
    expect(await demo.ended).toBe(0);
    // Nothing but the demo's log on standard error: no warning of npm, no error, no stack trace.
    expect(demo.err.filter((line) => !line.startsWith('{"level":30,'))).toEqual([]);
    expect(demo.out.filter((line) => line.startsWith('left: '))).toEqual(['left: bwrap', 'left: sh']);
  }

  test.each(machines)("README's two commands, with %s", async (_, packages) => {
    checkOut();
    const prefix = join(folder, packages.join(' '));
    const tools = packages.length === 0 ? '' : join(prefix, 'node_modules');
    if (tools !== '') execFileSync('npm', ['install', '--silent', '--prefix', prefix, ...packages], { cwd: folder });
    const [commands = ''] = blocksOf(readPage('README.md'), 'sh');
    expect(commands.trim()).toBe('npm ci && npm run demo');
    await askAndEnd(await run(thenList(`${commands.trim()} -- --port 0`), { tools }));
  });

  test('the demo runs where neither the repository nor the home folder can be written', async () => {
    await askAndEnd(await run(thenList('npm run demo -- --port 0'), { frozen: true }));
  });

  test('npm test runs, with the native binding that the test runner needs', async () => {
    const tests = await run('npm test -- src/base/text');
    expect([await tests.ended, tests.err]).toEqual([0, []]);
    expect(tests.out.at(-1)).toMatch(/^[1-9]\d* passed, 0 failed, 0 skipped$/);
  });

  test('where npm runs no install scripts, the demo says what to do, and that helps', async () => {
    const lines = async (command: string): Promise<readonly string[]> => {
      const ran = await run(command);
      await ran.ended;
      return [...ran.out, ...ran.err];
    };
    const version = 'npm run --silent portolan -- --version';
    expect(await lines(version)).toEqual(['0.1.0']);
    const ignore = 'export npm_config_ignore_scripts=true';
    await lines(`rm -rf node_modules/node node_modules/.package-lock.json && ${ignore} && npm install --no-save`);
    const [line = ''] = await lines(version);
    expect(line).toMatch(/^portolan: Node 24 is missing from the packages/);
    const [, remedy = ''] = /run (npm rebuild .*?), or/.exec(line) ?? [];
    await lines(`${ignore} && ${remedy}`);
    expect(await lines(version)).toEqual(['0.1.0']);
  });
});
