/**
 * docs/configuration.md has every option of src/config/options.ts, and its example files are valid.
 * `npm test -- test/docs/configuration.test.ts -u` writes the table of options.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { flagOf, optionTable, variableOf } from '../../src/config/options.ts';
import type { OptionDefinition } from '../../src/config/table/option-definition.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';
import { blocksOf, readPage, sectionOf } from '../kit/written-page.ts';

const path = 'docs/configuration.md';
const page = readPage(path);

function rowOf(option: OptionDefinition): string {
  const { key, value, commands, help, live } = option;
  const fallback = option.schema.safeParse(undefined).data;
  const plain = ['string', 'number', 'boolean'].includes(typeof fallback) ? String(fallback) : '';
  const shown = option.shown ?? plain;
  const flag = value === undefined ? flagOf(key) : `${flagOf(key)} <${value}>`;
  const cells = [
    `\`${flag.replaceAll('|', '\\|')}\``,
    `\`${variableOf(key)}\``,
    `\`${key}\``,
    shown === '' ? '' : `\`${shown}\``,
    commands.join(', '),
    live === true ? `${help} (live)` : help,
  ];
  return `| ${cells.join(' | ')} |`;
}

test('the page has the table of options', async () => {
  const table = [
    '| flag | variable | key | default | commands | meaning |',
    '|---|---|---|---|---|---|',
    ...Object.values(optionTable as Record<string, OptionDefinition>).map(rowOf),
  ].join('\n');
  const section = sectionOf(page, 'All options');
  expect(section).toContain('| flag |');
  const written = page.replace(section, () => section.replace(/^\|.*\|$(?:\n\|.*\|$)*/m, () => table));
  await expect(written).toMatchFileSnapshot(`../../${path}`);
});

test('the example files are valid', () => {
  const folder = sharedDirectory('configuration');
  const files = blocksOf(page, 'yaml');
  expect(files.length).toBeGreaterThan(1);
  for (const text of files) {
    const file = join(folder, 'portolan.yaml');
    writeFileSync(file, text);
    const config = loadConfig({ flags: {}, environment: {}, file }) as unknown as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(parse(text) as object)) expect(config[key]).toBeDefined();
  }
});

test('the order of the sources is the one of the example', () => {
  const folder = sharedDirectory('configuration-order');
  const file = join(folder, 'portolan.yaml');
  writeFileSync(file, 'port: 4003\n');
  const environment = { PORTOLAN_PORT: '4002' };
  expect(loadConfig({ flags: { port: '4001' }, environment, file }).port).toBe(4001);
  expect(loadConfig({ flags: {}, environment, file }).port).toBe(4002);
  expect(loadConfig({ flags: {}, environment: {}, file }).port).toBe(4003);
});
