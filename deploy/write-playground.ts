/**
 * Writes the parts of the playground's page into web/playground/dist, which is not committed: each part, each with its Brotli form beside it
 * if it is a text, and manifest.json. The folder is replaced as a whole, and only if the sources or the lock have changed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { PlaygroundManifest } from '../src/server/playground/parts.ts';
import { compilePlayground } from './compile-playground.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The folder, from the project's. */
export const playgroundFolder = join('web', 'playground', 'dist');

interface WrittenPlayground extends PlaygroundManifest {
  /** A hash of the sources and of the lock. */
  readonly key: string;
  /** `name@version` of each package in the parts, sorted. */
  readonly packages: readonly string[];
}

export async function writePlayground(): Promise<WrittenPlayground> {
  const key = keyOfInputs();
  const earlier = readWritten();
  if (earlier?.key === key) return earlier;
  const { parts, packages } = await compilePlayground();
  const manifest: WrittenPlayground = { key, parts: [...parts.keys()], packages };
  const folder = join(root, playgroundFolder);
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  try {
    await Promise.all(
      [...parts].map(async ([name, body]) => {
        writeFileSync(join(made, name), body);
        // The default quality is the best, 11. Fonts of the types woff and woff2 are compressed already.
        if (!/\.woff2?$/.test(name)) writeFileSync(join(made, `${name}.br`), await promisify(brotliCompress)(body));
      }),
    );
    writeFileSync(join(made, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return manifest;
}

function readWritten(): WrittenPlayground | null {
  try {
    return JSON.parse(readFileSync(join(root, playgroundFolder, 'manifest.json'), 'utf8')) as WrittenPlayground;
  } catch {
    return null;
  }
}

function keyOfInputs(): string {
  const sources = ['', 'panels', 'parts'].flatMap((folder) =>
    readdirSync(join(root, 'web', 'playground', folder), { withFileTypes: true }).filter((entry) => entry.isFile()),
  );
  const files = [
    ...sources.map(({ parentPath, name }) => relative(root, join(parentPath, name))),
    ...['bundled-packages.ts', 'compile-playground.ts', 'write-playground.ts'].map((name) => join('deploy', name)),
    'package-lock.json',
  ];
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(JSON.stringify([file, readFileSync(join(root, file), 'utf8')]));
  return hash.digest('hex');
}
