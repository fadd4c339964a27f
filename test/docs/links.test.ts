/** The pages: their links lead somewhere, their blocks are whole, and what they name exists. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as parseGraphQL } from 'graphql';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { flagOf, optionTable, variableOf } from '../../src/config/options.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = ['docs', 'docs/walks'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...docs];

/** The page without its blocks of code. */
const prose = (page: string): string => page.replace(/^ *```.*?^ *```$/gms, '');

/** The anchors of the page's headings, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(pages)('%s', (path) => {
  const page = readPage(path);

  test('its links lead to files and headings of the repository', () => {
    const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(readPage(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('its blocks are closed, and JSON, YAML and GraphQL in them can be parsed', () => {
    expect((page.match(/^ *```/gm) ?? []).length % 2).toBe(0);
    for (const text of blocksOf(page, 'json')) {
      const whole = /^["[{]/.test(text) && !text.startsWith('"') ? text : `{${text}}`;
      expect(() => JSON.parse(whole), text).not.toThrow();
    }
    for (const text of blocksOf(page, 'yaml')) {
      expect(
        parseAllDocuments(text).flatMap(({ errors }) => errors),
        text,
      ).toEqual([]);
    }
    // A part of a schema or of a selection is no document.
    for (const text of blocksOf(page, 'graphql').filter((each) => /^(\{|query|subscription)/.test(each))) {
      expect(() => parseGraphQL(text), text).not.toThrow();
    }
  });
});

test('docs/README.md has every page', () => {
  const index = readPage('docs/README.md');
  const names = docs.map((path) => (path.startsWith('docs/walks') ? 'walks' : path.slice('docs/'.length)));
  expect(names.filter((name) => name !== 'README.md' && !index.includes(`](${name})`))).toEqual([]);
});

/** Pages that name options. */
const withOptions = ['configuration', 'errors', 'live', 'clusters', 'troubleshooting', 'operating'].map(
  (name) => `docs/${name}.md`,
);
/** Flags of the commands without an entry in the table, and of npm, kubectl, Node and the benchmarks. */
const otherFlags = new Set([
  'as',
  'as-group',
  'as-uid',
  'as-user-extra',
  'check',
  'config',
  'help',
  'ignore-scripts',
  'namespace',
  'silent',
  'v8-pool-size',
  'max-semi-space-size',
  'memory-saver-mode',
  'max-old-space-size',
  'heap-growing-percent',
  'field-selector',
  'out',
  'version',
]);

test.each(withOptions)('%s names options that exist', (path) => {
  const keys = Object.keys(optionTable);
  const page = readPage(path);
  const flags = [...page.matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)/g)].map(([, flag = '']) => flag);
  const variables = [...page.matchAll(/\bPORTOLAN_[A-Z_]+\b/g)].map(([variable]) => variable);
  expect(flags.length).toBeGreaterThan(0);
  const known = new Set(keys.map((key) => flagOf(key).slice(2)));
  expect(flags.filter((flag) => !known.has(flag) && !otherFlags.has(flag))).toEqual([]);
  const knownVariables = new Set(keys.map((key) => variableOf(key)));
  expect(variables.filter((variable) => !knownVariables.has(variable))).toEqual([]);
});

test('pages name metrics that docs/operating.md lists', () => {
  const named = [...readPage('docs/operating.md').matchAll(/^\| `(portolan_\w+)` \|/gm)].map(([, name]) => name);
  const used = docs.flatMap((path) => [...readPage(path).matchAll(/\bportolan_[a-z_]+\b/g)].map(([name]) => name));
  expect(used.length).toBeGreaterThan(named.length);
  expect([...new Set(used)].filter((name) => !named.includes(name))).toEqual([]);
});
