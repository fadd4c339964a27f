/** The manifests that `--filename` names: files, folders and standard input. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { readSmallFile } from '../../base/read-small-file.ts';

export interface ManifestFile {
  /** As a message names it. */
  readonly name: string;
  /** YAML or JSON. */
  readonly text: string;
}

/** The files of a folder that are manifests, as for kubectl. */
const isManifest = /\.(?:yaml|yml|json)$/;

/**
 * The texts, in the order of the names; those of a folder by their names.
 * @param isRecursive also the folders in a folder.
 * @throws PortolanError CONFIGURATION for a name that cannot be read, and for a folder without manifests.
 */
export async function manifestFiles(
  names: readonly string[],
  isRecursive: boolean,
  input: NodeJS.ReadableStream,
): Promise<readonly ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const name of names) {
    if (name === '-') files.push({ name: 'standard input', text: await text(input) });
    else files.push(...namedFiles(name, isRecursive));
  }
  return files;
}

function namedFiles(name: string, isRecursive: boolean): readonly ManifestFile[] {
  try {
    if (!statSync(name).isDirectory()) return [fileOf(name)];
    const found = readdirSync(name, { recursive: isRecursive, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && isManifest.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
    if (found.length > 0) return found.map(fileOf);
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `--filename ${name} cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
  throw new PortolanError(
    'CONFIGURATION',
    `The folder ${name} has no file that ends with .yaml, .yml or .json${isRecursive ? '' : '; --recursive looks into its folders too'}.`,
  );
}

function fileOf(path: string): ManifestFile {
  return { name: path, text: readSmallFile(path).toString('utf8') };
}
