/** The shipped health rules against states of well-known operators, which were written from their documentation and types. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { groupOf } from '../../src/catalog/groups/api-group.ts';
import { healthOf } from '../../src/catalog/health/health.ts';
import type { HealthStatus } from '../../src/catalog/health/health-status.ts';
import { checkedHealthRules, healthRulesOf, readHealthRules } from '../../src/catalog/health/read-health-rules.ts';

interface OperatorKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly states: readonly {
    readonly name: string;
    readonly object: Readonly<Record<string, unknown>>;
    readonly status: HealthStatus;
    readonly reason: string | null;
    readonly message: string | null;
  }[];
}

const yamlOf = (file: string): unknown => parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
const shipped = readHealthRules(yamlOf('../../schema/health-rules.yaml'), 'SHIPPED');
const kinds = yamlOf('operator-states.yaml') as readonly OperatorKind[];

test('a start reads the rules of the file: `npm run health-rules` writes them', () => {
  const text = readFileSync(new URL('../../schema/generated/health-rules.json', import.meta.url), 'utf8');
  expect(checkedHealthRules(text)).toEqual(shipped);
});

test('every shipped rule can be used, and at least 40 kinds have ten states each', () => {
  expect(shipped.problems).toEqual([]);
  expect(kinds.filter(({ states }) => states.length >= 10).length).toBeGreaterThanOrEqual(40);
});

describe.each(kinds)('$kind of $apiVersion', ({ kind, apiVersion, states }) => {
  const rules = healthRulesOf([shipped], { group: groupOf(apiVersion), kind });
  test.each(states)('$name', ({ object, status, reason, message }) => {
    const { source, ...found } = healthOf({ apiVersion, kind, ...object }, rules);
    expect(found).toEqual({ status, reason, message });
    expect(source).not.toBe('INVALID');
  });
});
