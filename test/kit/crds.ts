/**
 * Real CustomResourceDefinitions for tests.
 *
 * PORTOLAN_CRDS names their folder; without it the tests that need them are skipped. Archives (`*.tar.xz`) in it are unpacked. Parsing
 * so much YAML is slow, so the result is cached in the system's temporary folder, under a name that depends on the sources.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export interface LoadedCrd {
  /** The source file, relative to the folder; all CRDs of an archive have the archive's name. */
  readonly source: string;
  readonly crd: unknown;
}

const wanted = process.env['PORTOLAN_CRDS'] ?? '';

/** The folder; null when PORTOLAN_CRDS names none. */
export const crdFolder: string | null = wanted !== '' && existsSync(wanted) ? resolve(wanted) : null;

/** Every CustomResourceDefinition below the folder, in the order of file names. */
export function loadCrds(): readonly LoadedCrd[] {
  if (crdFolder === null) return [];
  const sources = filesIn(crdFolder).filter((file) => /\.(ya?ml|json|tar\.xz)$/.test(file));
  const stamp = sources.map((file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`).join('\n');
  const kept = join(
    tmpdir(),
    `portolan-crd-list-${createHash('sha256').update(stamp).digest('hex').slice(0, 16)}.json`,
  );
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8')) as LoadedCrd[];
  const crds = sources.flatMap((source) =>
    read(source).map((crd) => ({ source: relative(crdFolder ?? '', source), crd })),
  );
  // Written to another name and renamed, so that a concurrent run never reads a partial file.
  const aside = `${kept}.${process.pid}`;
  writeFileSync(aside, JSON.stringify(crds));
  renameSync(aside, kept);
  return crds;
}

function read(file: string): unknown[] {
  if (!file.endsWith('.tar.xz')) {
    return parseAllDocuments(readFileSync(file, 'utf8'))
      .map((document): unknown => ('toJS' in document ? document.toJS() : null))
      .filter(isCrd);
  }
  const unpacked = mkdtempSync(join(tmpdir(), 'portolan-crds-'));
  try {
    execFileSync('tar', ['-xJf', file, '-C', unpacked]);
    return filesIn(unpacked)
      .filter((each) => /\.ya?ml$/.test(each))
      .flatMap(read);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function isCrd(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'CustomResourceDefinition';
}
