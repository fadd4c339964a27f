import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

test('removes the folder with its content, once', () => {
  const listeners = process.listenerCount('exit');
  const folder = temporaryFolder('portolan-test-');
  writeFileSync(join(folder.path, 'file'), '');
  folder.remove();
  expect(existsSync(folder.path)).toBe(false);
  folder.remove();
  expect(process.listenerCount('exit')).toBe(listeners);
});

test('a folder that was not removed is removed when the process exits', () => {
  const module = new URL('./temporary-folder.ts', import.meta.url).href;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { existsSync, writeFileSync } from 'node:fs';
      const { temporaryFolder } = await import(${JSON.stringify(module)});
      const { path } = temporaryFolder('portolan-test-');
      writeFileSync(path + '/file', '');
      process.stdout.write(JSON.stringify([path, existsSync(path)]));
      process.exit(3);`,
    ],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([3, '']);
  const [path, existed] = JSON.parse(stdout) as [string, boolean];
  expect([existed, existsSync(path)]).toEqual([true, false]);
});
