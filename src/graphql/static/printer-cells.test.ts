import { describe, expect, test } from 'vitest';
import { builtInColumns } from '../../catalog/columns/built-in-columns.ts';
import type { PrinterColumn } from '../../catalog/resources/catalog.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { cellsOf } from './printer-cells.ts';

function builtIn(key: string, redacted: readonly string[] = []) {
  const printerColumns = (builtInColumns(key) ?? []).map(
    ({ name, type, priority }): PrinterColumn => ({ name, type, priority, path: null, computed: true }),
  );
  return { key, redacted, printerColumns };
}

function valuesOf(kind: Parameters<typeof cellsOf>[0], body: unknown): Record<string, unknown> {
  return Object.fromEntries(cellsOf(kind, body).map(({ name, value }) => [name, value]));
}

describe('a cell that is computed from withheld values', () => {
  test('is empty: what is not stored is not zero', () => {
    const secret = { metadata: { name: 'a' }, type: 'Opaque' };
    expect(valuesOf(builtIn('secrets', ['data', 'stringData']), secret)).toEqual({
      Name: 'a',
      Type: 'Opaque',
      Data: null,
      Age: null,
    });
    const balanced = { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } };
    const services = builtIn('services', ['status.loadBalancer', 'spec.clusterIPs']);
    expect(valuesOf(services, balanced)).toMatchObject({
      'External-IP': null,
      'Cluster-IP': null,
      'Port(s)': '<none>',
    });
  });

  test('is not empty if another part of what it reads is withheld', () => {
    const pods = builtIn('pods', ['spec.containers[].env', 'metadata.annotations["x"]']);
    expect(valuesOf(pods, { spec: { containers: [{ name: 'a' }] } })).toMatchObject({ Ready: '0/1' });
  });
});

test('integers beyond 2^53 are their digits in every column', () => {
  const body = parseExact('{"spec": {"big": 9007199254740993}}');
  const integer = { name: 'A', type: 'integer', priority: 0 };
  const printerColumns: PrinterColumn[] = [
    { ...integer, path: 'spec.big' },
    { ...integer, name: 'B', path: null, jsonPath: '.spec.big' },
    { ...integer, name: 'C', type: 'string', path: null, jsonPath: '.spec.big' },
  ];
  expect(valuesOf({ key: 'x', redacted: [], printerColumns }, body)).toEqual({
    A: '9007199254740993',
    B: '9007199254740993',
    C: '9007199254740993',
  });
});

test('a column that the table no longer has is empty', () => {
  const printerColumns: PrinterColumn[] = [{ name: 'Gone', type: 'string', priority: 0, path: null, computed: true }];
  expect(valuesOf({ key: 'pods', redacted: [], printerColumns }, {})).toEqual({ Gone: null });
});
