/** Writes values.yaml, values.schema.json and the table of values from the values of the chart. */
import { stringify } from 'yaml';
import { z } from 'zod';
import type { OptionDefinition } from '../../src/config/table/option-definition.ts';
import { configDefaults, configOptions } from './config-values.ts';
import { chartValues } from './values.ts';

/** The members of a JSON Schema that the files use. */
interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schema = z.toJSONSchema(chartValues, { io: 'input', target: 'draft-7' }) as Schema;

export function schemaText(): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Each value with its meaning above it. */
export function valuesText(): string {
  return `# The values of the chart, written by npm run chart.\n${membersText(schema, '')}`;
}

function membersText({ properties = {} }: Schema, indent: string): string {
  return Object.entries(properties)
    .map(([key, value]) => {
      const above = indent === '' ? '\n' : '';
      return `${above}${indent}# ${value.description}\n${memberText(key, value, indent)}`;
    })
    .join('');
}

function memberText(key: string, value: Schema, indent: string): string {
  if (key === 'config' && indent === '') return `${key}:\n${configText()}`;
  if (value.properties !== undefined) return `${indent}${key}:\n${membersText(value, `${indent}  `)}`;
  return `${stringify({ [key]: value.default }, { lineWidth: 0, singleQuote: true }).replace(/^(?=.)/gm, indent)}`;
}

/** Options with a value of the chart, and the others as comments with the defaults of portolan serve. */
function configText(): string {
  const own: Readonly<Record<string, unknown>> = configDefaults;
  return configOptions
    .map((option) => {
      const { key, help } = option;
      const line = key in own ? `${key}: ${JSON.stringify(own[key])}` : `# ${key}: ${defaultOf(option)}`.trimEnd();
      return `  # ${help}\n  ${line}\n`;
    })
    .join('');
}

function defaultOf({ schema: option, shown }: OptionDefinition): string {
  if (shown !== undefined) return shown;
  const value = option.safeParse(undefined).data;
  return value === undefined ? '' : JSON.stringify(value);
}

/** One row for each value; the options of `config` are in docs/configuration.md. */
export function valuesTable(): string {
  return ['| value | default | meaning |', '|---|---|---|', ...rowsOf(schema, '')].join('\n');
}

function rowsOf({ properties = {} }: Schema, prefix: string): readonly string[] {
  return Object.entries(properties).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const shown = name === 'config' ? configDefaults : value.default;
    const row = `| \`${name}\` | ${shown === undefined ? '' : `\`${JSON.stringify(shown)}\``} | ${value.description} |`;
    const isLeaf = value.properties === undefined || name === 'config';
    return isLeaf ? [row] : [row, ...rowsOf(value, `${name}.`)];
  });
}
