import { describe, expect, test } from 'vitest';
import { parsePath } from '../tree/path.ts';
import { ageColumn, builtInColumns, builtInSelected, nameColumn } from './printer-columns.ts';

const known = [
  'pods',
  'deployments.apps',
  'nodes',
  'services',
  'namespaces',
  'events',
  'jobs.batch',
  'ingresses.networking.k8s.io',
  'persistentvolumes',
  'customresourcedefinitions.apiextensions.k8s.io',
];

describe('builtInColumns', () => {
  test.each(known)('of %s has columns that can be read', (key) => {
    const columns = builtInColumns(key) ?? [];
    expect(columns.length).toBeGreaterThan(1);
    for (const { name, type, path, priority } of columns) {
      expect(name).toMatch(/^[A-Z][A-Za-z()]*([ -][A-Za-z()]+)*$/);
      expect(['string', 'integer', 'boolean', 'date']).toContain(type);
      expect([0, 1]).toContain(priority);
      if (path !== null) expect(parsePath(path).text).toBe(path);
    }
    for (const path of builtInSelected(key)) expect(parsePath(path).text).toBe(path);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
  });

  test('shows pods as kubectl does, as far as paths go', () => {
    const columns = builtInColumns('pods') ?? [];
    expect(columns.map(({ name, path, priority }) => [name, path, priority])).toEqual([
      ['Ready', 'status.conditions[type=Ready].status', 0],
      ['Status', 'status.phase', 0],
      ['Restarts', 'sum(status.containerStatuses[].restartCount)', 0],
      ['Age', 'metadata.creationTimestamp', 0],
      ['IP', 'status.podIP', 1],
      ['Node', 'spec.nodeName', 1],
      ['Nominated Node', 'status.nominatedNodeName', 1],
    ]);
    expect(columns).toContain(ageColumn);
  });

  test('knows nothing of other kinds', () => {
    for (const key of ['foos.a.io', 'constructor', '__proto__']) {
      expect(builtInColumns(key)).toBeNull();
      expect(builtInSelected(key)).toEqual([]);
    }
    expect(nameColumn.path).toBe('metadata.name');
  });
});
