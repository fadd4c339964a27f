/** package-lock.json has what every npm from 9 to 12 needs. npm itself drops it whenever it writes the file. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { completeLock, type Lock, type Manifest } from '../../deploy/complete-lock.ts';

const text = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8');
const manifest = JSON.parse(text('package.json')) as Manifest;
const lock = text('package-lock.json');
const { packages } = JSON.parse(lock) as Lock;

const as = (entries: Lock['packages']): string => JSON.stringify({ lockfileVersion: 3, packages: entries });

test('the lock is complete; after a change, run npm run lock', () => {
  expect(lock === completeLock(lock, manifest), 'npm has rewritten package-lock.json; run npm run lock').toBe(true);
});

test('engines are removed, and forbidden scripts are hidden from an npm that does not know allowScripts', () => {
  const written = as({
    '': { version: '1.0.0', hasInstallScript: true },
    'node_modules/a': { version: '1.0.0', engines: { node: '>=99' }, hasInstallScript: true },
    'node_modules/a/node_modules/@b/c': { version: '1.0.0', hasInstallScript: true },
    'node_modules/c': { version: '1.0.0', hasInstallScript: true },
  });
  const completed = completeLock(written, { allowScripts: { a: true, '@b/c': false } });
  expect(JSON.parse(completed)).toEqual({
    lockfileVersion: 3,
    packages: {
      '': { version: '1.0.0', hasInstallScript: true },
      'node_modules/a': { version: '1.0.0', hasInstallScript: true },
      'node_modules/a/node_modules/@b/c': { version: '1.0.0', gypfile: false },
      'node_modules/c': { version: '1.0.0', hasInstallScript: true },
    },
  });
  expect(completeLock(completed, { allowScripts: { a: true, '@b/c': false } })).toBe(completed);
});

test('each package with an install script is named in allowScripts', () => {
  const scripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  expect(scripts.map(([path]) => path)).toEqual(['node_modules/node']);
  expect(manifest.allowScripts).toMatchObject({ node: true });
});

test('it is written by npm 11 or later, which records the C library of each binary', () => {
  const musl = Object.entries(packages).filter(([path]) => path.endsWith('-musl'));
  expect(musl.length).toBeGreaterThan(0);
  expect(musl.filter(([, { libc }]) => JSON.stringify(libc) !== '["musl"]').map(([path]) => path)).toEqual([]);
});

test('no platform is lost: each optional dependency is locked, of whatever system it is', () => {
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies as object),
  );
  expect(optional).toContain('@rolldown/binding-linux-x64-musl');
  expect(
    optional.filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))),
  ).toEqual([]);
});
