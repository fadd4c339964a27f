/**
 * `node deploy/image/write-files.ts --out DIR --debian DIR`: the files of the image beside its base and Node. deploy/Dockerfile runs it.
 *
 *   OUT/                               the bundle (deploy/bundle.ts)
 *   OUT/node_modules/better-sqlite3/   its modules, and its binary for this processor
 *   OUT/portolan.yaml                  a link to /etc/portolan/portolan.yaml: a file that is mounted there needs no --config
 *   OUT/sbom.cdx.json, OUT/LICENSE
 */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf, PortolanError } from '../../src/base/errors.ts';
import { writeBundle } from '../bundle.ts';
import { sbom } from './sbom.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

try {
  const { values } = parseArgs({ options: { out: { type: 'string' }, debian: { type: 'string' } } });
  const { out, debian } = values;
  if (out === undefined || debian === undefined) throw new PortolanError('CONFIGURATION', 'Pass --out and --debian.');
  const { packages } = await writeBundle(resolve(out));
  copyAddon(out);
  symlinkSync('/etc/portolan/portolan.yaml', join(out, 'portolan.yaml'));
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  const document = sbom({ packages, node: process.execPath, debian });
  writeFileSync(join(out, 'sbom.cdx.json'), `${JSON.stringify(document, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`image: ${messageOf(error)}\n`);
  process.exitCode = 1;
}

/** The sources of SQLite and the binaries for other platforms stay behind. */
function copyAddon(out: string): void {
  const folder = join('node_modules', 'better-sqlite3');
  mkdirSync(join(out, folder, 'prebuilds'), { recursive: true });
  for (const part of ['package.json', 'LICENSE', 'lib', join('prebuilds', `linux-${process.arch}.node`)]) {
    cpSync(join(root, folder, part), join(out, folder, part), { recursive: true });
  }
}
