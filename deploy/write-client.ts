/**
 * `@portolan/client`: the npm package for applications. It is `web/client` without its tests, and the license. No file of it imports
 * a package at run time, so the package has no dependencies.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortolanError } from '../src/base/errors.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'web', 'client');

export const clientPackage = '@portolan/client';

/** Writes the package into `out`. An earlier one there is replaced. @throws PortolanError CONFIGURATION where something else is. */
export function writeClient(out: string): void {
  if (existsSync(out) && readdirSync(out).length > 0 && !isClient(join(out, 'package.json'))) {
    throw new PortolanError('CONFIGURATION', `${out} holds something else; name a folder that is empty or not there.`);
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  cpSync(source, out, { recursive: true, filter: (path) => !path.endsWith('.test-d.ts') });
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
}

function isClient(manifestPath: string): boolean {
  return existsSync(manifestPath) && JSON.parse(readFileSync(manifestPath, 'utf8')).name === clientPackage;
}
