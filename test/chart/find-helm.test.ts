/** Where tests and `npm run chart` find helm. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findHelm } from '../../deploy/chart-source/find-helm.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const folder = sharedDirectory('find-helm');
const cache = join(folder, 'cache');
const nowhere = { PATH: folder, GOPATH: folder };

function program(name: string, line: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('HELM names it', async () => {
  const path = program('other-helm', 'exit');
  expect(await findHelm({ HELM: path, PATH: folder }, cache)).toEqual({ path });
  const reason = `HELM names no file: ${folder}/none.`;
  expect(await findHelm({ HELM: join(folder, 'none') }, cache)).toEqual({ path: null, reason });
});

test('without helm and without a new Go, the reason says what to do', async () => {
  expect(await findHelm(nowhere, cache)).toMatchObject({
    reason: 'There is no helm and no Go. Put helm on PATH, or install Go 1.26, which builds it.',
  });
  program('go', 'echo go version go1.22.1 linux/amd64');
  expect(await findHelm(nowhere, cache)).toMatchObject({
    reason: expect.stringMatching(/^There is no helm, and Go is 1\.22\./),
  });
});

test('Go builds it once', async () => {
  const install = `echo built >> ${join(folder, 'builds')}; echo > "$GOBIN/helm"`;
  program('go', `if [ "$1" = version ]; then echo go version go1.26.8; else ${install}; fi`);
  const path = join(cache, 'helm');
  expect(await Promise.all([findHelm(nowhere, cache), findHelm(nowhere, cache)])).toEqual([{ path }, { path }]);
  program('go', 'exit 1');
  expect(await findHelm(nowhere, cache)).toEqual({ path });
});

test('a build that fails says why', async () => {
  program('go', 'if [ "$1" = version ]; then echo go version go1.26.8; else echo no network >&2; exit 1; fi');
  expect(await findHelm(nowhere, join(folder, 'empty'))).toMatchObject({
    reason: expect.stringContaining('could not be built with Go: Command failed'),
  });
});

test('helm on PATH comes first', async () => {
  const path = program('helm', 'exit');
  expect(await findHelm(nowhere, cache)).toEqual({ path });
});
