/** Compares the committed files of the chart with the output of `npm run chart`. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { chartFiles, chartFolder } from '../../deploy/chart-source/chart-files.ts';
import { configOptions } from '../../deploy/chart-source/config-values.ts';
import { chartValues } from '../../deploy/chart-source/values.ts';

test.each(chartFiles())('$path is what npm run chart writes', ({ path, text }) => {
  expect(readFileSync(new URL(path, chartFolder), 'utf8')).toBe(text);
});

const valuesText = readFileSync(new URL('values.yaml', chartFolder), 'utf8');

test('values.yaml has the default of each value, and they are valid', () => {
  const written = parse(valuesText) as Readonly<Record<string, unknown>>;
  expect(Object.keys(written)).toEqual(Object.keys(chartValues.shape));
  expect(chartValues.safeParse(written).error).toBeUndefined();
});

test('values.yaml says what each option of portolan serve means', () => {
  for (const { key } of configOptions) expect(valuesText).toMatch(new RegExp(`\\n  # .*\\n  (?:# )?${key}:`));
  expect(valuesText).not.toContain('undefined');
  expect(configOptions.map(({ help }) => help).filter((help) => !valuesText.includes(`# ${help}\n`))).toEqual([]);
});

test('the options that the chart sets itself are no values', () => {
  for (const key of ['port', 'data', 'tlsKey', 'inCluster', 'url']) {
    expect(chartValues.shape.config.safeParse({ [key]: 'x' }).error?.issues).toMatchObject([
      { code: 'unrecognized_keys' },
    ]);
  }
});

/** Parts of manifests are checked by Kubernetes. All other objects name their members. */
test('the schema accepts no unknown value', () => {
  const schema = z.toJSONSchema(chartValues, { io: 'input', target: 'draft-7' });
  const open: string[] = [];
  const visit = (at: string, each: z.core.JSONSchema.JSONSchema): void => {
    if (each.properties === undefined) return;
    if (each.additionalProperties !== false) open.push(at);
    for (const [key, member] of Object.entries(each.properties)) {
      if (typeof member === 'object') visit(`${at}.${key}`, member as z.core.JSONSchema.JSONSchema);
    }
  };
  visit('', schema);
  expect(open).toEqual([]);
});
