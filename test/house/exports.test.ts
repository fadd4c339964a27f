/** Every export has an importer: what only its own file uses is not exported. The importer may be a test. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** `bench/run.ts` loads a benchmark by its name and reads these. */
const ofBenchmark = new Set(['about', 'run', 'help']);
const isBenchmark = (file: string) => /^bench\/\w+\.ts$/.test(file);

const sources = new Map(
  globSync(['{assembly,bench,deploy,sim,src,test,web}/**/*.{ts,js}', '*.ts'], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|generated)$/.test(path),
  }).map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

/** The names that some other file imports, by file. The dynamic import of a file counts for each name that the importer has a word of. */
function importedNames(): ReadonlyMap<string, ReadonlySet<string>> {
  const imported = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    const take = (target: string, names: Iterable<string>): void => {
      const path = join(dirname(file), target);
      imported.set(path, new Set([...(imported.get(path) ?? []), ...names]));
    };
    for (const [, names = '', target = ''] of text.matchAll(
      /^(?:im|ex)port\b[^;'"]*?\{([^}]*)\}\s*from\s+'(\..*?)'/gm,
    )) {
      take(
        target,
        names.split(',').map((name) => name.trim().replace(/^type\s+|\s+as\s.*$/g, '')),
      );
    }
    const whole = text.matchAll(/^(?:im|ex)port\s[^;'"{]*\*[^;'"{]*from\s+'(\..*?)'|\bimport\('(\..*?)'\)/gm);
    for (const [, target, dynamic] of whole) take(target ?? dynamic ?? '', text.match(/\w+/g) ?? []);
  }
  return imported;
}

const declaration = /^export\s+(?:abstract\s+|async\s+)*(?:function\*?|class|const|let|interface|type|enum)\s+(\w+)/gm;

test('every export has an importer', () => {
  const imported = importedNames();
  const held = [...sources].filter(([file]) =>
    /^(bench|deploy|sim|src|web\/playground)\/.*(?<!\.test|\.d)\.ts$/.test(file),
  );
  const exported = held.flatMap(([file, text]) =>
    [...text.matchAll(declaration)].map(([, name = '']) => ({ file, name })),
  );
  expect(exported.length).toBeGreaterThan(1000);
  const alone = exported.filter(
    ({ file, name }) => !imported.get(file)?.has(name) && !(isBenchmark(file) && ofBenchmark.has(name)),
  );
  expect(alone.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
});
