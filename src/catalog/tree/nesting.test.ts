import { expect, test } from 'vitest';
import { mostLevels, mostYamlLevels, requireShallow } from './nesting.ts';

const lists = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const objects = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test.each([
  ['lists', lists],
  ['objects', objects],
])('%s may nest as deep as the limit', (_what, make) => {
  expect(() => requireShallow(make(mostLevels))).not.toThrow();
  expect(() => requireShallow(make(mostLevels + 1))).toThrow(/deeper than 1000 levels, the most that are shown; /);
  expect(() => requireShallow([1, { b: make(9000) }])).toThrow(expect.objectContaining({ code: 'QUERY_TOO_COSTLY' }));
  expect(() => requireShallow(make(mostYamlLevels + 1), mostYamlLevels)).toThrow(/300 levels, the most .* as YAML/);
});

test.each([null, undefined, 1, 'text', true])('%s is no container', (value) => {
  expect(() => requireShallow(value)).not.toThrow();
});
