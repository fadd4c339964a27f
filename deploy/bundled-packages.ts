/** The packages whose modules are in a bundle. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The beginning of a module's path: the folder of its package, which may lie in another package's node_modules. */
const packageFolder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;

/** `name@version` of each package, sorted. @param paths modules and files, each below the folder of its package or of no package. */
export function bundledPackages(paths: Iterable<string>): readonly string[] {
  const folders = new Set([...paths].flatMap((path) => packageFolder.exec(path) ?? []));
  return [...new Set([...folders].map(nameAndVersion))].sort();
}

function nameAndVersion(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name}@${version}`;
}
