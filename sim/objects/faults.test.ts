import { expect, onTestFinished, test } from 'vitest';
import { hideVersions, revealVersion } from '../http/opaque-versions.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';
import { Faults } from './faults.ts';

async function cluster(): Promise<SimCluster> {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  return sim;
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

test('a fault strikes whom it is meant for, as often as it is told, and is counted', () => {
  const faults = new Faults();
  faults.set({ F5: { resource: 'pods', times: 2 }, F30: { group: 'apps' } });
  expect(faults.take('F5', 'nodes')).toBeUndefined();
  expect([faults.take('F5', 'pods'), faults.take('F5', 'pods'), faults.take('F5', 'pods')].map(Boolean)).toEqual([
    true,
    true,
    false,
  ]);
  expect(faults.struck('F5')).toBe(2);
  expect(faults.take('F30', undefined)).toEqual({ group: 'apps' });
  expect(faults.active).toBe(true);
  faults.clear('F30');
  expect(faults.active).toBe(false);
  expect(faults.struck('F30')).toBe(1);
});

test('a fault that has struck for the last time leaves the server as it was', async () => {
  const sim = await cluster();
  sim.faults.set({ F29: { resource: 'configmaps', times: 1 } });
  const first = await fetch(`${sim.url}/api/v1/configmaps`);
  expect([first.status, await first.json()]).toMatchObject([500, { kind: 'Status', reason: 'InternalError' }]);
  expect((await fetch(`${sim.url}/api/v1/configmaps`)).status).toBe(200);
});

test('a backup that is restored brings back objects and revision, and forgets what came between', async () => {
  const sim = await cluster();
  sim.create(configMap('before'));
  const backup = sim.save();
  sim.create(configMap('after'));
  sim.patch(`${configMaps}/before`, { data: { changed: 'yes' } });
  sim.restore(backup);
  expect(sim.list(configMaps).map((object) => object['metadata'])).toMatchObject([{ name: 'before' }]);
  const response = await fetch(`${sim.url}${configMaps}?limit=1`);
  expect(await response.json()).toMatchObject({ metadata: { resourceVersion: String(backup.revision) } });
  const old = await fetch(`${sim.url}${configMaps}?watch=true&resourceVersion=1`);
  expect(await old.text()).toContain('"code":410');
});

test('a watch from a version that is not reached yet is accepted and silent, bookmarks too', async () => {
  const sim = await startSimCluster({ features: { bookmarkMs: 5 } });
  onTestFinished(() => sim.close());
  const query = 'watch=true&resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=1';
  const answer = await fetch(`${sim.url}${configMaps}?${query}`);
  sim.create(configMap('early'));
  expect([answer.status, await answer.text()]).toEqual([200, '']);
});

test('hidden versions look like numbers, have no order, and can be read back', () => {
  const hidden = hideVersions('{"resourceVersion":"120","other":"120"}');
  expect(hidden).toBe('{"resourceVersion":"0021","other":"120"}');
  expect(revealVersion('0021')).toBe('120');
  expect([revealVersion('0'), revealVersion('120')]).toEqual(['0', '120']);
});
