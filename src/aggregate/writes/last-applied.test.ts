import { expect, test } from 'vitest';
import { keptLastApplied } from './last-applied.ts';

const known: Readonly<Record<string, readonly string[]>> = {
  '/ConfigMap': [],
  '/Secret': ['data'],
  'x.io/Box': ['spec.key'],
};
const kinds = {
  kindOf: (group: string, kind: string) => {
    const redacted = known[`${group}/${kind}`];
    return redacted === undefined ? undefined : ({ redacted } as never);
  },
};
const textOf = (...flowList: readonly object[]): string =>
  `${JSON.stringify({ apiVersion: 'g/v1', kind: 'ShadowResource', spec: { flowList } })}\n`;
const entriesOf = (text: string | null): unknown => JSON.parse(text ?? 'null').spec.flowList;
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'x' } };

test('a text without a redacted value is kept as it came', () => {
  const text = `{ "spec": {"flowList": [${JSON.stringify(config)}]} }`;
  expect(keptLastApplied(text, kinds)).toBe(text);
  expect(keptLastApplied(null, kinds)).toBeNull();
});

test('data of Secrets, redacted paths and unknown kinds are taken out', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type: 'Opaque' };
  const box = { apiVersion: 'x.io/v1', kind: 'Box', metadata: { name: 'b' } };
  const other = { apiVersion: 'y.io/v1', kind: 'Other', metadata: { name: 'o' } };
  const kept = keptLastApplied(
    textOf(
      config,
      { ...secret, data: { a: 'eA==' }, stringData: { b: 'y' } },
      { ...box, spec: { key: 'k', size: 1 } },
      { ...other, spec: { any: 1 } },
    ),
    kinds,
  );
  expect(entriesOf(kept)).toEqual([config, secret, { ...box, spec: { size: 1 } }, other]);
});

test('a text that is no set is not kept', () => {
  for (const text of ['', 'no JSON', '[]', '{"spec":1}']) expect(keptLastApplied(text, kinds)).toBeNull();
});
