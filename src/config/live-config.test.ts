import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/kit/temporary-directory.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { LiveConfig } from './live-config.ts';
import { readConfig } from './load-config.ts';

interface Setup {
  readonly live: LiveConfig;
  readonly logged: string[];
  /** Replaces the file's text as Kubernetes updates a ConfigMap: the symbolic link above the file leads elsewhere. */
  write(text: string): Promise<void>;
}

/**
 * @param late the text of a file that changes after it was read, and before the configuration is live
 * @param isFound nobody names the file
 */
function setUp(
  text: string,
  flags: Readonly<Record<string, unknown>> = {},
  { late, isFound = false }: { readonly late?: string; readonly isFound?: boolean } = {},
): Setup {
  const folder = temporaryDirectory('config');
  let version = 0;
  const put = (next: string): void => {
    version += 1;
    writeFileSync(join(folder, `v${version}.yaml`), next);
    symlinkSync(`v${version}.yaml`, join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'portolan.yaml'));
  };
  put(text);
  const logged: string[] = [];
  const note = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note };
  const before = process.cwd();
  if (isFound) {
    process.chdir(folder);
    onTestFinished(() => process.chdir(before));
  }
  const source = isFound ? { mayFind: true } : { file: join(folder, 'portolan.yaml') };
  const loaded = readConfig({ flags, environment: {}, ...source });
  if (late !== undefined) put(late);
  const live = new LiveConfig(loaded, log);
  return {
    live,
    logged,
    async write(next) {
      put(next);
      // Two equal reads are awaited.
      for (let look = 0; look < 2; look += 1) await live.look();
    },
  };
}

test('a live option has its new value, and another one that of the start', async () => {
  const { live, logged, write } = setUp('maxCost: 1000\nreaders: 2\n');
  const { config } = live;
  expect(config).toMatchObject({ maxCost: 1000, readers: 2 });
  await write('maxCost: 2000\nreaders: 5\n');
  expect(config).toMatchObject({ maxCost: 2000, readers: 2 });
  expect(live.waiting).toEqual(['--readers']);
  expect(logged.join('\n')).toContain('these changed options are used after a restart {"options":["--readers"]}');
  await write('maxCost: 2000\nreaders: 2\n');
  expect(live.waiting).toEqual([]);
});

test('the file is read once at the start, and a change since then is noticed', async () => {
  const { live } = setUp('maxCost: 1000\nreaders: 2\n', {}, { late: 'maxCost: 2000\nreaders: 5\n' });
  expect(live.config).toMatchObject({ maxCost: 1000, readers: 2 });
  for (let look = 0; look < 2; look += 1) await live.look();
  expect(live.config).toMatchObject({ maxCost: 2000, readers: 2 });
  expect(live.waiting).toEqual(['--readers']);
});

test('a removed option has its default again', async () => {
  const { live, write } = setUp('maxCost: 1000\n');
  await write('');
  expect(live.config.maxCost).toBe(500_000);
});

test.each([
  ['no YAML', 'maxCost: [', 'is not YAML'],
  ['an unknown key', 'maxCosts: 5', 'has the key maxCosts'],
  ['a value that is none', 'maxCost: many', 'must be a whole number'],
])('a file with %s leaves everything as it was', async (_what, text, problem) => {
  const { live, logged, write } = setUp('maxCost: 1000\n');
  await write(text);
  expect(live.config.maxCost).toBe(1000);
  expect(live.isRefused).toBe(true);
  expect(logged.join('\n')).toContain(problem);
  await write('maxCost: 3000\n');
  expect(live.config.maxCost).toBe(3000);
  expect(live.isRefused).toBe(false);
});

test('a flag comes before the file, also later', async () => {
  const { live, write } = setUp('maxCost: 1000\n', { maxCost: '700' });
  await write('maxCost: 2000\n');
  expect(live.config.maxCost).toBe(700);
});

test('a file that nobody named stays within its bounds, also later', async () => {
  const { live, logged, write } = setUp('maxCost: 1000\n', {}, { isFound: true });
  await write('maxCost: 2000\nallowOrigin: https://evil.example\n');
  expect([live.config.maxCost, live.isRefused]).toEqual([1000, true]);
  expect(logged.join('\n')).toContain('allowOrigin in portolan.yaml lets pages of other machines ask');
  await write('maxCost: 2000\nallowOrigin: http://localhost:5173\n');
  expect([live.config.maxCost, live.config.allowOrigin]).toEqual([2000, ['http://localhost:5173']]);
});
