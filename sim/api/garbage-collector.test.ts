import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asString, at, type JsonObject } from '../objects/json.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';

let cluster: SimCluster;
beforeEach(async () => {
  cluster = await startSimCluster();
});
afterEach(() => cluster.close());

const maps = (namespace = 'default'): string => `/api/v1/namespaces/${namespace}/configmaps`;
const names = (namespace = 'default'): unknown[] =>
  cluster.list(maps(namespace)).map((item) => at(item, 'metadata', 'name'));
const own = (owner: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: asString(at(owner, 'metadata', 'name')),
  uid: asString(at(owner, 'metadata', 'uid')),
  ...more,
});
const make = (name: string, owners: JsonObject[] = [], namespace = 'default'): JsonObject =>
  cluster.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ...(owners.length > 0 ? { ownerReferences: owners } : {}) },
  });
/** The collector works in a microtask after the write. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('garbage collection', () => {
  test('removes dependents and theirs when an owner goes', async () => {
    const owner = make('owner');
    const child = make('child', [own(owner)]);
    make('grandchild', [own(child)]);
    make('stranger');
    cluster.delete(`${maps()}/owner`);
    await settled();
    expect(names()).toEqual(['stranger']);
  });

  test('keeps what has another owner and drops the dangling reference', async () => {
    const one = make('one');
    const two = make('two');
    make('shared', [own(one), own(two)]);
    cluster.delete(`${maps()}/one`);
    await settled();
    expect(at(cluster.get(`${maps()}/shared`), 'metadata', 'ownerReferences')).toEqual([own(two)]);
  });

  test('removes what is created for an owner that is gone', async () => {
    make('late', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'no-such-uid' }]);
    await settled();
    expect(names()).toEqual([]);
  });

  test('orphans on request', async () => {
    const owner = make('owner');
    make('child', [own(owner)]);
    cluster.delete(`${maps()}/owner`, { propagationPolicy: 'Orphan' });
    await settled();
    expect(names()).toEqual(['child']);
    expect(at(cluster.get(`${maps()}/child`), 'metadata', 'ownerReferences')).toBeUndefined();
  });

  test('deletes in the foreground: the owner goes last', async () => {
    const owner = make('owner');
    make('child', [own(owner, { blockOwnerDeletion: true })]);
    cluster.patch(`${maps()}/child`, { metadata: { finalizers: ['example.com/wait'] } });
    const { gone } = cluster.delete(`${maps()}/owner`, { propagationPolicy: 'Foreground' });
    expect(gone).toBe(false);
    await settled();
    expect(names()).toEqual(['child', 'owner']);
    expect(at(cluster.get(`${maps()}/owner`), 'metadata', 'finalizers')).toEqual(['foregroundDeletion']);
    expect(at(cluster.get(`${maps()}/child`), 'metadata', 'finalizers')).toEqual(['example.com/wait']);
    cluster.patch(`${maps()}/child`, { metadata: { finalizers: null } });
    await settled();
    expect(names()).toEqual([]);
  });
});

describe('namespaces', () => {
  test('are emptied before they go, and take nothing new meanwhile', async () => {
    cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'doomed' } });
    expect(at(cluster.get('/api/v1/namespaces/doomed'), 'status', 'phase')).toBe('Active');
    make('a', [], 'doomed');
    make('held', [], 'doomed');
    cluster.patch(`${maps('doomed')}/held`, { metadata: { finalizers: ['example.com/wait'] } });
    cluster.delete('/api/v1/namespaces/doomed');
    await settled();
    expect(at(cluster.get('/api/v1/namespaces/doomed'), 'status', 'phase')).toBe('Terminating');
    expect(names('doomed')).toEqual(['held']);
    expect(() => make('late', [], 'doomed')).toThrow(expect.objectContaining({ httpCode: 403, reason: 'Forbidden' }));
    cluster.patch(`${maps('doomed')}/held`, { metadata: { finalizers: null } });
    await settled();
    expect(cluster.get('/api/v1/namespaces/doomed')).toBeUndefined();
    expect(() => make('late', [], 'doomed')).toThrow(expect.objectContaining({ httpCode: 404 }));
  });
});
