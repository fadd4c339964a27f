/** The command line of deploy/image.sh, before it builds anything. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../deploy/image.sh', import.meta.url));
const run = (...args: readonly string[]) => spawnSync('bash', [script, ...args], { encoding: 'utf8' });

test('--help names every option', () => {
  const { status, stdout } = run('--help');
  expect(status).toBe(0);
  const [, cases = ''] = /^ {2}(--base.*)\)$/m.exec(readFileSync(script, 'utf8')) ?? [];
  const options = ['--help', ...cases.split(' | ')];
  expect(options.length).toBeGreaterThan(5);
  expect(options.filter((option) => !stdout.includes(`\n  ${option} `))).toEqual([]);
});

test('what it does not know ends it with a sentence', () => {
  expect(run('--bose', 'offline')).toMatchObject({
    status: 1,
    stderr: 'image: unknown argument --bose; see deploy/image.sh --help.\n',
  });
  expect(run('--base')).toMatchObject({
    status: 1,
    stderr: 'image: --base needs a value; see deploy/image.sh --help.\n',
  });
});
