/** Where tests and `npm run chart` find helm. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findHelm } from '../../deploy/chart-source/find-helm.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const folder = sharedDirectory('find-helm');
const cache = join(folder, 'cache');
const nowhere = { PATH: folder, GOPATH: folder };
/** Instead of /usr/local/go/bin. */
const goFolder = join(folder, 'go-folder');
const find = (environment: NodeJS.ProcessEnv, into = cache) => findHelm(environment, into, goFolder);

function program(name: string, line: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('HELM names it', async () => {
  const path = program('other-helm', 'exit');
  expect(await find({ HELM: path, PATH: folder }, cache)).toEqual({ path });
  const reason = `HELM names no file: ${folder}/none.`;
  expect(await find({ HELM: join(folder, 'none') }, cache)).toEqual({ path: null, reason });
});

test('without helm and without a new Go, the reason says what to do', async () => {
  expect(await find(nowhere, cache)).toMatchObject({
    reason: 'There is no helm and no Go. Put helm on PATH, or install Go 1.26, which builds it.',
  });
  program('go', 'echo go version go1.22.1 linux/amd64');
  expect(await find(nowhere, cache)).toMatchObject({
    reason: expect.stringMatching(/^There is no helm, and the newest Go is 1\.22 \(\S+\/go\)\./),
  });
});

test('Go builds it once', async () => {
  const install = `echo built >> ${join(folder, 'builds')}; echo > "$GOBIN/helm"`;
  program('go', `if [ "$1" = version ]; then echo go version go1.26.8; else ${install}; fi`);
  const path = join(cache, 'helm');
  expect(await Promise.all([find(nowhere, cache), find(nowhere, cache)])).toEqual([{ path }, { path }]);
  program('go', 'exit 1');
  expect(await find(nowhere, cache)).toEqual({ path });
});

test.each(['other', 'go-folder'])('an older Go that comes first is passed over for the one in %s', async (place) => {
  const newer = join(folder, place);
  mkdirSync(newer, { recursive: true });
  program('go', 'echo go version go1.19.8 linux/amd64');
  program(join(place, 'go'), 'if [ "$1" = version ]; then echo go version go1.26.8; else echo > "$GOBIN/helm"; fi');
  const PATH = place === 'other' ? `${folder}:${newer}` : folder;
  const into = join(folder, `cache-${place}`);
  expect(await find({ ...nowhere, PATH }, into)).toEqual({ path: join(into, 'helm') });
  rmSync(newer, { recursive: true });
});

test('a build that fails says why', async () => {
  program('go', 'if [ "$1" = version ]; then echo go version go1.26.8; else echo no network >&2; exit 1; fi');
  expect(await find(nowhere, join(folder, 'empty'))).toMatchObject({
    reason: expect.stringContaining('could not be built with Go: Command failed'),
  });
});

test('helm on PATH comes first', async () => {
  const path = program('helm', 'exit');
  expect(await find(nowhere, cache)).toEqual({ path });
});
